// Clock tells the time. Tests and the simulator bring their own.
#pragma once

#include "base/time.h"

namespace ty {
class Clock {
 public:
  virtual ~Clock() = default;
  // Goes on evenly, whatever anybody does to the wall clock: what lasts, is due or is overdue is told by it.
  virtual Time Now() = 0;
  // What to add to get what the wall clock shows: zero until somebody sets it.
  virtual Duration Ahead() = 0;
};

// Starts at the wall clock and counts on with the boot clock, suspends included.
class SystemClock final : public Clock {
 public:
  SystemClock();
  Time Now() override;
  Duration Ahead() override;

 private:
  int64_t start_;  // of the boot clock, on the wall
  Duration ahead_{};
};
}  // namespace ty
