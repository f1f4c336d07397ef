#include <time.h>

#include <array>
#include <charconv>
#include <cmath>

#include "words/words.h"

namespace ty {
namespace {

struct Unit {
  int64_t millis;
  const char* english;
  const char* chinese;        // beside another unit
  const char* chinese_alone;  // 30 分钟, but 1 小时 30 分
};
constexpr Unit kUnits[] = {
    {86'400'000, " d", " 天", " 天"},
    {3'600'000, " h", " 小时", " 小时"},
    {60'000, " min", " 分", " 分钟"},
    {1000, " s", " 秒", " 秒"},
};

// One digit after the point, none when it is zero.
std::string Tenths(int64_t tenths) {
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10) text += "." + std::to_string(tenths % 10);
  return text;
}

std::string Padded(int number) {
  return (number < 10 ? "0" : "") + std::to_string(number);
}

tm LocalTime(Time time) {
  time_t whole = std::chrono::floor<seconds>(time.time_since_epoch()).count();
  tm local{};
  localtime_r(&whole, &local);
  return local;
}

}  // namespace

std::string FormatDuration(Duration length, Language language) {
  bool chinese = language == Language::kChinese;
  int64_t millis = ToMillis(length);
  if (millis < 0) return "-" + FormatDuration(milliseconds(-millis), language);
  if (millis > 0 && millis < 1000) return std::to_string(millis) + (chinese ? " 毫秒" : " ms");
  if (millis < 10'000) return Tenths(millis / 100) + (chinese ? " 秒" : " s");

  const Unit* large = kUnits;
  while (millis < large->millis) ++large;
  std::string text = std::to_string(millis / large->millis);
  const Unit* small = large + 1;
  int64_t rest = small == std::end(kUnits) ? 0 : millis % large->millis / small->millis;
  if (rest == 0) return text + (chinese ? large->chinese_alone : large->english);
  text += chinese ? large->chinese : large->english;
  text += " " + std::to_string(rest) + (chinese ? small->chinese : small->english);
  return text;
}

std::string FormatBytes(int64_t bytes) {
  if (bytes < 0) return "-" + FormatBytes(bytes == INT64_MIN ? INT64_MAX : -bytes);
  constexpr std::array kNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t power = 0;
  double amount = static_cast<double>(bytes);
  // 1023.96 KiB would round to "1024 KiB".
  for (; amount >= 1023.95 && power + 1 < kNames.size(); amount /= 1024) ++power;
  std::string number = power == 0 ? std::to_string(bytes) : Tenths(std::llround(amount * 10));
  return number + " " + kNames[power];
}

std::string FormatReal(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  char text[64];
  double size = std::fabs(number);
  bool whole = size >= 1e4 && size < 1e15;
  auto [end, error] = whole ? std::to_chars(text, text + sizeof text, number, std::chars_format::fixed, 0)
                            : std::to_chars(text, text + sizeof text, number, std::chars_format::general, 4);
  return error == std::errc() ? std::string(text, end) : "?";
}

std::string FormatTime(Time time, std::optional<Time> now) {
  tm local = LocalTime(time);
  std::string clock = Padded(local.tm_hour) + ":" + Padded(local.tm_min);
  if (now) {
    tm today = LocalTime(*now);
    if (today.tm_year == local.tm_year && today.tm_yday == local.tm_yday) return clock;
  }
  return std::to_string(local.tm_year + 1900) + "-" + Padded(local.tm_mon + 1) + "-" + Padded(local.tm_mday) +
         " " + clock;
}

}  // namespace ty
