// The five facts of a running yard, for `up` and `status`: address, devices, state folder, logout, reboot.
#pragma once

#include <boost/json/fwd.hpp>

#include "cli/caller.h"

namespace ty {
// What a person should know of the yard's disk and backups, on stderr; nothing when all is well.
void SayTroubleOfState(const Caller& caller, const boost::json::value& status);

void PrintFacts(const Caller& caller, const boost::json::value& status);
}  // namespace ty
