// Cuts the words of `run` into its own options and the command, which is kept byte for byte.
// Options stop at the first word that is none, or at `--`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace ty {

struct Cut {
  std::vector<std::string> options, command;
};

// Refuses an option it does not know, naming the nearest: a misspelt one is never taken as the command.
Result<Cut> CutCommand(const std::vector<std::string>& words, const std::vector<Option>& options);

// The option that the next word is the value of, when `word` is one that takes it so; else null.
const Option* TakesNext(std::string_view word, const std::vector<Option>& options);
const Option* FindOption(std::string_view name, const std::vector<Option>& options);  // "-g", "--gpus"

// The complaint on a word that starts with a dash and is no option; an em dash typed for `--` is named.
Error UnknownOption(std::string_view word, const std::vector<Option>& options, const char* command);
bool StartsWithLongDash(std::string_view word);  // — – ― − and their like

}  // namespace ty
