#include "wire/terminal.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace ty {

namespace {

constexpr char32_t kBroken = 0xFFFD;
constexpr size_t kMostParameters = 64;
constexpr size_t kMostString = 4096;  // a title that never ends must not swallow the log

int Width(char32_t code) {
  // The blocks that bars are drawn with come by the million; they are narrow.
  if (code < 0x300 || (code >= 0x2190 && code < 0x2600) || code == kBroken) return 1;
  std::string text;
  AppendUtf8(text, code);
  return DisplayWidth(text);
}

}  // namespace

Terminal::Terminal(Sink offer, Sink settle) : offer_(std::move(offer)), settle_(std::move(settle)) {
  rows_.emplace_back();
}

void Terminal::Feed(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    if (state_ == State::kText && more_ == 0) {
      size_t end = at;
      while (end < bytes.size() && bytes[end] >= 0x20 && bytes[end] < 0x7F) ++end;
      if (end > at) {
        Ascii(bytes.substr(at, end - at));
        at = end;
        continue;
      }
    }
    Byte(static_cast<unsigned char>(bytes[at++]));
  }
}

void Terminal::Byte(unsigned char byte) {
  switch (state_) {
    case State::kText:
      break;
    case State::kEscape:
      state_ = State::kText;
      if (byte == '[') {
        state_ = State::kCsi;
        parameters_.clear();
      } else if (byte == ']' || byte == 'P' || byte == '_' || byte == '^' || byte == 'X') {
        state_ = State::kString;
        swallowed_ = 0;
      } else if (byte == '(' || byte == ')' || byte == '#' || byte == '%' || byte == ' ') {
        state_ = State::kEscapeOne;
      } else if (byte < 0x20) {
        Control(byte);
      }
      return;
    case State::kEscapeOne:
      state_ = State::kText;
      if (byte < 0x20) Control(byte);
      return;
    case State::kCsi:
      if (byte < 0x20) {  // a sequence cut off by a new line
        state_ = State::kText;
        Control(byte);
      } else if (byte >= 0x40 && byte < 0x7F) {
        state_ = State::kText;
        Csi(byte);
      } else if (byte >= 0x7F || parameters_.size() >= kMostParameters) {
        state_ = State::kText;
      } else {
        parameters_ += static_cast<char>(byte);
      }
      return;
    case State::kString:
    case State::kStringEscape:
      if (byte == 0x07 || (state_ == State::kStringEscape && byte == '\\')) {
        state_ = State::kText;
      } else if (byte == '\n' || ++swallowed_ > kMostString) {
        state_ = State::kText;
        if (byte == '\n') Control(byte);
      } else {
        state_ = byte == 0x1B ? State::kStringEscape : State::kString;
      }
      return;
  }

  if (more_ > 0) {
    if ((byte & 0xC0) == 0x80) {
      code_ = code_ << 6 | (byte & 0x3F);
      if (--more_ > 0) return;
      const bool valid = code_ >= least_ && code_ <= 0x10FFFF && (code_ < 0xD800 || code_ > 0xDFFF);
      Text(valid ? code_ : kBroken);
      return;
    }
    more_ = 0;
    Text(kBroken);  // and the byte is looked at anew
  }
  if (byte < 0x20) return Control(byte);
  if (byte < 0x7F) return Text(byte);
  if (byte == 0x7F) return;
  if (byte >= 0xC2 && byte <= 0xDF) {
    code_ = byte & 0x1F, more_ = 1, least_ = 0x80;
  } else if ((byte & 0xF0) == 0xE0) {
    code_ = byte & 0x0F, more_ = 2, least_ = 0x800;
  } else if (byte >= 0xF0 && byte <= 0xF4) {
    code_ = byte & 0x07, more_ = 3, least_ = 0x10000;
  } else {
    Text(kBroken);
  }
}

void Terminal::Ascii(std::string_view run) {
  Row& row = this->row();
  row.changed = true;
  row.seen = false;
  if (column_ >= kColumns) return;
  run = run.substr(0, kColumns - column_);
  if (row.cells.size() < column_ + run.size()) row.cells.resize(column_ + run.size());
  Cell* cell = row.cells.data() + column_;
  for (char c : run) *cell++ = Cell{static_cast<char32_t>(c), 0};
  column_ += run.size();
}

void Terminal::Text(char32_t code) {
  if (code >= 0x80 && code < 0xA0) return;  // C1 controls
  Row& row = this->row();
  row.changed = true;
  row.seen = false;
  const int width = Width(code);
  if (width == 0) {
    size_t before = std::min(column_, row.cells.size());
    if (before > 0 && row.cells[before - 1].base == 0 && before > 1) --before;
    if (before > 0) row.cells[before - 1].mark = code;
    return;
  }
  if (column_ + width > kColumns) return;
  if (row.cells.size() < column_ + width) row.cells.resize(column_ + width);
  row.cells[column_] = Cell{code, 0};
  if (width == 2) row.cells[column_ + 1] = Cell{0, 0};
  column_ += width;
}

