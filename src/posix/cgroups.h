// Cgroup is one leaf that holds a tree of processes and can end it for certain: a cgroup v2 folder (with or
// without controllers) or one of the v1 freezer. An empty path is the subreaper level: nothing holds the
// tree.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posix/fd.h"

namespace ty {

enum class Containment : uint8_t { kSubreaper, kFreezer, kCgroup2 };
std::string_view Name(Containment kind);  // "subreaper", "freezer", "cgroup2"
std::optional<Containment> ParseContainment(std::string_view name);

struct Cgroup {
  Containment kind = Containment::kSubreaper;
  std::string path;

  explicit operator bool() const { return !path.empty(); }
  bool Exists() const;
  SysStatus Make() const;    // its parent must be there; fine when it exists
  SysStatus Remove() const;  // EBUSY while a process is inside; fine when it is gone
  bool Populated() const;    // false when it is gone
  void Kill() const;         // SIGKILL to all inside; v1: freeze, kill, thaw
  SysStatus Freeze(bool frozen) const;
  void Signal(int signal) const;  // to every process inside
  std::vector<int> Processes() const;
  std::optional<int> OomKills() const;  // of this leaf; nothing where its memory is not counted
};

// The file that counts OOM kills of the memory cgroup this process is in, mostly its container's; empty where
// nothing counts them. And what such a file says; nothing when it cannot be read.
std::string FindOomCounter();
std::optional<int> OomKillsIn(const std::string& file);
std::optional<int> OomKillsIn(int file);  // an open one, again and again

// Where this machine lets us keep our trees.
struct CgroupRoot {
  Containment kind = Containment::kSubreaper;
  std::string folder;  // …/trainyard-<instance>; empty for the subreaper level

  Cgroup Shims() const;                         // all supervisors; v2 only
  Cgroup Attempt(std::string_view ulid) const;  // "a-<ULID>"
};
// The best level that works here, or `wanted` if it works, else the subreaper. Makes the folder.
CgroupRoot OpenCgroupRoot(std::string_view instance, std::optional<Containment> wanted = std::nullopt);
// The level that a yard started here and now would use. Leaves nothing behind.
Containment FindContainment();
// Every folder this instance may ever have used here, whatever level is in use now: for killing what is left.
std::vector<CgroupRoot> KnownCgroupRoots(std::string_view instance);

}  // namespace ty
