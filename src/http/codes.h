// Codes are minted for the owner over the socket; each signs one browser in, once and within five minutes.
// They live in memory, as hashes. Guessing is slowed for everybody: after twenty wrong codes within a minute
// none is right until that minute is over or the owner mints another.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "base/time.h"

namespace ty {

class Codes {
 public:
  struct Minted {
    std::string code;
    Time expires;
  };
  Minted Mint(Time now);  // the oldest of 16 makes room

  enum class Verdict : uint8_t { kRight, kWrong, kTooMany };
  Verdict Spend(std::string_view code, Time now);

 private:
  struct Code {
    std::string hash;
    Time made;
  };
  std::deque<Code> codes_;
  int wrong_ = 0;
  Time wrong_since_;
};

}  // namespace ty
