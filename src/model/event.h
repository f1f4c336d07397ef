// Event is a committed fact with a number (contracts C4). Kinds are fixed; `data` is a JSON object as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"

namespace ty {

struct Event {
  int64_t seq = 0;
  Time at;
  std::string kind;  // "attempt.started"
  std::optional<TaskId> task;
  int attempt = 0;  // 0: not about an attempt
  std::string data = "{}";
  bool operator==(const Event&) const = default;
};

std::string ToJsonLine(const Event& event);  // one line, no newline

}  // namespace ty
