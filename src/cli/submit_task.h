// What run and submit do once the task stands as JSON: send it, print the receipt, wait or follow when asked.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "cli/caller.h"
#include "cli/command.h"

namespace ty {

int SubmitTask(Caller& caller, const Invocation& invocation, const boost::json::object& task);

// With --wait and -f every trouble that is not the task's own is 125 (contracts C14).
int TroubleCode(const Invocation& invocation, int code);

}  // namespace ty
