#include "wire/style.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ty {

namespace {

constexpr int kForeground = 10, kBackground = 37;
constexpr uint64_t kColour = (uint64_t{1} << 27) - 1;
constexpr uint64_t kNamed = uint64_t{1} << 24, kIndexed = uint64_t{2} << 24, kTrue = uint64_t{3} << 24;
constexpr uint64_t kTyped = uint64_t{3} << 24;  // the bits of the kind

constexpr uint64_t Attribute(int number) {
  return uint64_t{1} << (number - 1);
}

// "38;5;196" or "38:2::255:0:0": numbers, and whether each is bound to the one before it by a colon.
struct Numbers {
  static constexpr size_t kMost = 32;
  std::array<int, kMost> value;
  std::array<bool, kMost> bound;
  size_t count = 0;
};

Numbers Read(std::string_view parameters) {
  Numbers numbers;
  bool bound = false;
  while (numbers.count < Numbers::kMost) {
    const size_t end = parameters.find_first_of(";:");
    const std::string_view word = parameters.substr(0, end);
    const int64_t value = word.empty() ? 0 : ParseInt(word).value_or(-1);
    numbers.bound[numbers.count] = bound;
    numbers.value[numbers.count++] = static_cast<int>(std::clamp<int64_t>(value, -1, 10000));
    if (end == std::string_view::npos) break;
    bound = parameters[end] == ':';
    parameters.remove_prefix(end + 1);
  }
  return numbers;
}

// The colour behind a 38, 48 or 58 at `at`; moves `at` to its last number. Zero: it is none. What cannot be
// understood takes all that follows with it, as nobody knows where it ends.
uint64_t ReadColour(const Numbers& numbers, size_t& at) {
  const size_t kind = at + 1;
  const bool colons = kind < numbers.count && numbers.bound[kind];
  size_t end = kind;
  while (end < numbers.count && (!colons || numbers.bound[end])) ++end;
  at = end - 1;
  if (kind >= end) return 0;
  const size_t values = numbers.value[kind] == 5 ? 1 : numbers.value[kind] == 2 ? 3 : 0;
  if (values == 0 || end - kind - 1 < values) return 0;
  const size_t last = colons ? end - 1 : kind + values;
  at = last;
  auto byte = [&](size_t i) { return static_cast<uint64_t>(std::clamp(numbers.value[i], 0, 255)); };
  return values == 1 ? kIndexed | byte(last)
                     : kTrue | byte(last - 2) << 16 | byte(last - 1) << 8 | byte(last);
}

void WriteNumber(std::string& out, uint64_t number) {
  out += ';';
  out += std::to_string(number);
}

void WriteColour(std::string& out, uint64_t colour, int base) {
  const uint64_t value = colour & 0xFFFFFF;
  switch (colour & kTyped) {
    case kNamed:
      WriteNumber(out, value < 8 ? base + value : base + 60 + value - 8);
      break;
    case kIndexed:
      WriteNumber(out, base + 8);
      WriteNumber(out, 5);
      WriteNumber(out, value);
      break;
    case kTrue:
      WriteNumber(out, base + 8);
      WriteNumber(out, 2);
      for (int shift : {16, 8, 0}) WriteNumber(out, value >> shift & 0xFF);
      break;
    default:
      break;
  }
}

}  // namespace

void Style::Apply(std::string_view parameters) {
  if (!parameters.empty() && parameters.front() > ';') return;  // private: "<…m", "?…m", ">…m"
  if (parameters.empty() || parameters == "0") {                // most are
    bits_ = 0;
    return;
  }
  const Numbers numbers = Read(parameters);
  auto paint = [&](int place, uint64_t colour) { bits_ = (bits_ & ~(kColour << place)) | colour << place; };
  for (size_t i = 0; i < numbers.count; ++i) {
    const int n = numbers.value[i];
    if (n == 0) {
      bits_ = 0;
    } else if (n >= 1 && n <= 9) {
      const bool off = i + 1 < numbers.count && numbers.bound[i + 1] && numbers.value[i + 1] == 0;  // "4:0"
      if (off) {
        bits_ &= ~Attribute(n);
      } else {
        bits_ |= Attribute(n);
      }
    } else if (n == 21) {
      bits_ |= Attribute(4);  // underlined twice
    } else if (n == 22) {
      bits_ &= ~(Attribute(1) | Attribute(2));
    } else if (n == 25) {
      bits_ &= ~(Attribute(5) | Attribute(6));
    } else if (n >= 23 && n <= 29) {
      bits_ &= ~Attribute(n - 20);
    } else if (n >= 30 && n <= 37) {
      paint(kForeground, kNamed | static_cast<uint64_t>(n - 30));
    } else if (n >= 90 && n <= 97) {
      paint(kForeground, kNamed | static_cast<uint64_t>(n - 90 + 8));
    } else if (n >= 40 && n <= 47) {
      paint(kBackground, kNamed | static_cast<uint64_t>(n - 40));
    } else if (n >= 100 && n <= 107) {
      paint(kBackground, kNamed | static_cast<uint64_t>(n - 100 + 8));
    } else if (n == 39) {
      paint(kForeground, 0);
    } else if (n == 49) {
      paint(kBackground, 0);
    } else if (n == 38 || n == 48 || n == 58) {
      const uint64_t colour = ReadColour(numbers, i);
      if (colour != 0 && n != 58) paint(n == 38 ? kForeground : kBackground, colour);
    }
    while (i + 1 < numbers.count && numbers.bound[i + 1]) ++i;
  }
}

bool Style::ShowsOnSpaces() const {
  return (bits_ >> kBackground & kColour) != 0 || (bits_ & (Attribute(4) | Attribute(7) | Attribute(9))) != 0;
}

void Style::Write(std::string& out) const {
  out += "\x1b[0";
  for (int number = 1; number <= 9; ++number) {
    if ((bits_ & Attribute(number)) != 0) WriteNumber(out, static_cast<uint64_t>(number));
  }
  WriteColour(out, bits_ >> kForeground & kColour, 30);
  WriteColour(out, bits_ >> kBackground & kColour, 40);
  out += 'm';
}

}  // namespace ty
