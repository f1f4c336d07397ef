#include "daemon/host.h"

#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "msg/daemon.h"
#include "posix/files.h"
#include "posix/locks.h"

extern char** environ;

namespace ty {

std::string UserName() {
  if (const passwd* user = getpwuid(getuid())) return user->pw_name;
  return std::to_string(getuid());
}

bool SurvivesLogout() {
  if (!Exists("/run/systemd/system")) return true;
  if (Exists("/var/lib/systemd/linger/" + UserName())) return true;
  const std::string cgroup = ReadFile("/proc/self/cgroup", 1 << 16).value_or("");
  if (cgroup.find("/user@") != std::string::npos)
    return false;  // the user manager ends with the last session
  const std::string settings = ReadFile("/etc/systemd/logind.conf", 1 << 16).value_or("");
  const size_t at = settings.find("\nKillUserProcesses=");
  return at == std::string::npos || settings.compare(at + 19, 3, "yes") != 0;
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

Result<UniqueFd> LockHome(const std::string& home) {
  const std::string path = StatePaths{home}.Lock();
  SysResult<UniqueFd> file = OpenAt(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT, 0600);
  if (!file) {
    return Fail(Code::kUnavailable, msg::DaemonHomeUnusable{.folder = home, .cause = strerror(file.error())},
                "TRAINYARD_HOME");
  }
  SysResult<bool> locked = TryFlock(file->get());
  if (!locked) {
    return Fail(Code::kUnavailable,
                msg::DaemonHomeUnusable{.folder = home, .cause = strerror(locked.error())}, "TRAINYARD_HOME");
  }
  if (!*locked) {
    // What the file says is for people only; the lock itself is what counts.
    std::string holder = ReadAllAt(file->get(), 256).value_or("");
    holder = holder.substr(0, holder.find_first_of(" \n"));
    return Conflict(msg::DaemonSecond{.pid = holder.empty() ? "?" : holder, .folder = home});
  }
  return std::move(*file);
}

void SignLock(const UniqueFd& lock, const std::string& url) {
  if (ftruncate(lock.get(), 0) != 0) return;
  (void)WriteAllAt(lock.get(), std::to_string(getpid()) + " " + url + "\n", 0);
}

}  // namespace ty
