#include "engine/local/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "posix/files.h"
#include "posix/sockets.h"

namespace ty {

namespace {

constexpr int kLink = 3;

struct Birth {
  const char* program;
  const char* folder;
  int link, null;
  int error = 0;
};

// In the child, in our memory: system calls only.
int BeginShim(void* raw) {
  Birth& birth = *static_cast<Birth*>(raw);
  RestoreSignals();
  ::setsid();
  // Out of the way first: one of them may be where another is to go.
  const int link = ::fcntl(birth.link, F_DUPFD, 10), null = ::fcntl(birth.null, F_DUPFD, 10);
  if (link >= 0 && null >= 0 && ::dup2(null, 0) == 0 && ::dup2(null, 1) == 1 && ::dup2(null, 2) == 2 &&
      ::dup2(link, kLink) == kLink) {
    CloseOnExecFrom(kLink + 1);
    char* const argv[] = {const_cast<char*>("trainyard-shim"), const_cast<char*>(birth.folder),
                          const_cast<char*>("3"), nullptr};
    char* const environment[] = {nullptr};
    ::execve(birth.program, argv, environment);
  }
  birth.error = errno;
  return 127;
}

}  // namespace

SysResult<SpawnedShim> SpawnShim(const std::string& program, const std::string& folder, int cgroup) {
  auto ends = MakePacketPair();
  if (!ends) return FailErrno(ends.error());
  auto null = OpenAt(AT_FDCWD, "/dev/null", O_RDWR);
  if (!null) return FailErrno(null.error());
  Birth birth{program.c_str(), folder.c_str(), ends->second.get(), null->get()};
  CloneOptions options;
  options.cgroup = cgroup;
  auto child = CloneChild(options, BeginShim, &birth);
  if (!child) return FailErrno(child.error());
  if (birth.error != 0) {
    while (::waitpid(child->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return FailErrno(birth.error);
  }
  return SpawnedShim{std::move(*child), std::move(ends->first)};
}

}  // namespace ty
