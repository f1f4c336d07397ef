// Style is how a cell of a terminal looks: colours and attributes in one word, so that comparing and copying
// cost nothing. Zero is plain.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ty {

class Style {
 public:
  // What a sequence `ESC [ parameters m` makes of it. Knows 0 to 9 and their ends 21 to 29, the sixteen
  // colours, 38 and 48 with 5 or 2; everything else is passed over.
  void Apply(std::string_view parameters);
  // The sequence that brings a terminal in any style to this one.
  void Write(std::string& out) const;

  bool plain() const { return bits_ == 0; }
  // Whether a space of it can be told from nothing.
  bool ShowsOnSpaces() const;
  bool operator==(const Style&) const = default;

 private:
  // Bits 0 to 8: attributes 1 to 9. From 10 on 27 bits of the foreground, from 37 on of the background: a
  // kind, then its value.
  uint64_t bits_ = 0;
};

}  // namespace ty
