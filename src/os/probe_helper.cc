// The helper process of the probe. NVML is initialised here and nowhere else, after the process began, and
// nothing is forked afterwards: handles do not survive that.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fcntl.h>

#include "os/gpu_look.h"
#include "os/report_json.h"
#include "posix/files.h"

namespace ty {

namespace {

// Whatever the driver prints must not get between our lines: they go out by a descriptor of their own.
UniqueFd TakeStdout() {
  UniqueFd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return out;
}

}  // namespace

int RunProbeHelper(const std::string& library) {
  const rlimit no_core = {0, 0};  // it may crash, and nobody wants the core of a daemon's helper each time
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(SIGPIPE, SIG_IGN);
  const UniqueFd out = TakeStdout();
  GpuLook look(library);
  std::string asked;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    asked.append(buffer, static_cast<size_t>(n));
    for (size_t end; (end = asked.find('\n')) != std::string::npos; asked.erase(0, end + 1)) {
      if (!WriteAll(out.get(), ReportLine(look.Look()))) return 0;
    }
    if (asked.size() > sizeof buffer) return 2;  // not somebody who speaks with us
  }
}

}  // namespace ty
