#include "posix/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <unordered_map>

#include "posix/files.h"

namespace ty {

std::string BootId() {
  // For tests of reboots, with a state of their own.
  const char* pretend = ::getenv("TRAINYARD_BOOT_ID");
  if (pretend && ::getenv("TRAINYARD_HOME")) return pretend;
  auto text = ReadFile("/proc/sys/kernel/random/boot_id", 128);
  if (!text) return "";
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return *text;
}

namespace {

std::string ProcPath(int pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

}  // namespace

std::optional<ProcessStat> ReadProcessStat(int pid) {
  auto text = ReadFile(ProcPath(pid, "stat"), 4096);
  if (!text) return std::nullopt;
  // The name in brackets may hold anything, brackets too: what we need starts after the last one.
  const size_t bracket = text->rfind(')');
  if (bracket == std::string::npos || bracket + 2 >= text->size()) return std::nullopt;
  const char* at = text->c_str() + bracket + 2;
  ProcessStat stat;
  stat.state = *at++;
  uint64_t field[20] = {};  // fields 4 to 23
  for (uint64_t& value : field) {
    char* end = nullptr;
    value = strtoull(at, &end, 10);
    if (end == at) break;
    at = end;
  }
  stat.parent = static_cast<int>(field[0]);
  stat.group = static_cast<int>(field[1]);
  stat.session = static_cast<int>(field[2]);
  stat.start = field[18];
  return stat;
}

std::optional<uint64_t> ProcessStartTime(int pid) {
  const auto stat = ReadProcessStat(pid);
  if (!stat) return std::nullopt;
  return stat->start;
}

std::vector<int> ListProcesses() {
  std::vector<int> pids;
  DIR* listing = ::opendir("/proc");
  if (listing == nullptr) return pids;
  while (const dirent* entry = ::readdir(listing)) {
    char* end = nullptr;
    const long pid = strtol(entry->d_name, &end, 10);
    if (pid > 0 && *end == '\0') pids.push_back(static_cast<int>(pid));
  }
  ::closedir(listing);
  return pids;
}

std::vector<Process> FindDescendants(int ancestor) {
  std::unordered_map<int, ProcessStat> all;
  for (int pid : ListProcesses()) {
    if (auto stat = ReadProcessStat(pid)) all.emplace(pid, *stat);
  }
  std::vector<Process> found;
  for (const auto& [pid, stat] : all) {
    if (pid == ancestor || stat.state == 'Z' || stat.state == 'X') continue;
    int at = pid;
    // The snapshot is not atomic, so a chain may loop: no real one is longer than there are processes.
    for (size_t steps = 0; steps <= all.size(); ++steps) {
      const auto it = all.find(at);
      if (it == all.end() || it->second.parent == 0) break;
      at = it->second.parent;
      if (at == ancestor) {
        found.push_back({pid, stat.start});
        break;
      }
    }
  }
  return found;
}

std::vector<Process> FindMarked(const std::string& marker) {
  std::vector<Process> found;
  const int self = ::getpid();
  for (int pid : ListProcesses()) {
    if (pid == self) continue;
    const auto before = ReadProcessStat(pid);
    if (!before || before->state == 'Z' || before->state == 'X') continue;
    const auto environment = ReadFile(ProcPath(pid, "environ"), 8 << 20);
    if (!environment) continue;
    const std::string_view text = *environment;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\0', at), text.size());
      if (text.substr(at, end - at) == marker) {
        found.push_back({pid, before->start});
        break;
      }
      at = end + 1;
    }
  }
  return found;
}

bool WritesTo(int pid, const std::string& path) {
  struct stat wanted;
  if (::stat(path.c_str(), &wanted) != 0) return false;
  const std::string folder = ProcPath(pid, "fd");
  const auto names = ListFolder(folder);
  if (!names) return false;
  for (const std::string& name : *names) {
    struct stat link, info;
    const std::string fd = folder + "/" + name;
    // The link's own mode tells how the descriptor was opened.
    if (::lstat(fd.c_str(), &link) != 0 || (link.st_mode & S_IWUSR) == 0) continue;
    if (::stat(fd.c_str(), &info) != 0) continue;
    if (info.st_dev == wanted.st_dev && info.st_ino == wanted.st_ino) return true;
  }
  return false;
}

SysResult<UniqueFd> OpenPidfd(int pid) {
  const long fd = ::syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) return FailErrno(errno);
  return UniqueFd(static_cast<int>(fd));  // close-on-exec by nature
}

