#include "shim/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "posix/cgroups.h"
#include "posix/files.h"

namespace ty {

namespace {

constexpr size_t kCpuSets = 16;  // 16 x 1,024 CPUs

struct Birth {
  char* const* argv;
  char* const* environment;
  const char* workdir;
  const char* oom_score;
  int null, log;
  mode_t mask;
  bool pin;
  cpu_set_t cpus[kCpuSets];
  StartFailure failure;
};

bool RestoreOomScore(const char* score) {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, score, strlen(score)) > 0;
  ::close(fd);
  return written;
}

// Runs in the child, in our memory: system calls only.
int BeginTask(void* raw) {
  Birth& birth = *static_cast<Birth*>(raw);
  auto fail = [&](const char* step) {
    birth.failure = {errno, step};
    return 127;
  };
  ::setsid();
  RestoreSignals();
  ::umask(birth.mask);
  if (::dup2(birth.null, 0) < 0) return fail("stdin");
  if (::dup2(birth.log, 1) < 0 || ::dup2(birth.log, 2) < 0) return fail("log");
  CloseOnExecFrom(3);
  if (birth.oom_score[0] != '\0' && !RestoreOomScore(birth.oom_score)) return fail("oom_score");
  if (birth.pin && ::sched_setaffinity(0, sizeof birth.cpus, birth.cpus) != 0) return fail("affinity");
  if (::chdir(birth.workdir) != 0) return fail("chdir");
  ::execve(birth.argv[0], birth.argv, birth.environment);
  return fail("exec");
}

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

SysResult<Child> StartTask(const wire::ShimSpec& spec, int log, const std::string& oom_score,
                           StartFailure& failure) {
  auto fail = [&](const char* step, int error) {
    failure = {error, step};
    return FailErrno(error);
  };
  // Without a slash the kernel would look into the working folder, which nobody asked for.
  if (spec.argv[0].find('/') == std::string::npos) return fail("exec", ENOENT);

  auto null = OpenAt(AT_FDCWD, "/dev/null", O_RDONLY);
  if (!null) return fail("stdin", null.error());

  CloneOptions options;
  UniqueFd cgroup;
  const Cgroup leaf{ParseContainment(spec.containment).value_or(Containment::kSubreaper), spec.cgroup};
  if (leaf) {
    if (auto made = leaf.Make(); !made) return fail("cgroup", made.error());
    const bool v2 = leaf.kind == Containment::kCgroup2;
    auto opened =
        v2 ? OpenFolder(leaf.path) : OpenAt(AT_FDCWD, (leaf.path + "/cgroup.procs").c_str(), O_WRONLY);
    if (!opened) return fail("cgroup", opened.error());
    cgroup = std::move(*opened);
    (v2 ? options.cgroup : options.join_procs) = cgroup.get();
  }

  const std::vector<char*> argv = Pointers(spec.argv), environment = Pointers(spec.environment);
  Birth birth = {};
  birth.argv = argv.data();
  birth.environment = environment.data();
  birth.workdir = spec.workdir.c_str();
  birth.oom_score = oom_score.c_str();
  birth.null = null->get();
  birth.log = log;
  birth.mask = static_cast<mode_t>(spec.umask);
  birth.pin = !spec.cpus.empty();
  for (const int cpu : spec.cpus) {
    if (static_cast<size_t>(cpu) < kCpuSets * CPU_SETSIZE) CPU_SET_S(cpu, sizeof birth.cpus, birth.cpus);
  }

  auto child = CloneChild(options, BeginTask, &birth);
  if (!child) return fail("fork", child.error());
  if (birth.failure.error != 0) {
    while (::waitpid(child->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return fail(birth.failure.step, birth.failure.error);
  }
  return child;
}

}  // namespace ty
