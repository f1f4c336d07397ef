// Where cgroups may be made. Apart from cgroups.cc because looking up a user does not belong into the static
// shim.
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "posix/cgroups.h"
#include "posix/files.h"
#include "posix/process.h"

namespace ty {

Cgroup CgroupRoot::Shims() const {
  if (kind != Containment::kCgroup2) return {};
  return {kind, folder + "/shims"};
}

Cgroup CgroupRoot::Attempt(std::string_view ulid) const {
  if (folder.empty()) return {};
  return {kind, folder + "/a-" + std::string(ulid)};
}

namespace {

struct Mounts {
  std::string cgroup2, freezer, memory;
};

// Mount points of the hierarchies, from /proc/self/mounts: "cgroup2 /sys/fs/cgroup cgroup2 rw,… 0 0".
Mounts FindMounts() {
  Mounts found;
  const auto text = ReadFile("/proc/self/mounts", 4 << 20);
  if (!text) return found;
  for (size_t at = 0; at < text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    const std::string line = text->substr(at, end - at);
    at = end + 1;
    const size_t path = line.find(' '), type = line.find(' ', path + 1);
    if (path == std::string::npos || type == std::string::npos) continue;
    const size_t options = line.find(' ', type + 1);
    if (options == std::string::npos) continue;
    const std::string where = line.substr(path + 1, type - path - 1);
    const std::string kind = line.substr(type + 1, options - type - 1);
    if (kind == "cgroup2" && found.cgroup2.empty()) found.cgroup2 = where;
    const std::string words = "," + line.substr(options + 1, line.find(' ', options + 1) - options - 1) + ",";
    if (kind == "cgroup" && found.freezer.empty() && words.find(",freezer,") != std::string::npos)
      found.freezer = where;
    if (kind == "cgroup" && found.memory.empty() && words.find(",memory,") != std::string::npos)
      found.memory = where;
  }
  return found;
}

// The path of our own cgroup below its mount, from the line that ends so before it: "0::/user.slice/…" has
// "0::" for cgroup v2, "4:memory:/…" has ":memory:".
std::string OwnCgroup(std::string_view hierarchy) {
  const std::string text = ReadFile("/proc/self/cgroup", 64 * 1024).value_or("");
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const size_t slash = line.find('/');
    if (slash == std::string::npos || !line.substr(0, slash).ends_with(hierarchy)) continue;
    return line.substr(slash) == "/" ? "" : line.substr(slash);
  }
  return "";
}
std::string OwnCgroup2() {
  return OwnCgroup("0::");
}

// A user's own service manager ends everything in its tree at logout, unless the user lingers.
bool EndsAtLogout(const std::string& path) {
  if (path.find("/user@") == std::string::npos) return false;
  const passwd* user = ::getpwuid(::geteuid());
  return user == nullptr || !Exists(std::string("/var/lib/systemd/linger/") + user->pw_name);
}

std::string Cgroup2Folder(const Mounts& mounts, std::string_view instance) {
  if (mounts.cgroup2.empty()) return "";
  const std::string name = "/trainyard-" + std::string(instance);
  if (::geteuid() == 0) return mounts.cgroup2 + name;
  const std::string own = OwnCgroup2();
  return EndsAtLogout(own) ? "" : mounts.cgroup2 + own + name;
}

std::string FreezerFolder(const Mounts& mounts, std::string_view instance) {
  if (mounts.freezer.empty() || ::geteuid() != 0) return "";
  return mounts.freezer + "/trainyard-" + std::string(instance);
}

int ReturnZero(void*) {
  return 0;
}

// Not what permissions promise, but whether a child really can be born inside.
bool CanHold(const Cgroup& leaf) {
  if (!leaf.Make()) return false;
  CloneOptions options;
  UniqueFd fd(::open(leaf.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  UniqueFd procs(::open((leaf.path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || !procs) return false;
  if (leaf.kind == Containment::kCgroup2) {
    options.cgroup = fd.get();
  } else {
    options.join_procs = procs.get();
  }
  const auto child = CloneChild(options, ReturnZero, nullptr);
  if (!child) return false;
  int status = 0;
  while (::waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
  }
  return leaf.Freeze(false).has_value();
}

bool TryRoot(const CgroupRoot& root) {
  if (root.folder.empty()) return false;
  if (::mkdir(root.folder.c_str(), 0755) != 0 && errno != EEXIST) return false;
  if (root.kind == Containment::kCgroup2) {
    if (!CanHold(root.Shims())) return false;
    // Counts OOM kills an attempt; without the controller they stay unknown, nothing else changes.
    (void)PokeFile(root.folder + "/cgroup.subtree_control", "+memory");
    return true;
  }
  const Cgroup probe = root.Attempt("probe");
  const bool holds = CanHold(probe);
  (void)probe.Remove();
  return holds;
}

}  // namespace

std::string FindOomCounter() {
  const Mounts mounts = FindMounts();
  // In a container the path may be that of the host, which cannot be seen from inside: its mount is ours
  // then.
  const auto find = [](const std::string& mount, std::string path, const char* file) -> std::string {
    if (mount.empty()) return "";
    for (;; path.resize(path.rfind('/'))) {
      if (Exists(mount + path + file)) return mount + path + file;
      if (path.empty()) return "";
    }
  };
  const std::string v1 = find(mounts.memory, OwnCgroup(":memory:"), "/memory.oom_control");
  return v1.empty() ? find(mounts.cgroup2, OwnCgroup2(), "/memory.events") : v1;
}

std::vector<CgroupRoot> KnownCgroupRoots(std::string_view instance) {
  const Mounts mounts = FindMounts();
  std::vector<CgroupRoot> roots;
  if (std::string folder = Cgroup2Folder(mounts, instance); !folder.empty()) {
    roots.push_back({Containment::kCgroup2, std::move(folder)});
  }
  if (std::string folder = FreezerFolder(mounts, instance); !folder.empty()) {
    roots.push_back({Containment::kFreezer, std::move(folder)});
  }
  return roots;
}

Containment FindContainment() {
  const CgroupRoot root = OpenCgroupRoot("probe-" + std::to_string(::getpid()));
  (void)root.Shims().Remove();
  if (!root.folder.empty()) ::rmdir(root.folder.c_str());
  return root.kind;
}

CgroupRoot OpenCgroupRoot(std::string_view instance, std::optional<Containment> wanted) {
  for (const CgroupRoot& root : KnownCgroupRoots(instance)) {
    if (wanted && root.kind != *wanted) continue;
    if (TryRoot(root)) return root;
    ::rmdir(root.folder.c_str());
  }
  return {};
}

}  // namespace ty
