// The command line: reads argv, runs one command, returns its exit code (contracts C14). It talks only to the
// API over the yard's socket; `daemon` is what `up --foreground` calls and
// `recover` what the command of that name does.
#pragma once

#include "cli/caller.h"
#include "cli/daemon_options.h"

namespace ty {
int RunCli(int argc, char** argv, DaemonMain daemon, RecoverMain recover);
}
