// The five facts of a running yard, for `up` and `status`: address, devices, state folder, logout, reboot.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "cli/caller.h"

namespace ty {
// Runs that are alive and that the state does not know, a sentence each; and what takes them in.
std::vector<Message> StraysOf(const Caller& caller, const boost::json::value& status);
inline constexpr char kTakeStraysIn[] = "trainyard down; trainyard recover; trainyard up";

// What a person should know of the yard's disk and backups, on stderr; nothing when all is well.
void SayTroubleOfState(const Caller& caller, const boost::json::value& status);

// The line that brings the page to the machine the user sits at, as "ssh -L 7788:127.0.0.1:7788
// ann@10.0.0.5"; empty when this is no SSH session.
std::string TunnelLine(const std::string& url);

void PrintFacts(const Caller& caller, const boost::json::value& status);
}  // namespace ty
