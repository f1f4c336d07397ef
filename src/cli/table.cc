#include "cli/table.h"

#include <algorithm>

#include "base/text.h"

namespace ty {
namespace {

constexpr int kGap = 2;
constexpr int kLeastShrunk = 8;

size_t CharacterLength(unsigned char first) {
  if (first < 0x80) return 1;
  return first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
}

std::string Padded(const std::string& text, int width, Table::Align align, bool last) {
  int room = width - DisplayWidth(text);
  if (room <= 0) return text;
  std::string space(static_cast<size_t>(room), ' ');
  if (align == Table::Align::kRight) return space + text;
  return last ? text : text + space;
}

}  // namespace

std::string Clip(const std::string& text, int width) {
  if (width <= 0 || DisplayWidth(text) <= width) return text;
  std::string kept;
  int used = 0;
  for (size_t i = 0; i < text.size();) {
    size_t length = std::min(CharacterLength(static_cast<unsigned char>(text[i])), text.size() - i);
    std::string_view letter(text.data() + i, length);
    int wide = DisplayWidth(letter);
    if (used + wide > width - 1) break;
    kept += letter;
    used += wide;
    i += length;
  }
  return kept + "…";
}

std::string Wrapped(const std::string& text, int width, int indent) {
  if (width <= indent + kLeastShrunk || DisplayWidth(text) <= width) return text;
  std::string out, line;
  size_t breaks_at = 0;  // the last place in the line where it may end; 0: none yet
  for (size_t i = 0; i < text.size();) {
    size_t length = std::min(CharacterLength(static_cast<unsigned char>(text[i])), text.size() - i);
    std::string letter = text.substr(i, length);
    bool wide = DisplayWidth(letter) > 1;
    size_t text_begins = line.find_first_not_of(' ');
    if ((letter == " " || wide) && text_begins != std::string::npos) breaks_at = line.size();
    if (DisplayWidth(line) + DisplayWidth(letter) > width && breaks_at > 0) {
      std::string rest = line.substr(breaks_at);
      rest.erase(
          0, rest.find_first_not_of(' ') == std::string::npos ? rest.size() : rest.find_first_not_of(' '));
      line.resize(breaks_at);
      out += line + "\n";
      line = std::string(static_cast<size_t>(indent), ' ') + rest;
      breaks_at = 0;
      if (letter == " ") {
        i += length;
        continue;
      }
    }
    line += letter;
    i += length;
  }
  return out + line;
}

std::string Table::Text(int width) const {
  size_t count = columns.size();
  std::vector<int> widths(count, 0);
  std::vector<bool> used(count, false);
  for (const auto& row : rows)
    for (size_t c = 0; c < count && c < row.size(); ++c) {
      used[c] = used[c] || !row[c].empty();
      widths[c] = std::max(widths[c], DisplayWidth(row[c]));
    }
  std::vector<size_t> shown;
  for (size_t c = 0; c < count; ++c)
    if (used[c]) {
      widths[c] = std::max(widths[c], DisplayWidth(columns[c].title));
      shown.push_back(c);
    }
  if (shown.empty()) return {};

  int total = kGap * (static_cast<int>(shown.size()) - 1);
  for (size_t c : shown) total += widths[c];
  for (auto c = shown.rbegin(); width > 0 && total > width && c != shown.rend(); ++c) {
    if (!columns[*c].shrinks) continue;
    int less = std::min(total - width, std::max(0, widths[*c] - kLeastShrunk));
    widths[*c] -= less;
    total -= less;
  }

  std::string text;
  auto line = [&](auto cell) {
    std::string out;
    for (size_t i = 0; i < shown.size(); ++i) {
      size_t c = shown[i];
      if (i > 0) out += std::string(kGap, ' ');
      out += Padded(Clip(cell(c), widths[c]), widths[c], columns[c].align, i + 1 == shown.size());
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    text += out + "\n";
  };
  line([&](size_t c) { return columns[c].title; });
  for (const auto& row : rows) line([&](size_t c) { return c < row.size() ? row[c] : std::string(); });
  return text;
}

}  // namespace ty
