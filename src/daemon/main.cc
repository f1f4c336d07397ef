#include "cli/cli.h"
#include "daemon/daemon.h"

int main(int argc, char** argv) {
  return ty::RunCli(argc, argv, &ty::RunDaemon);
}
