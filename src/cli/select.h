// How people name tasks on the command line: 12, 3-9, 12.2 (an attempt), a name, @last.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ty {

struct AttemptChoice {
  std::string task;  // 12, a name or @last
  int attempt = 0;   // 0: the newest
};
AttemptChoice ChooseAttempt(std::string_view word);

// Ranges written out, every task once, in the order given. A range the wrong way round or over 10,000 is
// refused.
Result<std::vector<std::string>> SpreadRanges(const std::vector<std::string>& words);

struct AfterChoice {
  std::string task, on;  // on: ok, fail, any
};
// "12", "12:any", "prep:fail", "@last".
Result<AfterChoice> ParseAfter(std::string_view text);

}  // namespace ty
