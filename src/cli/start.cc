#include "cli/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <vector>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/files.h"
#include "cli/http.h"
#include "msg/cli.h"
#include "msg/daemon.h"
#include "msg/listen.h"
#include "msg/start.h"
#include "posix/files.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr int kReadyFd = 3;
constexpr int kRaceStep_ms = 500, kRaceTries = 60;

std::string ThisProgram() {
  char path[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  std::string program(path, size > 0 ? static_cast<size_t>(size) : 0);
  // After an upgrade the old file is gone; the kernel still has it.
  return !program.empty() && IsProgram(program) ? program : "/proc/self/exe";
}

// In the grandchild: a process of its own session that keeps nothing of the shell but its variables.
[[noreturn]] void BecomeYard(const std::string& program, const std::string& log, int ready,
                             const std::vector<char*>& argv) {
  umask(077);
  if (chdir("/") != 0) _exit(1);
  int null = open("/dev/null", O_RDONLY);
  int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  // Out of the way of 0..3 first, so that no dup2 covers one that is still needed.
  int kept = fcntl(ready, F_DUPFD, 10), in = fcntl(null, F_DUPFD, 10), out = fcntl(file, F_DUPFD, 10);
  if (kept < 0 || in < 0 || out < 0) _exit(1);
  dup2(in, 0);
  dup2(out, 1);
  dup2(out, 2);
  dup2(kept, kReadyFd);
  close_range(kReadyFd + 1, ~0U, 0);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

// The line the daemon writes when it is ready or has failed; empty when it died without one.
std::string ReadyLine(int ready) {
  std::string line;
  char block[4096];
  while (line.find('\n') == std::string::npos) {
    ssize_t got = read(ready, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    line.append(block, static_cast<size_t>(got));
  }
  return line;
}

bool ComesUp(const StatePaths& state, int wait_ms) {
  constexpr int kStep_ms = 5;
  for (int waited = 0;; waited += kStep_ms) {
    if (HttpLine::Open(state.Socket())) return true;
    if (waited >= wait_ms) return false;
    poll(nullptr, 0, kStep_ms);
  }
}

int64_t SizeOf(const std::string& path) {
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? file.st_size : 0;
}

// The last ones that were written from there on: what an earlier daemon said explains nothing.
std::string LastLines(const std::string& path, int64_t from) {
  SysResult<std::string> text = ReadFile(path, 64 << 20);
  if (!text || static_cast<int64_t>(text->size()) < from) return {};
  text->erase(0, static_cast<size_t>(from));
  while (!text->empty() && text->back() == '\n') text->pop_back();
  size_t start = text->size();
  for (int lines = 0; lines < 3 && start != std::string::npos && start > 0; ++lines)
    start = text->rfind('\n', start - 1);
  std::string last = start == std::string::npos ? *text : text->substr(start == 0 ? 0 : start + 1);
  for (size_t end = last.find('\n'); end != std::string::npos; end = last.find('\n'))
    last.replace(end, 1, " / ");
  return last;
}

// One try: what the daemon said of itself, an empty object when it died without a word.
Result<json::value> TryStart(const Caller& caller, const StartOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Fail(Code::kUnavailable, msg::CliStartFailed{.why = strerror(errno)});
  UniqueFd ready(ends[0]), told(ends[1]);

  // All that allocates happens before the fork.
  std::string program = ThisProgram(), log = caller.state.Log();
  std::vector<std::string> words = {"trainyard", "up", "--foreground", "--ready-fd",
                                    std::to_string(kReadyFd)};
  words.insert(words.end(), {"--lang", caller.LanguageCode()});
  if (!options.devices.empty()) words.insert(words.end(), {"--devices", options.devices});
  if (!options.listen.empty()) words.insert(words.end(), {"--listen", options.listen});
  if (!options.config.empty()) words.insert(words.end(), {"--config", options.config});
  if (!options.web_folder.empty()) words.insert(words.end(), {"--web-dir", options.web_folder});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  setenv("TRAINYARD_HOME", caller.state.home.c_str(), 1);

  pid_t child = fork();
  if (child < 0) return Fail(Code::kUnavailable, msg::CliStartFailed{.why = strerror(errno)});
  if (child == 0) {
    setsid();
    pid_t grandchild = fork();  // no session leader, so that no terminal can become its own
    if (grandchild != 0) _exit(grandchild < 0 ? 1 : 0);
    BecomeYard(program, log, told.get(), argv);
  }
  told.Reset();
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  boost::system::error_code problem;
  json::value said = json::parse(ReadyLine(ready.get()), problem);
  return problem ? json::value(json::object()) : said;
}

// Input that was wrong is told from a start that could not be.
Code CodeOfRefusal(std::string_view id) {
  bool input = id.rfind("devices.", 0) == 0 || id == msg::ListenBad::kId || id == msg::ListenNotLoopback::kId;
  return input ? Code::kInvalid : Code::kInternal;
}

}  // namespace

StartOptions KeptStartOptions(const StatePaths& state) {
  StartOptions options;
  SysResult<std::string> text = ReadFile(state.StartOptions(), 1 << 16);
  if (!text) return options;
  boost::system::error_code problem;
  json::value kept = json::parse(*text, problem);
  if (problem) return options;
  options.devices = TextAt(kept, "devices");
  options.listen = TextAt(kept, "listen");
  options.config = TextAt(kept, "config");
  return options;
}

SysStatus KeepStartOptions(const StatePaths& state, const StartOptions& options) {
  json::object kept{{"devices", options.devices}, {"listen", options.listen}, {"config", options.config}};
  return ReplaceFile(state.StartOptions(), json::serialize(kept) + "\n");
}

std::optional<Time> DownSince(const StatePaths& state) {
  struct stat mark;
  if (stat(state.DownMark().c_str(), &mark) != 0) return std::nullopt;
  return Time(seconds(mark.st_mtim.tv_sec));
}

SysStatus MarkDown(const StatePaths& state) {
  return ReplaceFile(state.DownMark(), FormatIso(WallClock()) + "\n");
}

void ClearDownMark(const StatePaths& state) {
  unlink(state.DownMark().c_str());
}

DaemonOptions DaemonOptionsFor(const Caller& caller, const StartOptions& options) {
  DaemonOptions daemon;
  daemon.home = caller.state.home;
  daemon.config = caller.config;
  daemon.devices = options.devices.empty() ? caller.config.devices : options.devices;
  daemon.listen = options.listen.empty() ? caller.config.listen : options.listen;
  daemon.web_folder = options.web_folder;
  daemon.language = caller.LanguageCode();
  return daemon;
}

Result<Started> StartYard(Caller& caller, const StartOptions& options) {
  if (Status home = PrepareHome(caller); !home) return Forward(home.error());
  for (int tries = 0;; ++tries) {
    const int64_t logged = SizeOf(caller.state.Log());
    auto said = TryStart(caller, options);
    if (!said) return Forward(said.error());
    if (auto pid = IntAt(*said, "pid")) return Started{true, static_cast<int>(*pid)};
    const json::value* error = At(*said, "error");
    // Another one holds the lock: it is just starting, and answers soon, or just ending, and another try is
    // due.
    bool lost_race = error && TextAt(*error, "id") == msg::DaemonSecond::kId;
    if (ComesUp(caller.state, lost_race || !error ? kRaceStep_ms : 0)) return Started{false, 0};
    if (lost_race && tries < kRaceTries) continue;
    if (error) return Fail(CodeOfRefusal(TextAt(*error, "id")), msg::CliText{.text = TextAt(*error, "text")});
    const std::string last = LastLines(caller.state.Log(), logged);
    if (last.empty()) return Fail(Code::kUnavailable, msg::StartDiedSilent{.log = caller.state.Log()});
    return Fail(Code::kUnavailable, msg::CliStartDied{.log = caller.state.Log(), .last = last});
  }
}

}  // namespace ty