void Terminal::Control(unsigned char byte) {
  switch (byte) {
    case '\n':
    case '\v':
    case '\f':
      return NewLine();
    case '\r':
      return MoveTo(0);
    case '\b':
      return MoveTo(column_ > 0 ? column_ - 1 : 0);
    case '\t':
      column_ = std::min(kColumns, (column_ / 8 + 1) * 8);
      return;
    case 0x1B:
      state_ = State::kEscape;
      return;
    default:
      return;
  }
}

void Terminal::Csi(unsigned char final) {
  const int64_t asked = ParseInt(std::string_view(parameters_).substr(0, parameters_.find(';'))).value_or(0);
  const size_t count = static_cast<size_t>(std::clamp<int64_t>(asked, 1, kColumns));
  switch (final) {
    case 'A':
      return Up(count);
    case 'B':
      return Down(count);
    case 'C':
      return MoveTo(std::min(kColumns, column_ + count));
    case 'D':
      return MoveTo(column_ > count ? column_ - count : 0);
    case 'E':
      Down(count);
      return MoveTo(0);
    case 'F':
      Up(count);
      return MoveTo(0);
    case 'G':
      return MoveTo(count - 1);
    case 'K':
      return EraseLine(static_cast<int>(asked));
    case 'J':
      if (asked == 0) return EraseBelow();
      [[fallthrough]];
    case 'H':
    case 'f':
      // A new screen: what was there stays above, so that nothing seen is lost.
      Offer();
      at_ = rows_.size() - 1;
      if (!row().cells.empty()) NewLine();
      return MoveTo(0);
    default:
      return;  // colours, modes, scrolling
  }
}

void Terminal::NewLine() {
  Offer();
  column_ = 0;
  if (at_ + 1 < rows_.size()) {
    ++at_;
    return;
  }
  if (rows_.size() == kRows) {
    Row old = std::move(rows_.front());
    rows_.pop_front();
    if (settle_) settle_(Show(old));
    if (old.cells.capacity() > 4096) old = Row{};
    old.cells.clear();
    old.changed = old.seen = false;
    rows_.push_back(std::move(old));
  } else {
    rows_.emplace_back();
  }
  at_ = rows_.size() - 1;
}

void Terminal::MoveTo(size_t column) {
  if (column < column_) Offer();  // going back is how overwriting begins
  column_ = column;
}

void Terminal::Up(size_t rows) {
  Offer();
  at_ -= std::min(at_, rows);
}

void Terminal::Down(size_t rows) {
  Offer();
  at_ = std::min(rows_.size() - 1, at_ + rows);
}

void Terminal::EraseLine(int mode) {
  Offer();
  auto& cells = row().cells;
  if (mode == 0) {
    cells.resize(std::min(cells.size(), column_));
  } else if (mode == 1) {
    std::fill_n(cells.begin(), std::min(cells.size(), column_ + 1), Cell{});
  } else {
    cells.clear();
  }
}

void Terminal::EraseBelow() {
  EraseLine(0);
  for (size_t i = at_ + 1; i < rows_.size(); ++i) {
    OfferRow(rows_[i]);
    rows_[i].cells.clear();
  }
}

void Terminal::Offer() {
  OfferRow(row());
}

void Terminal::OfferRow(Row& row) {
  if (!row.changed) return;
  row.changed = false;
  if (!offer_) return;
  const std::string_view text = Show(row);
  if (!text.empty()) offer_(text);
}

std::string_view Terminal::Show(const Row& row) const {
  shown_.resize(row.cells.size());
  size_t plain = 0;
  while (plain < row.cells.size() && row.cells[plain].base - 1 < 0x7F && row.cells[plain].mark == 0) {
    shown_[plain] = static_cast<char>(row.cells[plain].base);
    ++plain;
  }
  shown_.resize(plain);
  for (size_t i = plain; i < row.cells.size(); ++i) {
    if (row.cells[i].base != 0) AppendUtf8(shown_, row.cells[i].base);
    if (row.cells[i].mark != 0) AppendUtf8(shown_, row.cells[i].mark);
  }
  const size_t last = shown_.find_last_not_of(' ');
  shown_.resize(last == std::string::npos ? 0 : last + 1);
  return shown_;
}

void Terminal::OfferIdle() {
  for (Row& row : rows_) {
    if (row.changed && row.seen) OfferRow(row);
    row.seen = true;
  }
}

void Terminal::Close() {
  for (Row& row : rows_) OfferRow(row);
  if (settle_) {
    for (const Row& row : rows_) settle_(Show(row));
  }
  rows_.clear();
  rows_.emplace_back();
  at_ = column_ = 0;
}

std::vector<std::string> Terminal::LastLines(size_t count) const {
  std::vector<std::string> lines;
  for (auto row = rows_.rbegin(); row != rows_.rend() && lines.size() < count; ++row) {
    std::string text(Show(*row));
    if (text.empty() && lines.empty()) continue;  // below the last text
    lines.push_back(std::move(text));
  }
  std::reverse(lines.begin(), lines.end());
  while (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
  return lines;
}

}  // namespace ty
