#include "base/time.h"

#include <cstdint>

namespace ty {
namespace {

// Days since 1970-01-01 to a date and back, by Howard Hinnant's civil calendar algorithms; std::chrono's
// calendar formatting would draw locales into the shim.
struct Date {
  int64_t year;
  unsigned month, day;
};

Date DateOf(int64_t days) {
  days += 719468;
  int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  auto day_of_era = static_cast<unsigned>(days - era * 146097);
  unsigned year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  unsigned shifted = (5 * day_of_year + 2) / 153;
  unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {static_cast<int64_t>(year_of_era) + era * 400 + (month <= 2), month,
          day_of_year - (153 * shifted + 2) / 5 + 1};
}

int64_t DaysOf(int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  int64_t era = (year >= 0 ? year : year - 399) / 400;
  auto year_of_era = static_cast<unsigned>(year - era * 400);
  unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<int64_t>(day_of_era) - 719468;
}

unsigned DaysIn(int64_t year, unsigned month) {
  constexpr unsigned kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[month - 1];
}

void PutDigits(std::string& text, int64_t number, int width) {
  char digits[20];
  for (int i = width - 1; i >= 0; --i, number /= 10) digits[i] = static_cast<char>('0' + number % 10);
  text.append(digits, static_cast<size_t>(width));
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Reads text from the left; every reader leaves it where it failed.
struct Reader {
  std::string_view rest;

  bool Take(char wanted) {
    if (rest.empty() || rest[0] != wanted) return false;
    rest.remove_prefix(1);
    return true;
  }
  std::optional<unsigned> TakeDigits(size_t width) {
    if (rest.size() < width) return std::nullopt;
    unsigned number = 0;
    for (size_t i = 0; i < width; ++i) {
      if (!IsDigit(rest[i])) return std::nullopt;
      number = number * 10 + static_cast<unsigned>(rest[i] - '0');
    }
    rest.remove_prefix(width);
    return number;
  }
  std::optional<int64_t> TakeNumber() {
    if (rest.empty() || !IsDigit(rest[0])) return std::nullopt;
    int64_t number = 0;
    for (; !rest.empty() && IsDigit(rest[0]); rest.remove_prefix(1))
      if (__builtin_mul_overflow(number, 10, &number) ||
          __builtin_add_overflow(number, rest[0] - '0', &number))
        return std::nullopt;
    return number;
  }
  // Digits after a point, as billionths; more than nine are read and dropped.
  std::optional<int64_t> TakeFraction() {
    if (rest.empty() || !IsDigit(rest[0])) return std::nullopt;
    int64_t billionths = 0, place = 100'000'000;
    for (; !rest.empty() && IsDigit(rest[0]); rest.remove_prefix(1), place /= 10)
      billionths += (rest[0] - '0') * place;
    return billionths;
  }
};

struct Unit {
  std::string_view name;
  int64_t nanos;
};
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;
constexpr Unit kUnits[] = {{"w", 7 * kDay},       {"d", kDay},         {"h", 3600 * kSecond},
                           {"min", 60 * kSecond}, {"m", 60 * kSecond}, {"sec", kSecond},
                           {"s", kSecond},        {"ms", 1'000'000}};

// "1h30m": numbers with units, each smaller than the one before.
std::optional<Duration> ParseUnits(std::string_view text) {
  Reader reader{text};
  int64_t total = 0, last = INT64_MAX;
  while (!reader.rest.empty()) {
    std::optional<int64_t> whole = reader.TakeNumber();
    std::optional<int64_t> fraction = 0;
    if (whole && reader.Take('.')) fraction = reader.TakeFraction();
    if (!whole || !fraction) return std::nullopt;
    reader.Take(' ');
    size_t length = 0;
    while (length < reader.rest.size() && reader.rest[length] >= 'a' && reader.rest[length] <= 'z') ++length;
    int64_t unit = 0;
    for (const Unit& known : kUnits)
      if (known.name == reader.rest.substr(0, length)) unit = known.nanos;
    if (unit == 0 || unit >= last) return std::nullopt;
    last = unit;
    reader.rest.remove_prefix(length);
    reader.Take(' ');
    int64_t part = 0;
    // In thousandths of the unit first: a week times a billion would not fit in 64 bits.
    int64_t rest = unit / 1000 * (*fraction / 1000) / 1000 + unit / 1'000'000 * (*fraction % 1000) / 1000;
    if (__builtin_mul_overflow(*whole, unit, &part) || __builtin_add_overflow(part, rest, &part) ||
        __builtin_add_overflow(total, part, &total))
      return std::nullopt;
  }
  return Duration(total);
}

// "1-12:00:00", "1-12", "02:30:00". With days the hours stay below 24; minutes and seconds always below 60.
std::optional<Duration> ParseClock(std::string_view text) {
  Reader reader{text};
  int64_t days = 0;
  bool with_days = text.find('-') != std::string_view::npos;
  if (with_days) {
    std::optional<int64_t> number = reader.TakeNumber();
    if (!number || *number > 100'000 || !reader.Take('-')) return std::nullopt;
    days = *number;
  }
  int64_t parts[3] = {};
  int count = 0;
  do {
    std::optional<int64_t> number = count < 3 ? reader.TakeNumber() : std::nullopt;
    if (!number || *number > 2'000'000) return std::nullopt;
    parts[count++] = *number;
  } while (reader.Take(':'));
  if (!reader.rest.empty() || (!with_days && count != 3)) return std::nullopt;
  if ((with_days && parts[0] > 23) || parts[1] > 59 || parts[2] > 59) return std::nullopt;
  return seconds(days * 86'400 + parts[0] * 3600 + parts[1] * 60 + parts[2]);
}

}  // namespace

std::string FormatIso(Time t) {
  int64_t millis = std::chrono::floor<milliseconds>(t.time_since_epoch()).count();
  int64_t days = (millis >= 0 ? millis : millis - 86'399'999) / 86'400'000;
  int64_t rest = millis - days * 86'400'000;
  Date date = DateOf(days);
  std::string text;
  text.reserve(24);
  PutDigits(text, date.year, 4);
  text += '-';
  PutDigits(text, date.month, 2);
  text += '-';
  PutDigits(text, date.day, 2);
  text += 'T';
  PutDigits(text, rest / 3'600'000, 2);
  text += ':';
  PutDigits(text, rest / 60'000 % 60, 2);
  text += ':';
  PutDigits(text, rest / 1000 % 60, 2);
  text += '.';
  PutDigits(text, rest % 1000, 3);
  text += 'Z';
  return text;
}

std::optional<Time> ParseIso(std::string_view text) {
  Reader reader{text};
  std::optional<unsigned> year = reader.TakeDigits(4), month, day, hour, minute, second;
  if (!year || !reader.Take('-') || !(month = reader.TakeDigits(2))) return std::nullopt;
  if (!reader.Take('-') || !(day = reader.TakeDigits(2)) || !(reader.Take('T') || reader.Take('t')))
    return std::nullopt;
  if (!(hour = reader.TakeDigits(2)) || !reader.Take(':') || !(minute = reader.TakeDigits(2)))
    return std::nullopt;
  second = 0;
  if (reader.Take(':') && !(second = reader.TakeDigits(2))) return std::nullopt;
  // Nanoseconds in 64 bits reach from 1677 to 2262.
  if (*year < 1678 || *year > 2261 || *month < 1 || *month > 12 || *day < 1 || *day > DaysIn(*year, *month))
    return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  std::optional<int64_t> fraction = 0;
  if (reader.Take('.') && !(fraction = reader.TakeFraction())) return std::nullopt;

  int64_t offset = 0;
  if (!reader.Take('Z') && !reader.Take('z')) {
    int sign = reader.Take('+') ? 1 : reader.Take('-') ? -1 : 0;
    std::optional<unsigned> hours = sign ? reader.TakeDigits(2) : std::nullopt;
    if (!hours) return std::nullopt;
    reader.Take(':');
    std::optional<unsigned> minutes = reader.TakeDigits(2);
    if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    offset = sign * static_cast<int64_t>(*hours * 3600 + *minutes * 60);
  }
  if (!reader.rest.empty()) return std::nullopt;
  int64_t whole = DaysOf(*year, *month, *day) * 86'400 + *hour * 3600 + *minute * 60 + *second - offset;
  return FromNanos(whole * kSecond + *fraction);
}

std::optional<Duration> ParseDuration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.find_first_of("-:") != std::string_view::npos) return ParseClock(text);
  if (!IsDigit(text.back())) return ParseUnits(text);
  return ParseUnits(std::string(text) + "s");
}

}  // namespace ty
