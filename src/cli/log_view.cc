#include "cli/log_view.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/table.h"

namespace ty {
namespace {

constexpr size_t kLongestLine = 65536;
constexpr char32_t kReplacement = 0xFFFD;

size_t LengthOf(unsigned char first) {
  return first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
}

char32_t Decoded(const std::string& bytes) {
  char32_t code = static_cast<unsigned char>(bytes[0]) & (0xFF >> (bytes.size() + 1));
  for (size_t i = 1; i < bytes.size(); ++i) code = code << 6 | (static_cast<unsigned char>(bytes[i]) & 0x3F);
  return code;
}

// What turns the reading direction or is a control letter of its own.
bool Shown(char32_t code) {
  return !(code < 0x20 && code != '\t') && !(code >= 0x7F && code < 0xA0) &&
         !(code >= 0x202A && code <= 0x202E) && !(code >= 0x2066 && code <= 0x2069) && code != 0x200E &&
         code != 0x200F && code != 0x2028 && code != 0x2029;
}

}  // namespace

std::string LogView::Feed(std::string_view bytes) {
  std::string out;
  for (char byte : bytes) Take(static_cast<unsigned char>(byte), out);
  if (live_width_ > 0 && changed_) {
    out += "\r\x1b[K" + Clip(LineText(), live_width_ - 1);
    painted_ = true;
    changed_ = false;
  }
  return out;
}

std::string LogView::Finish() {
  std::string out;
  if (!partial_.empty()) {
    partial_.clear();
    Put(kReplacement, out);
  }
  if (!line_.empty()) EndLine(out);
  return out;
}

void LogView::Take(unsigned char byte, std::string& out) {
  switch (mode_) {
    case Mode::kText:
      TakeText(byte, out);
      return;
    case Mode::kEscape:
      control_.clear();
      if (byte == '[') {
        mode_ = Mode::kControl;
      } else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_') {
        mode_ = Mode::kString;
      } else if (byte < 0x20 || byte > 0x2F) {  // the last byte of a short sequence
        mode_ = Mode::kText;
        if (byte < 0x20) TakeText(byte, out);
      }
      return;
    case Mode::kControl:
      if (byte >= 0x40 && byte <= 0x7E) {
        EndControl(static_cast<char>(byte));
        mode_ = Mode::kText;
      } else if (byte < 0x20 || byte > 0x3F) {  // broken: the byte is text again
        mode_ = Mode::kText;
        TakeText(byte, out);
      } else if (control_.size() < 32) {
        control_ += static_cast<char>(byte);
      }
      return;
    case Mode::kString:  // a title or a link: dropped up to its end; a newline ends what never ended
      if (byte == 0x07) mode_ = Mode::kText;
      if (byte == 0x1B) mode_ = Mode::kStringEscape;
      if (byte == '\n') {
        mode_ = Mode::kText;
        TakeText(byte, out);
      }
      return;
    case Mode::kStringEscape:
      mode_ = byte == '\\' ? Mode::kText : Mode::kString;
      return;
  }
}

void LogView::TakeText(unsigned char byte, std::string& out) {
  if (!partial_.empty()) {
    if ((byte & 0xC0) == 0x80) {
      partial_ += static_cast<char>(byte);
      if (partial_.size() < LengthOf(static_cast<unsigned char>(partial_[0]))) return;
      std::string letter = std::move(partial_);
      partial_.clear();
      Put(IsUtf8(letter) ? Decoded(letter) : kReplacement, out);
      return;
    }
    partial_.clear();
    Put(kReplacement, out);
  }
  if (byte >= 0xC2 && byte <= 0xF4) {
    partial_ = static_cast<char>(byte);
  } else if (byte >= 0x80) {
    Put(kReplacement, out);
  } else if (byte == '\n') {
    EndLine(out);
  } else if (byte == '\r') {
    cursor_ = 0;
  } else if (byte == '\b') {
    if (cursor_ > 0) --cursor_;
  } else if (byte == 0x1B) {
    mode_ = Mode::kEscape;
  } else {
    Put(byte, out);
  }
}

void LogView::Put(char32_t letter, std::string& out) {
  if (!Shown(letter)) return;
  if (cursor_ >= kLongestLine) EndLine(out);
  if (cursor_ < line_.size()) {
    line_[cursor_] = letter;
  } else {
    line_.push_back(letter);
  }
  ++cursor_;
  changed_ = true;
}

void LogView::EndLine(std::string& out) {
  if (painted_) out += "\r\x1b[K";
  out += LineText() + "\n";
  line_.clear();
  cursor_ = 0;
  painted_ = false;
  changed_ = false;
}

// Of the control sequences only those that progress bars use to clear and move within their line count.
void LogView::EndControl(char final) {
  if (final == 'K') {
    if (control_.empty() || control_ == "0") line_.resize(std::min(cursor_, line_.size()));
    if (control_ == "1") std::fill_n(line_.begin(), std::min(cursor_, line_.size()), U' ');
    if (control_ == "2") line_.assign(std::min(cursor_, line_.size()), U' ');
    changed_ = true;
  }
  if (final == 'G') {
    size_t column = static_cast<size_t>(std::max(1, std::atoi(control_.c_str()))) - 1;
    cursor_ = std::min(column, line_.size());
  }
}

std::string LogView::LineText() const {
  std::string text;
  for (char32_t letter : line_) AppendUtf8(text, letter);
  return text;
}

}  // namespace ty
