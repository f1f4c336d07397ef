#include "engine/local/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail_point.h"
#include "posix/files.h"
#include "posix/sockets.h"
#include "wire/spec.h"

namespace ty {

namespace {

constexpr int kLink = 3;

struct Birth {
  const char* program;
  const char* folder;
  const char* lease_count;
  const char* variable;  // or null
  int link, null;
  int* leases;
  int leases_size;
  int error = 0;
};

// All out of the way first, above everything in use below: one of them may be where another is to go. Then
// each to its place.
bool Arrange(Birth& birth) {
  using wire::kFirstLease;
  const int above = kFirstLease + birth.leases_size;
  const int link = ::fcntl(birth.link, F_DUPFD, above), null = ::fcntl(birth.null, F_DUPFD, above);
  for (int i = 0; i < birth.leases_size; ++i) {
    birth.leases[i] = ::fcntl(birth.leases[i], F_DUPFD, above);
    if (birth.leases[i] < 0) return false;
  }
  CloseOnExecFrom(3);
  // What dup2 makes stays open at execve.
  for (int i = 0; i < birth.leases_size; ++i) {
    if (::dup2(birth.leases[i], kFirstLease + i) < 0) return false;
  }
  return link >= 0 && null >= 0 && ::dup2(null, 0) == 0 && ::dup2(null, 1) == 1 && ::dup2(null, 2) == 2 &&
         ::dup2(link, kLink) == kLink;
}

// In the child, in our memory: system calls only.
int BeginShim(void* raw) {
  Birth& birth = *static_cast<Birth*>(raw);
  RestoreSignals();
  ::setsid();
  if (Arrange(birth)) {
    char* const argv[] = {const_cast<char*>("trainyard-shim"), const_cast<char*>(birth.folder),
                          const_cast<char*>("3"), const_cast<char*>(birth.lease_count), nullptr};
    char* const environment[] = {const_cast<char*>(birth.variable), nullptr};
    ::execve(birth.program, argv, environment);
  }
  birth.error = errno;
  return 127;
}

}  // namespace

SysResult<SpawnedShim> SpawnShim(const std::string& program, const std::string& folder, int cgroup,
                                 std::vector<int> leases) {
  auto ends = MakePacketPair();
  if (!ends) return FailErrno(ends.error());
  auto null = OpenAt(AT_FDCWD, "/dev/null", O_RDWR);
  if (!null) return FailErrno(null.error());
  const std::string count = std::to_string(leases.size());
  const char* armed = ArmedFailPoints();
  const std::string variable = armed != nullptr ? "TRAINYARD_FAIL=" + std::string(armed) : std::string();
  Birth birth{
      program.c_str(),    folder.c_str(), count.c_str(), armed != nullptr ? variable.c_str() : nullptr,
      ends->second.get(), null->get(),    leases.data(), static_cast<int>(leases.size())};
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
