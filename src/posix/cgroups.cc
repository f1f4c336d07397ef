#include "posix/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "posix/files.h"
#include "posix/process.h"

namespace ty {

std::string_view Name(Containment kind) {
  switch (kind) {
    case Containment::kCgroup2:
      return "cgroup2";
    case Containment::kFreezer:
      return "freezer";
    case Containment::kSubreaper:
      break;
  }
  return "subreaper";
}

std::optional<Containment> ParseContainment(std::string_view name) {
  for (auto kind : {Containment::kCgroup2, Containment::kFreezer, Containment::kSubreaper}) {
    if (Name(kind) == name) return kind;
  }
  return std::nullopt;
}

bool Cgroup::Exists() const {
  return !path.empty() && ty::Exists(path);
}

SysStatus Cgroup::Make() const {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return FailErrno();
}

SysStatus Cgroup::Remove() const {
  if (path.empty() || ::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
  return FailErrno();
}

std::vector<int> Cgroup::Processes() const {
  std::vector<int> pids;
  if (path.empty()) return pids;
  const auto text = ReadFile(path + "/cgroup.procs", 16 << 20);
  if (!text) return pids;
  for (const char* at = text->c_str(); *at != '\0';) {
    char* end = nullptr;
    const long pid = strtol(at, &end, 10);
    if (end == at) break;
    if (pid > 0) pids.push_back(static_cast<int>(pid));
    at = *end == '\n' ? end + 1 : end;
  }
  return pids;
}

bool Cgroup::Populated() const {
  if (path.empty()) return false;
  if (kind == Containment::kCgroup2) {
    const auto events = ReadFile(path + "/cgroup.events", 4096);
    return events && events->find("populated 1") != std::string::npos;
  }
  for (int pid : Processes()) {
    // v1 lists zombies that wait to be reaped: they run nothing any more.
    const auto stat = ReadProcessStat(pid);
    if (stat && stat->state != 'Z' && stat->state != 'X') return true;
  }
  return false;
}

SysStatus Cgroup::Freeze(bool frozen) const {
  if (kind == Containment::kCgroup2) return PokeFile(path + "/cgroup.freeze", frozen ? "1" : "0");
  return PokeFile(path + "/freezer.state", frozen ? "FROZEN" : "THAWED");
}

void Cgroup::Signal(int signal) const {
  for (int pid : Processes()) ::kill(pid, signal);
}

void Cgroup::Kill() const {
  if (path.empty()) return;
  if (kind == Containment::kCgroup2 && PokeFile(path + "/cgroup.kill", "1")) return;
  // Nobody forks or exits while frozen, so the list is complete and its numbers are nobody else's.
  if (!Freeze(true)) {
    Signal(SIGKILL);
    return;
  }
  const bool v2 = kind == Containment::kCgroup2;
  for (int tries = 0; tries < 100; ++tries) {
    const auto state = ReadFile(path + (v2 ? "/cgroup.events" : "/freezer.state"), 4096);
    if (!state || state->find(v2 ? "frozen 1" : "FROZEN") != std::string::npos) break;
    const timespec pause = {0, 2'000'000};
    ::nanosleep(&pause, nullptr);
  }
  Signal(SIGKILL);
  (void)Freeze(false);
}

std::optional<int> Cgroup::OomKills() const {
  if (path.empty()) return std::nullopt;
  for (const char* file : {"/memory.events", "/memory.oom_control"}) {
    if (const auto kills = OomKillsIn(path + file)) return kills;
  }
  return std::nullopt;
}

std::optional<int> OomKillsIn(const std::string& file) {
  const auto opened = OpenAt(AT_FDCWD, file.c_str(), O_RDONLY);
  return opened ? OomKillsIn(opened->get()) : std::nullopt;
}

std::optional<int> OomKillsIn(int file) {
  const std::string text = "\n" + ReadAllAt(file, 4096).value_or("");
  const size_t at = text.find("\noom_kill ");
  if (at == std::string::npos) return std::nullopt;
  return atoi(text.c_str() + at + 10);
}

}  // namespace ty
