// Time is a point on the wall clock, Duration a length; both count nanoseconds.
// Pure rooms get `now` as an argument; only os/Clock reads a clock.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace ty {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

inline int64_t ToMillis(Duration d) {
  return std::chrono::duration_cast<milliseconds>(d).count();
}
inline int64_t ToNanos(Time t) {
  return t.time_since_epoch().count();
}
inline Time FromNanos(int64_t ns) {
  return Time(Duration(ns));
}

// "2026-11-30T09:12:27.123Z"
std::string FormatIso(Time t);
std::optional<Time> ParseIso(std::string_view text);

// "90m", "1h30m", "45s", "250ms", "2d", "1-12:00:00" (days-hours:minutes:seconds, as Slurm), "02:30:00", "90"
// (seconds).
std::optional<Duration> ParseDuration(std::string_view text);

}  // namespace ty
