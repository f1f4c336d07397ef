// The daemon: opens store, engine, ingest, server and Yard, and runs the Yard's loop until it is asked to
// end.
#pragma once

#include "cli/daemon_options.h"

namespace ty {

// Exit codes: 0 ended as asked, 1 could not start, 70 the store failed while running (the next start takes
// its word).
int RunDaemon(const DaemonOptions& options);

}  // namespace ty
