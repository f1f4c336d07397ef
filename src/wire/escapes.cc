#include "wire/escapes.h"

#include <algorithm>

#include "base/text.h"

namespace ty {

namespace {

constexpr size_t kMostParameters = 64;
constexpr size_t kMostString = 4096;  // a title that never ends must not swallow the log

}  // namespace

Escapes::Gives Escapes::Take(unsigned char byte) {
  switch (state_) {
    case State::kText:
      if (byte != 0x1B) return Gives::kByte;
      state_ = State::kEscape;
      return Gives::kNothing;
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
        return Take(byte);
      }
      return Gives::kNothing;
    case State::kEscapeOne:
      state_ = State::kText;
      return byte < 0x20 ? Take(byte) : Gives::kNothing;
    case State::kCsi:
      if (byte < 0x20) {  // a sequence cut off by a new line
        state_ = State::kText;
        return Take(byte);
      }
      if (byte >= 0x40 && byte < 0x7F) {
        state_ = State::kText;
        return Gives::kCsi;
      }
      if (byte >= 0x7F || parameters_.size() >= kMostParameters) {
        state_ = State::kText;
      } else {
        parameters_ += static_cast<char>(byte);
      }
      return Gives::kNothing;
    case State::kString:
    case State::kStringEscape:
      if (byte == 0x07 || (state_ == State::kStringEscape && byte == '\\')) {
        state_ = State::kText;
      } else if (byte == '\n' || ++swallowed_ > kMostString) {
        state_ = State::kText;
        if (byte == '\n') return Gives::kByte;
      } else {
        state_ = byte == 0x1B ? State::kStringEscape : State::kString;
      }
      return Gives::kNothing;
  }
  return Gives::kNothing;
}

int64_t Escapes::First() const {
  return ParseInt(parameters().substr(0, parameters_.find(';'))).value_or(0);
}

size_t Escapes::Count(size_t most) const {
  return static_cast<size_t>(std::clamp<int64_t>(First(), 1, static_cast<int64_t>(most)));
}

}  // namespace ty
