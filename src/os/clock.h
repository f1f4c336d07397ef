// Clock tells the time. Tests and the simulator bring their own.
#pragma once

#include "base/time.h"

namespace ty {
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() = 0;
};
class SystemClock final : public Clock {
 public:
  Time Now() override;
};
}  // namespace ty
