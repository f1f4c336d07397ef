#include "cli/begin.h"

#include <time.h>

#include <cstdio>
#include <optional>
#include <string>

#include "base/text.h"
#include "msg/cli.h"

namespace ty {
namespace {

struct Clock {
  int hour = 0, minute = 0, second = 0;
};

std::optional<Clock> ParseClock(const std::string& text) {
  Clock clock;
  int used = 0;
  bool digits = text.find_first_not_of("0123456789:") == std::string::npos;
  if (!digits) return std::nullopt;
  if ((std::sscanf(text.c_str(), "%2d:%2d:%2d%n", &clock.hour, &clock.minute, &clock.second, &used) != 3 ||
       used != static_cast<int>(text.size())) &&
      (clock.second = 0, std::sscanf(text.c_str(), "%2d:%2d%n", &clock.hour, &clock.minute, &used) != 2 ||
                             used != static_cast<int>(text.size())))
    return std::nullopt;
  if (clock.hour > 23 || clock.minute > 59 || clock.second > 59) return std::nullopt;
  return clock;
}

std::optional<Time> Local(int year, int month, int day, Clock clock) {
  tm parts{};
  parts.tm_year = year - 1900;
  parts.tm_mon = month - 1;
  parts.tm_mday = day;
  parts.tm_hour = clock.hour;
  parts.tm_min = clock.minute;
  parts.tm_sec = clock.second;
  parts.tm_isdst = -1;
  time_t seconds_since = mktime(&parts);
  // mktime mends 30 February to 2 March; nobody meant that.
  if (seconds_since == -1 || (parts.tm_mday != day && clock.hour != 24) || parts.tm_mon != month - 1)
    return std::nullopt;
  return Time(seconds(seconds_since));
}

std::optional<Time> LocalDateTime(const std::string& text) {
  int year = 0, month = 0, day = 0, used = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &used) != 3) return std::nullopt;
  std::string rest = text.substr(static_cast<size_t>(used));
  if (rest.empty()) return Local(year, month, day, {});
  if (rest[0] != 'T' && rest[0] != ' ' && rest[0] != 't') return std::nullopt;
  auto clock = ParseClock(rest.substr(1));
  if (!clock) return std::nullopt;
  return Local(year, month, day, *clock);
}

std::optional<Time> NextOf(Clock clock, Time now) {
  time_t today = static_cast<time_t>(ToNanos(now) / 1'000'000'000);
  for (int days = 0; days < 2; ++days) {
    tm parts{};
    localtime_r(&today, &parts);
    parts.tm_mday += days;  // the calendar's day: 23 to 25 hours
    parts.tm_hour = clock.hour;
    parts.tm_min = clock.minute;
    parts.tm_sec = clock.second;
    parts.tm_isdst = -1;
    time_t then = mktime(&parts);
    if (then != -1 && Time(seconds(then)) > now) return Time(seconds(then));
  }
  return std::nullopt;
}

}  // namespace

Result<Time> ParseBegin(std::string_view text, Time now) {
  std::string typed(text);
  std::optional<Time> begin;
  if (!typed.empty() && typed[0] == '+') {
    if (auto delay = ParseDuration(text.substr(1))) begin = now + *delay;
  } else if (auto clock = ParseClock(typed)) {
    begin = NextOf(*clock, now);
  } else if (auto local = LocalDateTime(typed)) {
    begin = local;
  } else {
    begin = ParseIso(text);
  }
  if (!begin) return Invalid(msg::CliBegin{.value = typed}, "/begin");
  return *begin;
}

}  // namespace ty
