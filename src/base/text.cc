#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace ty {
namespace {

__extension__ typedef __int128 Int128;

// One character of UTF-8 at the head of `bytes`: its code point and length; length 0 when it is broken.
struct Character {
  char32_t code = 0;
  size_t length = 0;
};

Character Decode(std::string_view bytes) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < length) return {};
  char32_t code = first & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, length};
}

struct Range {
  char32_t first, last;
};

template <size_t N>
bool Within(char32_t code, const Range (&ranges)[N]) {
  const Range* range =
      std::lower_bound(ranges, ranges + N, code, [](const Range& r, char32_t c) { return r.last < c; });
  return range != ranges + N && range->first <= code;
}

// East Asian Width W and F of Unicode 15, in the blocks that people type.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},
    {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},
    {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x18DFF}, {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF},
    {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C},
    {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4},
    {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E},
    {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F},
    {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DC, 0x1F6DF},
    {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F7F0, 0x1F7F0}, {0x1F90C, 0x1F93A},
    {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

// Marks that sit on the letter before them, joiners, selectors, and what shows nothing at all.
constexpr Range kZeroWidth[] = {
    {0x0000, 0x001F},   {0x007F, 0x009F},   {0x00AD, 0x00AD},  {0x0300, 0x036F}, {0x0483, 0x0489},
    {0x0591, 0x05BD},   {0x05BF, 0x05BF},   {0x05C1, 0x05C2},  {0x05C4, 0x05C5}, {0x05C7, 0x05C7},
    {0x0610, 0x061A},   {0x064B, 0x065F},   {0x0670, 0x0670},  {0x06D6, 0x06DC}, {0x06DF, 0x06E4},
    {0x06E7, 0x06E8},   {0x06EA, 0x06ED},   {0x0711, 0x0711},  {0x0730, 0x074A}, {0x0900, 0x0902},
    {0x093A, 0x093A},   {0x093C, 0x093C},   {0x0941, 0x0948},  {0x094D, 0x094D}, {0x0951, 0x0957},
    {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},   {0x0E47, 0x0E4E},  {0x1160, 0x11FF}, {0x1AB0, 0x1ACE},
    {0x1DC0, 0x1DFF},   {0x200B, 0x200F},   {0x2028, 0x202E},  {0x2060, 0x206F}, {0x20D0, 0x20F0},
    {0x302A, 0x302D},   {0x3099, 0x309A},   {0xFE00, 0xFE0F},  {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
    {0x1F3FB, 0x1F3FF}, {0xE0001, 0xE007F}, {0xE0100, 0xE01EF}};

// What reorders or breaks the line it stands in.
constexpr Range kLineTricks[] = {{0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}};

constexpr char kHex[] = "0123456789abcdef";

void PutEscape(std::string& out, char32_t code) {
  switch (code) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  out += code < 0x100 ? "\\x" : "\\u";
  for (int shift = code < 0x100 ? 4 : 12; shift >= 0; shift -= 4) out += kHex[code >> shift & 15];
}

char Folded(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

// Optimal string alignment: insert, delete, replace, swap of neighbours.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      bool same = Folded(a[i - 1]) == Folded(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && Folded(a[i - 1]) == Folded(b[j - 2]) && Folded(a[i - 2]) == Folded(b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

bool IsPlainInShell(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && std::strchr("_@%+=:,./-", c) != nullptr);
}

std::string Quoted(std::string_view word) {
  std::string out = "'";
  for (char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  out += '\'';
  return out;
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    uint64_t eight;
    while (bytes.size() >= sizeof eight) {
      std::memcpy(&eight, bytes.data(), sizeof eight);
      if (eight & 0x8080808080808080u) break;
      bytes.remove_prefix(sizeof eight);
    }
    if (bytes.empty()) break;
    size_t length = Decode(bytes).length;
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string ToBase64(std::string_view bytes) {
  constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) text += k <= have ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  text.remove_suffix(padding);
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  uint32_t held = 0;
  int bits = 0;
  for (char c : text) {
    unsigned value;
    if (c >= 'A' && c <= 'Z')
      value = static_cast<unsigned>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      value = static_cast<unsigned>(c - 'a' + 26);
    else if (c >= '0' && c <= '9')
      value = static_cast<unsigned>(c - '0' + 52);
    else if (c == '+')
      value = 62;
    else if (c == '/')
      value = 63;
    else
      return std::nullopt;
    held = (held << 6 | value) & 0xFFFF;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(held >> bits);
    }
  }
  // Two texts must not mean the same bytes: what is left over is zero.
  if (held & ((1u << bits) - 1)) return std::nullopt;
  return bytes;
}

std::string Nearest(std::string_view word, const std::vector<std::string>& known) {
  // A third of the word may be wrong; beyond that a suggestion only confuses. Very long words are no typing
  // slip.
  if (word.empty() || word.size() > 64) return {};
  // The beginning of exactly one word means that word: --prio is --priority.
  const auto begins = [&](const std::string& candidate) { return candidate.starts_with(word); };
  if (word.size() >= 3 && std::count_if(known.begin(), known.end(), begins) == 1) {
    return *std::find_if(known.begin(), known.end(), begins);
  }
  size_t limit = std::max<size_t>(1, word.size() / 3), best_distance = limit + 1;
  std::string best;
  for (const std::string& candidate : known) {
    size_t difference =
        candidate.size() > word.size() ? candidate.size() - word.size() : word.size() - candidate.size();
    if (difference >= best_distance) continue;
    size_t distance = EditDistance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string ShellQuote(std::string_view word) {
  bool plain = !word.empty() && std::all_of(word.begin(), word.end(), IsPlainInShell);
  // zsh expands a leading "=", as in =python.
  return plain && word[0] != '=' ? std::string(word) : Quoted(word);
}

std::string ShellQuote(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (&word == &argv.front() && word.find('=') != std::string::npos) {
      line += Quoted(word);  // as a command's first word A=b would set a variable
      continue;
    }
    if (&word != &argv.front()) line += ' ';
    line += ShellQuote(word);
  }
  return line;
}

std::string Printable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    Character next = Decode(bytes);
    if (next.length == 0) {
      out += "\xEF\xBF\xBD";
      bytes.remove_prefix(1);
      continue;
    }
    bool control = next.code < 0x20 || (next.code >= 0x7F && next.code < 0xA0);
    if (control || Within(next.code, kLineTricks)) {
      PutEscape(out, next.code);
    } else {
      out += bytes.substr(0, next.length);
    }
    bytes.remove_prefix(next.length);
  }
  return out;
}

std::optional<int64_t> ParseInt(std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<int64_t> ParseBytes(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  std::optional<int64_t> whole = ParseInt(text.substr(0, digits));
  if (digits == 0 || !whole) return std::nullopt;
  text.remove_prefix(digits);

  int64_t numerator = 0, denominator = 1;
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
      if (digits >= 9) continue;
      numerator = numerator * 10 + (text[digits] - '0');
      denominator *= 10;
    }
    if (digits == 0) return std::nullopt;
    text.remove_prefix(digits);
  }

  if (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  std::string suffix;
  for (char c : text) suffix += Folded(c);
  int power = 0;
  if (!suffix.empty() && suffix[0] != 'b') {
    size_t unit = std::string_view("kmgtp").find(suffix[0]);
    if (unit == std::string_view::npos) return std::nullopt;
    power = static_cast<int>(unit) + 1;
    suffix.erase(0, 1);
    if (!suffix.empty() && suffix != "b" && suffix != "ib" && suffix != "i") return std::nullopt;
  } else if (!suffix.empty() && suffix != "b") {
    return std::nullopt;
  }
  Int128 bytes =
      (static_cast<Int128>(*whole) * denominator + numerator) * (static_cast<Int128>(1) << 10 * power);
  bytes /= denominator;
  if (bytes > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

int DisplayWidth(std::string_view utf8) {
  int width = 0;
  while (!utf8.empty()) {
    Character next = Decode(utf8);
    if (next.length == 0) {
      ++width;  // shown as U+FFFD
      utf8.remove_prefix(1);
      continue;
    }
    if (next.code >= 0x20 && next.code < 0x7F) {
      ++width;
    } else if (!Within(next.code, kZeroWidth)) {
      width += Within(next.code, kWide) ? 2 : 1;
    }
    utf8.remove_prefix(next.length);
  }
  return width;
}

}  // namespace ty
