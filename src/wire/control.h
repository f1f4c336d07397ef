// What daemon and supervisor say on the control socket: one JSON object a packet, with a format number.
//   {"format":1,"verb":"STOP","reason":"cancelled","signal":15,"grace_ms":60000}
//   {"format":1,"news":"EXITED","record":{…}}
// A verb the supervisor does not know is answered with ERR; news the daemon does not know is passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/slot.h"
#include "wire/spec.h"

namespace ty::wire {

inline constexpr int kControlFormat = 1;

enum class Verb : uint8_t { kUnknown, kPing, kStatus, kStop, kSignal, kFreeze, kThaw, kKill };

struct Order {
  Verb verb = Verb::kUnknown;
  std::string reason;              // STOP: goes into the stop file
  int signal = 15;                 // STOP, SIGNAL
  Target target = Target::kGroup;  // STOP
  int64_t grace_ms = 60'000;       // STOP
  int64_t deadline_ms = 0;         // FREEZE: thaws by itself after it; 0 is not allowed
  bool operator==(const Order&) const = default;
};

enum class NewsKind : uint8_t {
  kUnknown,
  kRefused,     // before GO: nothing ran and nothing will; `error`, `step`
  kStarted,     // the task's program runs; `record`
  kExited,      // the tree is gone; `record`
  kUnkillable,  // KILL was sent, 30 s passed, something is still there
  kFrozen,
  kThawed,
  kState,  // the answer to PING and STATUS; `record`, `frozen`, `unkillable`
  kDone,   // an order was carried out
  kError,  // ERR: an order was not understood; `step` says which
};

struct News {
  NewsKind kind = NewsKind::kUnknown;
  std::optional<SlotRecord> record;
  int error = 0;  // errno
  std::string step;
  bool frozen = false, unkillable = false;
  bool operator==(const News&) const = default;
};

std::string EncodeOrder(const Order& order);
std::optional<Order> DecodeOrder(
    std::string_view packet);  // nothing when it is not even an object with a verb
std::string EncodeNews(const News& news);
std::optional<News> DecodeNews(std::string_view packet);

}  // namespace ty::wire
