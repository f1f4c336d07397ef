// trainyard-shim FOLDER [FD [LEASES]]: supervises the one attempt whose folder this is, then leaves. FD is a
// connected socket to the daemon that started it, LEASES the number of host leases it is handed, descriptors
// from wire::kFirstLease on. People do not start it by hand.
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fail_point.h"
#include "posix/fd.h"
#include "shim/supervisor.h"
#include "wire/spec.h"

namespace {

void CloseRange(int first, int last) {
#ifdef SYS_close_range
  if (first <= last) ::syscall(SYS_close_range, first, last, 0U);
#endif
}

// Nothing else of whoever started us stays open, and the standard streams exist.
void CleanDescriptors(int link, int leases) {
  int null = ::open("/dev/null", O_RDWR);
  while (null >= 0 && null < 3) null = ::dup(null);
  if (null > 2) ::close(null);
  if (link >= 0) ::fcntl(link, F_SETFD, FD_CLOEXEC);
  CloseRange(3, link - 1);
  CloseRange(link < 3 ? 3 : link + 1, ty::wire::kFirstLease - 1);
  CloseRange(ty::wire::kFirstLease + leases, INT_MAX);
}

}  // namespace

int main(int argc, char** argv, char** environment) {
  if (argc < 2 || argc > 4) {
    constexpr char kUsage[] = "trainyard-shim is started by trainyard: trainyard-shim FOLDER [FD [LEASES]]\n";
    (void)!::write(2, kUsage, sizeof kUsage - 1);
    return 2;
  }
  const int link = argc >= 3 ? atoi(argv[2]) : -1, leases = argc == 4 ? atoi(argv[3]) : 0;
  if (argc >= 3 && (link < 3 || link >= ty::wire::kFirstLease)) return 2;
  if (leases < 0 || leases > 4096) return 2;
  CleanDescriptors(link, leases);
  // Nothing is there but when fail points are armed.
  if (environment[0] != nullptr) ty::ArmFailPoints(getenv("TRAINYARD_FAIL"));
  ty::Supervisor supervisor(argv[1], ty::UniqueFd(link), leases);
  // No destructors: the lock goes with the process, not before it.
  ::_exit(supervisor.Run());
}
