#include "cli/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "posix/fd.h"

namespace ty {

Said RunOutside(const std::vector<std::string>& words, Said::Both both) {
  constexpr int kLimit_ms = 10'000;
  Said said;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return said;
  UniqueFd out(ends[0]), in(ends[1]);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return said;
  if (child == 0) {
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(in.get(), 1);
    dup2(both == Said::Both::kYes ? in.get() : null, 2);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  in.Reset();
  pollfd wait{out.get(), POLLIN, 0};
  char block[4096];
  bool late = false;
  for (;;) {
    const int ready = poll(&wait, 1, kLimit_ms);
    if (ready < 0 && errno == EINTR) continue;
    late = ready == 0;
    if (ready <= 0) break;
    const ssize_t got = read(out.get(), block, sizeof block);
    if (got <= 0) break;
    if (said.text.size() < sizeof block) said.text.append(block, static_cast<size_t>(got));
  }
  if (late) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  said.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  while (!said.text.empty() && (said.text.back() == '\n' || said.text.back() == '\r')) said.text.pop_back();
  return said;
}

std::string LastLine(const std::string& text) {
  const size_t end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

}  // namespace ty
