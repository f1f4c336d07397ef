// The kernel's clocks in nanoseconds. Wall time may jump; monotonic counts while the machine is awake; boot
// time counts suspends too and is what tells how long something took for people.
#pragma once

#include <time.h>

#include <cstdint>

namespace ty {

inline int64_t ReadClock(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}
inline int64_t WallNanos() {
  return ReadClock(CLOCK_REALTIME);
}
inline int64_t MonotonicNanos() {
  return ReadClock(CLOCK_MONOTONIC);
}
inline int64_t BootNanos() {
  return ReadClock(CLOCK_BOOTTIME);
}

}  // namespace ty
