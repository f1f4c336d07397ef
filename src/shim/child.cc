#include "shim/child.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "posix/files.h"

namespace ty {

namespace {

constexpr size_t kCpuSets = 16;  // 16 x 1,024 CPUs

struct Birth {
  char* const* argv;
  char* const* environment;
  const char* workdir;
  const char* oom_score;
  int null, log, leases;
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
  for (int lease = 0; lease < birth.leases; ++lease) {
    if (::fcntl(wire::kFirstLease + lease, F_SETFD, 0) != 0) return fail("lease");
  }
  if (birth.oom_score[0] != '\0' && !RestoreOomScore(birth.oom_score)) return fail("oom_score");
  if (birth.pin && ::sched_setaffinity(0, sizeof birth.cpus, birth.cpus) != 0) return fail("affinity");
  if (::chdir(birth.workdir) != 0) return fail("chdir");
  ::execve(birth.argv[0], birth.argv, birth.environment);
  return fail("exec");
}

void AddPointers(const std::vector<std::string>& words, std::vector<char*>& to) {
  to.reserve(to.size() + words.size() + 1);
  for (const std::string& word : words) to.push_back(const_cast<char*>(word.c_str()));
}

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// The attempt's variables and the rank's own, which win.
std::vector<char*> EnvironmentOf(const wire::ShimSpec& spec, const std::vector<std::string>& own) {
  std::vector<char*> pointers;
  AddPointers(spec.environment, pointers);
  std::erase_if(pointers, [&](const char* variable) {
    return std::any_of(own.begin(), own.end(), [&](auto& word) { return NameOf(word) == NameOf(variable); });
  });
  AddPointers(own, pointers);
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

StartFailure Birthplace::Prepare() {
  // Without a slash the kernel would look into the working folder, which nobody asked for.
  if (spec_.argv[0].find('/') == std::string::npos) return {ENOENT, "exec"};
  auto null = OpenAt(AT_FDCWD, "/dev/null", O_RDONLY);
  if (!null) return {null.error(), "stdin"};
  null_ = std::move(*null);

  const Cgroup leaf{ParseContainment(spec_.containment).value_or(Containment::kSubreaper), spec_.cgroup};
  if (!leaf) return {};
  if (auto made = leaf.Make(); !made) return {made.error(), "cgroup"};
  const bool v2 = leaf.kind == Containment::kCgroup2;
  auto opened =
      v2 ? OpenFolder(leaf.path) : OpenAt(AT_FDCWD, (leaf.path + "/cgroup.procs").c_str(), O_WRONLY);
  if (!opened) return {opened.error(), "cgroup"};
  cgroup_ = std::move(*opened);
  (v2 ? options_.cgroup : options_.join_procs) = cgroup_.get();
  return {};
}

tl::expected<Child, StartFailure> Birthplace::Start(size_t rank, int log) const {
  static const wire::ShimSpec::Rank kOnly;
  const wire::ShimSpec::Rank& own = rank < spec_.ranks.size() ? spec_.ranks[rank] : kOnly;
  std::vector<char*> argv;
  AddPointers(spec_.argv, argv);
  argv.push_back(nullptr);
  const std::vector<char*> environment = EnvironmentOf(spec_, own.environment);
  const std::vector<int>& cpus = own.cpus.empty() ? spec_.cpus : own.cpus;

  Birth birth = {};
  birth.argv = argv.data();
  birth.environment = environment.data();
  birth.workdir = spec_.workdir.c_str();
  birth.oom_score = oom_score_.c_str();
  birth.null = null_.get();
  birth.log = log;
  birth.leases = leases_;
  birth.mask = static_cast<mode_t>(spec_.umask);
  birth.pin = !cpus.empty();
  for (const int cpu : cpus) {
    if (static_cast<size_t>(cpu) < kCpuSets * CPU_SETSIZE) CPU_SET_S(cpu, sizeof birth.cpus, birth.cpus);
  }

  auto child = CloneChild(options_, BeginTask, &birth);
  if (!child) return tl::make_unexpected(StartFailure{child.error(), "fork"});
  if (birth.failure.error != 0) {
    while (::waitpid(child->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return tl::make_unexpected(birth.failure);
  }
  return std::move(*child);
}

}  // namespace ty