SysStatus SignalProcess(const Process& process, int signal) {
  auto pidfd = OpenPidfd(process.pid);
  if (!pidfd && pidfd.error() != ENOSYS) return FailErrno(pidfd.error());
  // The number may have gone to somebody else before the pidfd pinned it: only the start time tells.
  const auto start = ProcessStartTime(process.pid);
  if (!start || *start != process.start) return FailErrno(ESRCH);
  const long sent = pidfd ? ::syscall(SYS_pidfd_send_signal, pidfd->get(), signal, nullptr, 0)
                          : ::kill(process.pid, signal);
  if (sent != 0) return FailErrno();
  return {};
}

namespace {

// A stack for the child, one a thread, kept: mapping it afresh would cost more than the clone.
class ChildStack {
 public:
  static constexpr size_t kSize = 64 * 1024;
  ChildStack()
      : base_(
            ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {}
  ~ChildStack() {
    if (base_ != MAP_FAILED) ::munmap(base_, kSize);
  }
  ChildStack(const ChildStack&) = delete;
  ChildStack& operator=(const ChildStack&) = delete;
  bool ok() const { return base_ != MAP_FAILED; }
  char* base() const { return static_cast<char*>(base_); }

 private:
  void* base_;
};

struct Birth {
  int (*entry)(void*);
  void* argument;
  int join_procs = -1;
  int join_folder = -1;  // when the kernel could not bear it there
  int join_errno = 0;
};

int BeginChild(void* raw) {
  Birth& birth = *static_cast<Birth*>(raw);
  int procs = birth.join_procs;
  if (birth.join_folder >= 0) procs = ::openat(birth.join_folder, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (birth.join_folder >= 0 || birth.join_procs >= 0) {
    if (procs < 0 || ::write(procs, "0", 1) != 1) {
      birth.join_errno = errno;
      return 127;
    }
  }
  return birth.entry(birth.argument);
}

#if defined(__x86_64__)
// clone3 with a stack of the child's own. glibc's wrapper for it is private, and its clone() cannot pass a
// cgroup.
long Clone3(clone_args* args, int (*entry)(void*), void* argument) {
  long result;
  register int (*entry_register)(void*) asm("r12") = entry;
  register void* argument_register asm("r13") = argument;
  asm volatile(
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%ebp, %%ebp\n\t"
      "movq %%r13, %%rdi\n\t"
      "callq *%%r12\n\t"
      "movl %%eax, %%edi\n\t"
      "movl %[exit], %%eax\n\t"
      "syscall\n\t"
      "hlt\n"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone3), "D"(args), "S"(sizeof *args), "r"(entry_register),
        "r"(argument_register), [exit] "i"(SYS_exit)
      : "rcx", "r11", "memory", "cc");
  return result;
}
#else
long Clone3(clone_args*, int (*)(void*), void*) {
  return -ENOSYS;
}
#endif

}  // namespace

SysResult<Child> CloneChild(const CloneOptions& options, int (*entry)(void*), void* argument) {
  thread_local ChildStack stack;
  if (!stack.ok()) return FailErrno(ENOMEM);
  Birth birth{entry, argument, options.join_procs, -1, 0};
  int pidfd = -1;

  // A handler of ours must not run in the child while it shares our memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);

  clone_args args = {};
  args.flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  args.stack = reinterpret_cast<uint64_t>(stack.base());
  args.stack_size = ChildStack::kSize;
  if (options.cgroup >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(options.cgroup);
  }
  long pid = Clone3(&args, BeginChild, &birth);
  if (pid < 0 && (pid == -ENOSYS || pid == -EINVAL || pid == -EPERM || pid == -EACCES || pid == -E2BIG)) {
    // An old kernel, or a sandbox that refuses clone3: plain clone, and the child walks into its cgroup
    // itself.
    birth.join_folder = options.cgroup;
    for (const int flag : {CLONE_PIDFD, 0}) {
      pid = ::clone(BeginChild, stack.base() + ChildStack::kSize, CLONE_VM | CLONE_VFORK | flag | SIGCHLD,
                    &birth, &pidfd);
      if (pid >= 0 || errno != EINVAL) break;
      pidfd = -1;
    }
    if (pid < 0) pid = -errno;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);

  if (pid < 0) return FailErrno(static_cast<int>(-pid));
  if (birth.join_errno != 0) {
    ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
    if (pidfd >= 0) ::close(pidfd);
    return FailErrno(birth.join_errno);
  }
  return Child{static_cast<int>(pid), UniqueFd(pidfd)};
}

void RestoreSignals() {
  struct sigaction plain = {};
  plain.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &plain, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void CloseOnExecFrom(int first) {
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExec = 1U << 2;  // CLOSE_RANGE_CLOEXEC
  if (::syscall(SYS_close_range, first, ~0U, kCloseOnExec) == 0) return;
#endif
  for (int fd = first; fd < 1024; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

}  // namespace ty
