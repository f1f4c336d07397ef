#include "wire/terminal.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace ty {

namespace {

constexpr char32_t kBroken = 0xFFFD;

// What turns the reading direction or ends a line without being a control character.
bool IsInvisible(char32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E ||
         code == 0x200F || code == 0x2028 || code == 0x2029;
}

// Columns of text made of ASCII and the lines and blocks of bars; more than there are of any other text.
size_t PlainColumns(std::string_view text) {
  size_t columns = 0;
  for (size_t i = 0; i < text.size(); ++columns) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte < 0x7F) {
      ++i;
      continue;
    }
    if (byte != 0xE2 || i + 2 >= text.size()) return SIZE_MAX;
    const auto second = static_cast<unsigned char>(text[i + 1]),
               third = static_cast<unsigned char>(text[i + 2]);
    if (second < 0x87 || second > 0x97 || (third & 0xC0) != 0x80) return SIZE_MAX;  // U+21C0 to U+25FF
    i += 3;
  }
  return columns;
}

int Width(char32_t code) {
  // The blocks that bars are drawn with come by the million; they are narrow.
  if (code < 0x300 || (code >= 0x2190 && code < 0x2600) || code == kBroken) return 1;
  std::string text;
  AppendUtf8(text, code);
  return DisplayWidth(text);
}

}  // namespace

Terminal::Terminal(Sink offer, Settle settle) : offer_(std::move(offer)), settle_(std::move(settle)) {
  rows_.emplace_back();
}

