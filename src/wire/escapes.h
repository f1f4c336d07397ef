// Escapes finds where control sequences of a terminal begin and end in a stream of bytes. What becomes of
// them is the reader's business; whoever counts rows and whoever draws them must agree on this much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ty {

class Escapes {
 public:
  enum class Gives : uint8_t {
    kByte,     // the byte is text or a control character
    kNothing,  // it is part of a sequence
    kCsi,      // it ends a control sequence with these parameters()
  };

  Gives Take(unsigned char byte);
  bool at_rest() const { return state_ == State::kText; }
  std::string_view parameters() const { return parameters_; }
  // The first of them, at least 1 and at most `most`: how far to move.
  size_t Count(size_t most) const;
  int64_t First() const;  // as it stands; 0 when there is none

 private:
  enum class State : uint8_t { kText, kEscape, kEscapeOne, kCsi, kString, kStringEscape };

  State state_ = State::kText;
  std::string parameters_;
  size_t swallowed_ = 0;  // bytes of a string sequence
};

}  // namespace ty
