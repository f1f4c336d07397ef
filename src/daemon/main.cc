#include <stdlib.h>

#include <string_view>

#include "cli/cli.h"
#include "daemon/daemon.h"
#include "daemon/recover.h"
#include "os/device_watch.h"

int main(int argc, char** argv) {
  // Not for people: the daemon starts itself so to ask NVML in a process that may hang or crash alone.
  if (argc == 2 && std::string_view(argv[1]) == "probe-devices") {
    const char* library = getenv("TRAINYARD_NVML");
    return ty::RunProbeHelper(library == nullptr ? "" : library);
  }
  return ty::RunCli(argc, argv, &ty::RunDaemon, &ty::RecoverHome);
}
