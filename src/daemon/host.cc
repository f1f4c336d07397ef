#include "daemon/host.h"

#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/text.h"
#include "msg/daemon.h"
#include "posix/files.h"
#include "posix/locks.h"
#include "posix/process.h"

extern char** environ;

namespace ty {

std::string UserName() {
  if (const passwd* user = getpwuid(getuid())) return user->pw_name;
  return std::to_string(getuid());
}

std::string FolderIdentity(const std::string& home) {
  struct stat info {};
  // Its number alone: that of the disk may be another one after a reboot.
  return stat(home.c_str(), &info) == 0 ? std::to_string(info.st_ino) : std::string();
}

std::optional<TaskId> RunsElsewhere(const OpenState& state) {
  const std::string boot = BootId();
  for (const Attempt& attempt : state.attempts) {
    if (attempt.boot == boot && !FindMarked("TRAINYARD_ID=" + attempt.uid.Text()).empty())
      return attempt.task;
  }
  return std::nullopt;
}

Variables BasicVariables() {
  Variables basics;
  for (char** variable = environ; *variable != nullptr; variable++) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    for (std::string_view kept : {"HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "PATH", "TMPDIR"}) {
      if (name == kept) basics.emplace_back(name, text.substr(equals + 1));
    }
    if (name.substr(0, 3) == "LC_") basics.emplace_back(name, text.substr(equals + 1));
  }
  return basics;
}

Status PrepareHome(const std::string& home) {
  auto refuse = [&](int error) {
    return Fail(Code::kUnavailable, msg::DaemonHomeUnusable{.folder = home, .cause = strerror(error)},
                "TRAINYARD_HOME");
  };
  if (SysStatus made = MakeFolders(home, 0700); !made) return refuse(made.error());
  struct stat info {};
  if (lstat(home.c_str(), &info) != 0) return refuse(errno);
  if (S_ISLNK(info.st_mode) && stat(home.c_str(), &info) != 0) return refuse(errno);
  if (!S_ISDIR(info.st_mode)) return refuse(ENOTDIR);
  if (info.st_uid != geteuid()) {
    return Fail(Code::kUnavailable, msg::DaemonHomeForeign{.folder = home}, "TRAINYARD_HOME");
  }
  if ((info.st_mode & 077) != 0 && chmod(home.c_str(), 0700) != 0) return refuse(errno);
  if (access(home.c_str(), W_OK | X_OK) != 0) return refuse(errno);
  if (SysStatus made = MakeFolders(StatePaths{home}.Attempts(), 0700); !made) return refuse(made.error());
  return {};
}

namespace {

constexpr int kHeirTries = 400, kHeirPause_us = 5000;

bool IsDead(const std::string& pid) {
  const std::optional<int64_t> number = ParseInt(pid);
  if (!number) return false;
  const auto stat = ReadProcessStat(static_cast<int>(*number));
  return !stat || stat->state == 'Z' || stat->state == 'X';
}

}  // namespace

Result<HomeLock> LockHome(const std::string& home) {
  const std::string path = StatePaths{home}.Lock();
  SysResult<UniqueFd> file = OpenAt(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT, 0600);
  if (!file) {
    return Fail(Code::kUnavailable, msg::DaemonHomeUnusable{.folder = home, .cause = strerror(file.error())},
                "TRAINYARD_HOME");
  }
  const auto holder = [&] {
    const std::string note = ReadAllAt(file->get(), 256).value_or("");
    return note.substr(0, note.find_first_of(" \n"));
  };
  SysResult<bool> locked = TryFlock(file->get());
  // A supervisor that was being born when its daemon was killed has a copy of the lock until its execve.
  for (int tries = 0; locked && !*locked && tries < kHeirTries && IsDead(holder()); ++tries) {
    usleep(kHeirPause_us);
    locked = TryFlock(file->get());
  }
  if (!locked) {
    return Fail(Code::kUnavailable,
                msg::DaemonHomeUnusable{.folder = home, .cause = strerror(locked.error())}, "TRAINYARD_HOME");
  }
  if (!*locked) {
    // What the file says is for people only; the lock itself is what counts.
    const std::string pid = holder();
    return Conflict(msg::DaemonSecond{.pid = pid.empty() ? "?" : pid, .folder = home});
  }
  SysResult<UniqueFd> folder = OpenFolder(home);
  if (folder) (void)TryFlock(folder->get());
  return HomeLock{std::move(*file), folder ? std::move(*folder) : UniqueFd()};
}

void SignLock(const HomeLock& lock, const std::string& url) {
  if (ftruncate(lock.file.get(), 0) != 0) return;
  (void)WriteAllAt(lock.file.get(), std::to_string(getpid()) + " " + url + "\n", 0);
}

}  // namespace ty
