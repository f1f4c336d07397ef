// What the demo must have shown, computed from the yard's events alone (contracts C13). Pure.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ty {

struct DemoFact {
  std::string name;
  bool holds = false;
  std::vector<int64_t> events;  // seq numbers it rests on
};

struct DemoTasks {
  int64_t a = 0, b = 0, c = 0;
};

// `events` in the shape of contracts C4, by seq.
std::vector<DemoFact> ComputeDemoFacts(const boost::json::array& events, const DemoTasks& tasks);

// First and last loss among the progress marks of a task; absent when none was seen.
std::vector<double> LossesOf(const boost::json::array& events, int64_t task);

}  // namespace ty
