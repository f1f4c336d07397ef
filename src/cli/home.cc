// Where the state folder is to be: private, ours, on a disk of this machine.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/caller.h"
#include "cli/files.h"
#include "cli/start.h"
#include "msg/cli.h"
#include "msg/home.h"
#include "posix/disks.h"
#include "posix/files.h"

namespace ty {
namespace {

constexpr int64_t kRoom = int64_t{512} << 20;  // for a start; logs and checkpoints are the user's to place

Status Unusable(const std::string& home, int error) {
  if (error == EROFS) return Fail(Code::kConflict, msg::HomeReadOnly{.home = home});
  return Fail(Code::kInvalid, msg::CliHomeUnusable{.home = home, .why = strerror(error)});
}

Status MakePrivate(const std::string& home) {
  struct stat seen;
  if (stat(home.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode)) {
    if (seen.st_uid != geteuid())
      return Fail(Code::kInvalid, msg::CliHomeOfOther{.home = home, .uid = int64_t{seen.st_uid}});
    // A folder that others may enter would show them logs and variables.
    if ((seen.st_mode & 077) != 0 && chmod(home.c_str(), 0700) != 0) return Unusable(home, errno);
    if (access(home.c_str(), R_OK | W_OK | X_OK) != 0) return Unusable(home, errno);
    return {};
  }
  if (SysStatus made = MakeFolders(home); !made) return Unusable(home, made.error());
  return {};
}

// Somewhere on this machine that outlives a reboot and has room; empty when there is no such place.
std::string LocalHome() {
  const std::string uid = std::to_string(geteuid());
  std::vector<std::string> places = {"/var/tmp/trainyard-" + uid};
  if (geteuid() == 0) places.insert(places.begin(), "/var/lib/trainyard");
  for (const std::string& place : places) {
    if (!NetworkFileSystem(place).empty() || RoomAt(place) < kRoom) continue;
    struct stat seen;
    const bool there = lstat(place.c_str(), &seen) == 0;
    // Anybody may write to /var/tmp: what waits there under our name must be a folder of our own.
    if (there && (!S_ISDIR(seen.st_mode) || seen.st_uid != geteuid())) continue;
    if (!there && access(ParentFolder(place).c_str(), W_OK | X_OK) != 0) continue;
    return place;
  }
  return {};
}

// The config with paths.state set; empty when its text leaves no sure place for the line.
std::string WithState(const std::string& text, const std::string& state) {
  const std::string line = "  state: " + state + "\n";
  std::string whole = text;
  if (!whole.empty() && whole.back() != '\n') whole += '\n';
  const size_t paths = ("\n" + whole).find("\npaths:");
  if (paths == std::string::npos)
    whole += "paths:\n" + line;
  else
    whole.insert(whole.find('\n', paths) + 1, line);
  auto read = ParseConfig(whole, "");
  return read && read->state == state ? whole : std::string();
}

Status KeepHome(Caller& caller, const std::string& state) {
  const std::string file = caller.config.file.empty() ? ConfigPath() : caller.config.file;
  auto refuse = [&](const std::string& why) {
    return Fail(Code::kInvalid, msg::HomeNotKept{.state = state, .config = file, .why = why});
  };
  SysResult<std::string> text = ReadFile(file, 1 << 20);
  if (!text && text.error() != ENOENT) return refuse(strerror(text.error()));
  const std::string whole = WithState(text.value_or(""), state);
  if (whole.empty()) return refuse(caller.Words(msg::HomeConfigOther{}));
  if (SysStatus made = MakeFolders(ParentFolder(file), 0755); !made) return refuse(strerror(made.error()));
  if (SysStatus written = ReplaceFile(file, whole); !written) return refuse(strerror(written.error()));
  caller.config.file = file;
  caller.config.state = state;
  return {};
}

bool WasNamed(const Caller& caller) {
  return !Environment("TRAINYARD_HOME").empty() || !caller.config.state.empty() ||
         caller.state.home != StatePaths::FromEnvironment().home;
}

// A queue on a network file system would rest on locks and syncs that may not hold.
Status LeaveTheNetwork(Caller& caller) {
  const std::string home = caller.state.home, network = NetworkFileSystem(home);
  if (network.empty()) return {};
  const std::string local = LocalHome();
  if (local.empty()) return Fail(Code::kInvalid, msg::HomeNoDisk{.home = home, .kind = network});
  if (Exists(caller.state.Database()))
    return Fail(Code::kInvalid, msg::HomeFullOnNetwork{.home = home, .kind = network, .local = local});
  if (WasNamed(caller))
    return Fail(Code::kInvalid, msg::HomeOnNetwork{.home = home, .kind = network, .local = local});
  if (Status made = MakePrivate(local); !made) return made;
  if (Status kept = KeepHome(caller, local); !kept) return kept;
  caller.state.home = local;
  caller.Note(msg::HomeMoved{.home = home, .kind = network, .local = local, .config = caller.config.file});
  return {};
}

}  // namespace

Status PrepareHome(Caller& caller) {
  if (caller.state.home.empty()) return Fail(Code::kInvalid, msg::CliNoHome{});
  if (Status local = LeaveTheNetwork(caller); !local) return local;
  if (Status made = MakePrivate(caller.state.home); !made) return made;
  // A daemon could not even write into its log that it ends.
  if (IsReadOnlyDisk(caller.state.Log())) return Unusable(caller.state.home, EROFS);
  return {};
}

}  // namespace ty
