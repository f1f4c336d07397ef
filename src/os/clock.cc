#include "os/clock.h"

namespace ty {

Time SystemClock::Now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace ty
