#include "wire/row_counter.h"

#include <algorithm>
#include <cstring>

#include "wire/terminal.h"

namespace ty {

namespace {

// Eight bytes at a time, and their sums as late as they fit into one byte each.
int64_t CountNewLines(std::string_view bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101, kLow = 0x7F7F7F7F7F7F7F7F, kEven = 0x00FF00FF00FF00FF;
  const char* at = bytes.data();
  size_t words = bytes.size() / 8;
  int64_t count = 0;
  while (words > 0) {
    const size_t block = std::min<size_t>(words, 255);
    uint64_t sums = 0;
    for (size_t i = 0; i < block; ++i, at += 8) {
      uint64_t word;
      std::memcpy(&word, at, 8);
      word ^= kOnes * '\n';
      sums += ~(((word & kLow) + kLow) | word | kLow) >> 7;  // one for each byte that is zero now
    }
    const uint64_t pairs = (sums & kEven) + (sums >> 8 & kEven);
    count += static_cast<int64_t>((pairs * 0x0001000100010001) >> 48);
    words -= block;
  }
  return count + std::count(at, bytes.data() + bytes.size(), '\n');
}

// The next byte of this kind at or behind `at`; looked for again only once it has been passed.
class Next {
 public:
  Next(std::string_view bytes, char byte) : bytes_(bytes), byte_(byte) {}
  size_t From(size_t at) {
    if (found_ >= at && looked_) return found_;
    looked_ = true;
    const void* found = std::memchr(bytes_.data() + at, byte_, bytes_.size() - at);
    found_ = found == nullptr ? bytes_.size()
                              : static_cast<size_t>(static_cast<const char*>(found) - bytes_.data());
    return found_;
  }

 private:
  std::string_view bytes_;
  char byte_;
  size_t found_ = 0;
  bool looked_ = false;
};

// Nothing but new lines counts in these bytes; what else there is decides whether the row was written to.
bool WritesSomething(std::string_view bytes) {
  return std::any_of(bytes.rbegin(), bytes.rend(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7F;
  });
}

}  // namespace

size_t RowCounter::Skim(std::string_view bytes, bool to_new_row) {
  Next escape(bytes, 0x1B), vertical(bytes, '\v'), form(bytes, '\f');
  size_t at = 0;
  while (at < bytes.size()) {
    if (depth_ == 0 && escapes_.at_rest()) {
      size_t end = std::min({escape.From(at), vertical.From(at), form.From(at)});
      std::string_view run = bytes.substr(at, end - at);
      bool new_row = false;
      if (to_new_row) {
        const size_t first = run.find('\n');
        if (first != std::string_view::npos) {
          new_row = true;
          run = run.substr(0, first + 1);
        }
      }
      const int64_t lines = new_row ? 1 : to_new_row ? 0 : CountNewLines(run);
      if (lines > 0) {
        const size_t last = run.rfind('\n') + 1;
        rows_ += lines;
        newest_ = {offset_ + static_cast<int64_t>(last), rows_ - 1, style_};
        touched_ = WritesSomething(run.substr(last));
      } else if (!touched_) {
        touched_ = WritesSomething(run);
      }
      at += run.size();
      offset_ += static_cast<int64_t>(run.size());
      if (new_row) return at;
      if (at >= bytes.size()) break;
      if (const size_t colour = SkimColour(bytes.substr(at)); colour > 0) {
        at += colour;
        offset_ += static_cast<int64_t>(colour);
        continue;
      }
    }
    ++offset_;
    if (Byte(static_cast<unsigned char>(bytes[at++])) && to_new_row) return at;
  }
  return at;
}

// A whole sequence that changes the style and nothing else, which is what most are; its length, or 0.
size_t RowCounter::SkimColour(std::string_view bytes) {
  constexpr size_t kUsual = 24;
  if (!bytes.starts_with("\x1b[")) return 0;
  size_t end = 2;
  while (end < bytes.size() && end < kUsual && bytes[end] >= '0' && bytes[end] <= ';') ++end;
  if (end >= bytes.size() || bytes[end] != 'm') return 0;
  style_.Apply(bytes.substr(2, end - 2));
  return end + 1;
}

bool RowCounter::Byte(unsigned char byte) {
  switch (escapes_.Take(byte)) {
    case Escapes::Gives::kNothing:
      return false;
    case Escapes::Gives::kCsi:
      return Csi(byte);
    case Escapes::Gives::kByte:
      break;
  }
  if (byte == '\n' || byte == '\v' || byte == '\f') return NewLine();
  if (byte >= 0x20 && byte != 0x7F && depth_ == 0) touched_ = true;
  return false;
}

bool RowCounter::Csi(unsigned char final) {
  const int count = static_cast<int>(escapes_.Count(Terminal::kColumns));
  switch (final) {
    case 'A':
    case 'F':
      depth_ = static_cast<int>(
          std::min<int64_t>(std::min<int64_t>(rows_, Terminal::kRows) - 1, depth_ + int64_t{count}));
      return false;
    case 'B':
    case 'E':
      depth_ = std::max(0, depth_ - count);
      return false;
    case 'J':
      if (escapes_.First() == 0) return false;
      [[fallthrough]];
    case 'H':
    case 'f':
      depth_ = 0;
      return touched_ && NewLine();
    case 'm':
      style_.Apply(escapes_.parameters());
      return false;
    default:
      return false;
  }
}

bool RowCounter::NewLine() {
  if (depth_ > 0) {
    --depth_;
    return false;
  }
  ++rows_;
  touched_ = false;
  newest_ = {offset_, rows_ - 1, style_};
  return true;
}

void RowCounter::Note(int64_t offset) {
  escapes_ = {};
  style_ = {};
  depth_ = 0;
  if (touched_) NewLine();
  offset_ = offset;
  NewLine();
}

}  // namespace ty
