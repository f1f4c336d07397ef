// The texts of --help, made from the tables of commands in the reader's language.
#pragma once

#include <string>

#include "cli/caller.h"
#include "cli/command.h"

namespace ty {
std::string Help(const Caller& caller);
std::string HelpOf(const Caller& caller, const Command& command);
}  // namespace ty
