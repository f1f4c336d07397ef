// What a submit is answered with, for people.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "cli/caller.h"

namespace ty {

// Prints it; `to_stderr` where stdout belongs to the task's log.
void PrintReceipt(const Caller& caller, const boost::json::value& receipt, bool to_stderr);

}  // namespace ty
