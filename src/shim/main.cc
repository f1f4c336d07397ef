// trainyard-shim FOLDER [FD]: supervises the one attempt whose folder this is, then leaves. FD is a connected
// socket to the daemon that started it. People do not start it by hand.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "posix/fd.h"
#include "shim/supervisor.h"

namespace {

// Nothing of whoever started us stays open, and the standard streams exist.
void CleanDescriptors(int link) {
  int null = ::open("/dev/null", O_RDWR);
  while (null >= 0 && null < 3) null = ::dup(null);
  if (null > 2) ::close(null);
  if (link >= 0) ::fcntl(link, F_SETFD, FD_CLOEXEC);
#ifdef SYS_close_range
  if (link > 3) ::syscall(SYS_close_range, 3U, static_cast<unsigned>(link - 1), 0U);
  ::syscall(SYS_close_range, static_cast<unsigned>(std::max(link, 2) + 1), ~0U, 0U);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    constexpr char kUsage[] = "trainyard-shim is started by trainyard: trainyard-shim FOLDER [FD]\n";
    (void)!::write(2, kUsage, sizeof kUsage - 1);
    return 2;
  }
  const int link = argc == 3 ? atoi(argv[2]) : -1;
  if (argc == 3 && link < 3) return 2;
  CleanDescriptors(link);
  ty::Supervisor supervisor(argv[1], ty::UniqueFd(link));
  // No destructors: the lock goes with the process, not before it.
  ::_exit(supervisor.Run());
}
