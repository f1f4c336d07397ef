// Parse reads the options of one command, and of that one alone: registering all verbs costs half a
// millisecond. The only file that includes CLI11 is parse.cc.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"

namespace ty {

// `words` is what follows the verb. Common options are read with the command's own.
Result<Invocation> Parse(const Command& command, const std::vector<std::string>& words);

}  // namespace ty
