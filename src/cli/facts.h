// The five facts of a running yard, for `up` and `status`: address, devices, state folder, logout, reboot.
#pragma once

#include <boost/json/fwd.hpp>

#include "cli/caller.h"

namespace ty {
void PrintFacts(const Caller& caller, const boost::json::value& status);
}
