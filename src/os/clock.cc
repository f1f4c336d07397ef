#include "os/clock.h"

#include <cstdlib>
#include <optional>

#include "posix/clocks.h"

namespace ty {
namespace {

// Smaller than this is how exactly two clocks can be compared, and how gently they are kept right.
constexpr int64_t kSame_ns = 20'000'000;
constexpr int64_t kClose_ns = 1'000'000;

// Where zero of the boot clock is on the wall; empty when we were interrupted between the two looks.
std::optional<int64_t> StartOfBoot() {
  const int64_t before = BootNanos(), wall = WallNanos(), after = BootNanos();
  if (after - before > kClose_ns) return std::nullopt;
  return wall - before;
}

}  // namespace

SystemClock::SystemClock() : start_(StartOfBoot().value_or(WallNanos() - BootNanos())) {}

Time SystemClock::Now() {
  return FromNanos(start_ + BootNanos());
}

Duration SystemClock::Ahead() {
  if (const auto start = StartOfBoot()) {
    const Duration ahead(*start - start_);
    if (std::abs((ahead - ahead_).count()) > kSame_ns) ahead_ = ahead;
  }
  return ahead_;
}

}  // namespace ty
