// What the demo must have shown, computed from the yard's events alone (contracts C13). Pure.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/message.h"
#include "base/time.h"

namespace ty {

struct DemoFact {
  std::string name;
  bool holds = false;
  std::vector<int64_t> events = {};  // seq numbers it rests on, rising
  Message seen = {};                 // what was seen; always there when it does not hold
  bool measured = false;
  std::optional<double> number = {};  // of a measured one
};

struct DemoTasks {
  int64_t a = 0, b = 0, c = 0;
};

// What is asked of them.
inline constexpr Duration kDemoTogether = seconds(5);          // B and C on one device, at least
inline constexpr int kDemoTurns = 2;                           // freezes with their thaws, each, at least
inline constexpr Duration kDemoBothAwake = milliseconds(500);  // at a stretch, at most
inline constexpr double kDemoRateUp = 1.3;  // C's rate alone over its rate beside B, at least

// `events` in the shape of contracts C4, by seq. The facts:
//   a_exclusive                  no lease but A's on its device within any lease of A, which is whole
//   a_restarted_from_checkpoint  two attempts; the first ended in a data loading error, the second resumed
//   from
//                                the last checkpoint of the first, and its first mark is not behind that
//   b_c_shared                   their leases overlap on one device long enough, and both made progress there
//   b_c_took_turns               within that overlap: each frozen and thawed often enough, never both awake
//   too
//                                long. Awake is from attempt.started to attempt.ended but for frozen to
//                                thawed
//   c_alone_after_b              from B's release to C's, only C is on the device; its lease grew to the
//   whole,
//                                and it made progress
//   c_rate_up_after_b            C's done per second after B's release over that within the overlap. A rate
//   is
//                                taken from the first to the last of the marks that rise
// Progress is at least two marks of which the later has more done.
std::vector<DemoFact> ComputeDemoFacts(const boost::json::array& events, const DemoTasks& tasks);

// The losses among the progress marks of a task, in order.
std::vector<double> LossesOf(const boost::json::array& events, int64_t task);

}  // namespace ty
