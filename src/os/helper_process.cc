#include "os/helper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ty {

namespace {

constexpr size_t kLineLimit = 16 << 20;

struct Birth {
  int socket;
  const char* program;
  char* const* argv;
  char* const* envp;
};

int BecomeHelper(void* raw) {
  const Birth& birth = *static_cast<const Birth*>(raw);
  RestoreSignals();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // of the watch's thread, which lives as long as the daemon
  if (::dup2(birth.socket, STDIN_FILENO) < 0 || ::dup2(birth.socket, STDOUT_FILENO) < 0) return 127;
  CloseOnExecFrom(3);
  if (::chdir("/") != 0) return 127;
  ::execve(birth.program, birth.argv, birth.envp);
  return 127;
}

}  // namespace

SysResult<HelperProcess> HelperProcess::Start(const std::string& program,
                                              const std::vector<std::string>& variables) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return FailErrno(errno);
  UniqueFd ours(pair[0]), its(pair[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  std::string word = "probe-devices";
  char* argv[] = {const_cast<char*>(program.c_str()), word.data(), nullptr};
  std::vector<char*> envp;
  for (const std::string& variable : variables) envp.push_back(const_cast<char*>(variable.c_str()));
  envp.push_back(nullptr);
  Birth birth{its.get(), program.c_str(), argv, envp.data()};
  auto child = CloneChild({}, BecomeHelper, &birth);
  if (!child) return FailErrno(child.error());
  return HelperProcess(std::move(ours), child->pid);
}

bool HelperProcess::Ask() {
  constexpr char kLook[] = "look\n";
  return ::send(socket_.get(), kLook, sizeof kLook - 1, MSG_NOSIGNAL) == sizeof kLook - 1;
}

std::optional<std::string> HelperProcess::Hear(bool* gone) {
  *gone = false;
  char buffer[16384];
  for (;;) {
    if (const size_t end = heard_.find('\n'); end != std::string::npos) {
      std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return line;
    }
    const ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return std::nullopt;
    if (n <= 0 || heard_.size() > kLineLimit) {
      *gone = true;
      return std::nullopt;
    }
    heard_.append(buffer, static_cast<size_t>(n));
  }
}

bool HelperProcess::End(int pid) {
  ::kill(pid, SIGKILL);
  constexpr int kTries = 50;  // of 2 ms: what can die does so at once
  for (int i = 0; i < kTries; ++i) {
    if (Reap(pid)) return true;
    ::poll(nullptr, 0, 2);
  }
  return false;
}

bool HelperProcess::Reap(int pid) {
  const pid_t ended = ::waitpid(pid, nullptr, WNOHANG);
  return ended == pid || (ended < 0 && errno == ECHILD);
}

}  // namespace ty