void Terminal::Feed(std::string_view bytes) {
  size_t at = 0, looked = 0;
  while (at < bytes.size()) {
    if (escapes_.at_rest() && more_ == 0) {
      if (bytes[at] == '\r' && !offer_ && at >= looked) at = SkipOverwritten(bytes, at, looked);
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

void Terminal::KeepStyles(bool keep) {
  keep_styles_ = keep;
  if (keep) return;
  for (Row& row : rows_) row.styles.clear();
}

// Where nobody wants to see every state of a bar, those of them need not be drawn that a later one covers.
// From a carriage return on, the place of the last one from which all there will be is drawn; `looked`: how
// far that was looked into.
size_t Terminal::SkipOverwritten(std::string_view bytes, size_t at, size_t& looked) const {
  size_t longest = rows_[at_].cells.size();
  size_t from = at;
  looked = at + 1;
  while (true) {
    const size_t end = bytes.find('\r', looked);
    if (end == std::string_view::npos) break;
    const size_t columns = PlainColumns(bytes.substr(looked, end - looked));
    if (columns > kColumns) break;
    if (columns >= longest) {
      from = looked - 1;
      longest = columns;
    }
    looked = end + 1;
  }
  return from;
}

void Terminal::BeginAt(int64_t row, Style style) {
  rows_.clear();
  rows_.resize(static_cast<size_t>(std::min<int64_t>(row, kRows - 1) + 1));
  at_ = rows_.size() - 1;
  settled_ = row - static_cast<int64_t>(at_);
  column_ = 0;
  style_ = style;
}

void Terminal::Note(std::string note) {
  escapes_ = {};
  if (more_ > 0) Text(kBroken);
  more_ = 0;
  style_ = {};
  Offer();
  at_ = rows_.size() - 1;
  if (row().touched) NewLine();
  row().note = std::move(note);
  row().touched = true;
  NewLine();
}

void Terminal::Byte(unsigned char byte) {
  if (more_ > 0 && (byte & 0xC0) != 0x80) {
    more_ = 0;
    Text(kBroken);  // and the byte is looked at anew
  }
  switch (escapes_.Take(byte)) {
    case Escapes::Gives::kNothing:
      return;
    case Escapes::Gives::kCsi:
      return Csi(byte);
    case Escapes::Gives::kByte:
      break;
  }
  if (more_ > 0) {
    code_ = code_ << 6 | (byte & 0x3F);
    if (--more_ > 0) return;
    const bool valid = code_ >= least_ && code_ <= 0x10FFFF && (code_ < 0xD800 || code_ > 0xDFFF);
    Text(valid ? code_ : kBroken);
    return;
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

Terminal::Row& Terminal::Touch() {
  Row& row = this->row();
  row.changed = row.touched = true;
  row.seen = false;
  if (!row.note.empty()) row.note.clear();  // written over
  return row;
}

// These cells have the style of now.
void Terminal::Paint(Row& row, size_t from, size_t to) {
  if (!keep_styles_ || (style_.plain() && row.styles.empty())) return;
  if (row.styles.size() < to) row.styles.resize(to);
  std::fill(row.styles.begin() + static_cast<ptrdiff_t>(from),
            row.styles.begin() + static_cast<ptrdiff_t>(to), style_);
}

void Terminal::Ascii(std::string_view run) {
  Row& row = Touch();
  if (run.size() > kColumns - std::min(column_, kColumns)) row.cut = true;
  if (column_ >= kColumns) return;
  run = run.substr(0, kColumns - column_);
  if (row.cells.size() < column_ + run.size()) row.cells.resize(column_ + run.size());
  Cell* cell = row.cells.data() + column_;
  for (char c : run) *cell++ = Cell{static_cast<char32_t>(c), 0};
  Paint(row, column_, column_ + run.size());
  column_ += run.size();
}

void Terminal::Text(char32_t code) {
  Row& row = Touch();
  if ((code >= 0x80 && code < 0xA0) || IsInvisible(code)) return;  // C1 controls and the like
  const int width = Width(code);
  if (width == 0) {
    size_t before = std::min(column_, row.cells.size());
    if (before > 0 && row.cells[before - 1].base == 0 && before > 1) --before;
    if (before > 0) row.cells[before - 1].mark = code;
    return;
  }
  if (column_ + width > kColumns) {
    row.cut = true;
    return;
  }
  if (row.cells.size() < column_ + width) row.cells.resize(column_ + width);
  row.cells[column_] = Cell{code, 0};
  if (width == 2) row.cells[column_ + 1] = Cell{0, 0};
  Paint(row, column_, column_ + width);
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
    default:
      return;
  }
}

void Terminal::Csi(unsigned char final) {
  const int64_t asked = escapes_.First();
  const size_t count = escapes_.Count(kColumns);
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
      if (row().touched) NewLine();
      return MoveTo(0);
    case 'm':
      if (keep_styles_) style_.Apply(escapes_.parameters());
      return;
    default:
      return;  // modes, scrolling
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
    ++settled_;
    if (old.cells.capacity() > 4096) old = Row{};
    old.cells.clear();
    old.styles.clear();
    old.note.clear();
    old.changed = old.seen = old.touched = old.cut = false;
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
  Row& row = this->row();
  if (mode == 0) {
    row.cells.resize(std::min(row.cells.size(), column_));
    row.styles.resize(std::min(row.styles.size(), column_));
  } else if (mode == 1) {
    std::fill_n(row.cells.begin(), std::min(row.cells.size(), column_ + 1), Cell{});
    std::fill_n(row.styles.begin(), std::min(row.styles.size(), column_ + 1), Style{});
  } else {
    row.cells.clear();
    row.styles.clear();
  }
  if (row.cells.empty()) row.cut = false;
}

void Terminal::EraseBelow() {
  EraseLine(0);
  for (size_t i = at_ + 1; i < rows_.size(); ++i) {
    OfferRow(rows_[i]);
    rows_[i].cells.clear();
    rows_[i].styles.clear();
    rows_[i].note.clear();
    rows_[i].cut = false;
  }
}

void Terminal::Offer() {
  OfferRow(row());
}

void Terminal::OfferRow(Row& row) {
  if (!row.changed) return;
  row.changed = false;
  if (!offer_) return;
  const std::string_view text = Text(row);
  if (!text.empty()) offer_(text);
}

std::string_view Terminal::Text(const Row& row) const {
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

// The text with a sequence wherever the style changes, and a plain end.
std::string_view Terminal::StyledText(const Row& row) const {
  if (row.styles.empty()) return Text(row);
  auto style_of = [&](size_t i) { return i < row.styles.size() ? row.styles[i] : Style{}; };
  size_t end = row.cells.size();
  while (end > 0 && row.cells[end - 1].base == U' ' && row.cells[end - 1].mark == 0 &&
         !style_of(end - 1).ShowsOnSpaces()) {
    --end;
  }
  shown_.clear();
  Style now;
  for (size_t i = 0; i < end; ++i) {
    const Style style = style_of(i);
    if (!(style == now)) style.Write(shown_);
    now = style;
    if (row.cells[i].base != 0) AppendUtf8(shown_, row.cells[i].base);
    if (row.cells[i].mark != 0) AppendUtf8(shown_, row.cells[i].mark);
  }
  if (!now.plain()) Style{}.Write(shown_);
  return shown_;
}

size_t Terminal::MemoryUse() const {
  size_t bytes = sizeof *this + shown_.capacity();
  for (const Row& row : rows_)
    bytes += sizeof row + row.cells.capacity() * sizeof(Cell) + row.styles.capacity() * sizeof(Style);
  return bytes;
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
  settled_ += static_cast<int64_t>(rows_.size());
  rows_.clear();
  rows_.emplace_back();
  at_ = column_ = 0;
}

std::vector<std::string> Terminal::LastLines(size_t count) const {
  std::vector<std::string> lines;
  for (auto row = rows_.rbegin(); row != rows_.rend() && lines.size() < count; ++row) {
    std::string text(Text(*row));
    if (text.empty() && lines.empty()) continue;  // below the last text
    lines.push_back(std::move(text));
  }
  std::reverse(lines.begin(), lines.end());
  while (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
  return lines;
}

}  // namespace ty
