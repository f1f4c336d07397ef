// Programs of the machine, asked for a short answer.
#pragma once

#include <string>
#include <vector>

namespace ty {

struct Said {
  enum class Both : bool { kNo, kYes };  // standard error too
  int code = 127;                        // 127: it could not be started; 128 + a signal
  std::string text;                      // at most 4 kB, without the last line's end
};
// Runs it with no input and gives it 10 s.
Said RunOutside(const std::vector<std::string>& words, Said::Both both = Said::Both::kNo);

std::string LastLine(const std::string& text);

}  // namespace ty
