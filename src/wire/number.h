// Numbers as logs write them. Private to the line readers of wire/.
#pragma once

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace ty {

// Every byte of every log passes here: one look-up instead of comparisons.
enum CharClass : unsigned char { kDigit = 1, kLetter = 2, kUnderscore = 4, kNamePunctuation = 8 };
constexpr std::array<unsigned char, 256> kCharClasses = [] {
  std::array<unsigned char, 256> classes{};
  for (int c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 32] = kLetter;
  classes['_'] = kUnderscore;
  for (char c : {'/', '.', '@', '-'}) classes[static_cast<unsigned char>(c)] = kNamePunctuation;
  return classes;
}();
inline bool Is(char c, unsigned classes) {
  return (kCharClasses[static_cast<unsigned char>(c)] & classes) != 0;
}
inline bool IsDigit(char c) {
  return Is(c, kDigit);
}
inline bool IsLetter(char c) {
  return Is(c, kLetter);
}
inline bool IsWordChar(char c) {
  return Is(c, kDigit | kLetter | kUnderscore);
}
inline char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

inline bool EqualsIgnoringCase(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (Lower(a[i]) != lower[i]) return false;
  }
  return true;
}

// Reads a number without sign at `at` and moves behind it: 12, 0.53, 1e-05, 1,170.
inline std::optional<double> TakeNumber(std::string_view text, size_t& at) {
  if (at >= text.size() ||
      !(IsDigit(text[at]) || (text[at] == '.' && at + 1 < text.size() && IsDigit(text[at + 1])))) {
    return std::nullopt;
  }
  double value = 0;
  const char* begin = text.data() + at;
  auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  // Groups of three after a comma: 12,345. A comma before anything else ends the number.
  if (end - begin <= 3 &&
      std::string_view(begin, end - begin).find_first_of(".eE") == std::string_view::npos) {
    const char* const last = text.data() + text.size();
    while (last - end >= 4 && *end == ',' && IsDigit(end[1]) && IsDigit(end[2]) && IsDigit(end[3]) &&
           (last - end == 4 || !IsDigit(end[4]))) {
      value = value * 1000 + (end[1] - '0') * 100 + (end[2] - '0') * 10 + (end[3] - '0');
      end += 4;
    }
  }
  at = static_cast<size_t>(end - text.data());
  return value;
}

inline void SkipSpaces(std::string_view text, size_t& at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
}

}  // namespace ty
