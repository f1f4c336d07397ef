// Starting the yard from the command line, detached as tmux does it (contracts C9).
#pragma once

#include <optional>
#include <string>

#include "base/paths.h"
#include "base/result.h"
#include "cli/daemon_options.h"
#include "posix/fd.h"

namespace ty {

class Caller;

// What `up` was given; kept in the state folder and used again by the next start.
struct StartOptions {
  std::string devices, listen, config;
  std::string web_folder;  // not kept
  bool operator==(const StartOptions&) const = default;
};
StartOptions KeptStartOptions(const StatePaths& state);
SysStatus KeepStartOptions(const StatePaths& state, const StartOptions& options);

// Since when the yard is down by intent.
std::optional<Time> DownSince(const StatePaths& state);
SysStatus MarkDown(const StatePaths& state);
void ClearDownMark(const StatePaths& state);

// Makes the state folder, private; says what is wrong with it otherwise. The usual place is left for a disk
// of this machine when it lies on the network and nothing is there yet: said, and written to the config
// (home.cc).
Status PrepareHome(Caller& caller);

DaemonOptions DaemonOptionsFor(const Caller& caller, const StartOptions& options);

// Starts a yard in a process of its own and returns when it answers. When another process was quicker to
// start one, that one is waited for: `own` tells which.
struct Started {
  bool own = true;
  int pid = 0;
};
Result<Started> StartYard(Caller& caller, const StartOptions& options);

}  // namespace ty
