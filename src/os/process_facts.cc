#include "os/process_facts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "os/users.h"
#include "posix/clocks.h"
#include "posix/files.h"

namespace ty {

namespace {

constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO, the same in every kernel
constexpr size_t kCommandLimit = 200;
constexpr size_t kEnvironmentLimit = 8 << 20;
constexpr std::string_view kMarker = "TRAINYARD_ID=";

std::string Proc(int pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

std::string CutUtf8(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::string CommandOf(int pid) {
  std::string words;
  if (auto line = ReadFile(Proc(pid, "cmdline"), 1 << 20)) words = std::move(*line);
  while (!words.empty() && words.back() == '\0') words.pop_back();
  if (words.empty()) {
    auto name = ReadFile(Proc(pid, "comm"), 256);
    if (!name) return "";
    while (!name->empty() && name->back() == '\n') name->pop_back();
    words = "[" + *name + "]";
  }
  words.resize(std::min(words.size(), 4 * kCommandLimit));
  std::replace(words.begin(), words.end(), '\0', ' ');
  return CutUtf8(Printable(words), kCommandLimit);
}

std::optional<Ulid> UlidIn(std::string_view cgroup_path) {
  constexpr size_t kUlidLength = 26;
  for (size_t at = cgroup_path.find("/a-"); at != std::string_view::npos;
       at = cgroup_path.find("/a-", at + 1)) {
    const std::string_view rest = cgroup_path.substr(at + 3);
    const std::string_view name = rest.substr(0, rest.find_first_of("/\n"));
    if (name.size() != kUlidLength) continue;
    if (const auto ulid = Ulid::Parse(name)) return ulid;
  }
  return std::nullopt;
}

std::optional<Time> StartedAt(uint64_t start_ticks) {
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (ticks <= 0) return std::nullopt;
  const int64_t since_boot = static_cast<int64_t>(start_ticks) * (1'000'000'000 / ticks);
  return FromNanos(WallNanos() - BootNanos() + since_boot);
}

// A descriptor of /dev/nvidia0 and the like.
bool HasGpuOpen(int pid) {
  const std::string folder = Proc(pid, "fd");
  const auto names = ListFolder(folder);
  if (!names) return false;
  return std::any_of(names->begin(), names->end(), [&](const std::string& name) {
    const auto target = ReadLinkAt(AT_FDCWD, (folder + "/" + name).c_str());
    return target && target->starts_with("/dev/nvidia");
  });
}

}  // namespace

bool HostPidsAreOurs() {
  const char* said = ::getenv("TRAINYARD_NVML_PIDS");
  if (said != nullptr && std::string_view(said) == "ours") return true;
  struct stat info;
  return ::stat("/proc/self/ns/pid", &info) == 0 && info.st_ino == kFirstPidNamespace;
}

std::optional<Ulid> AttemptOf(int pid) {
  if (const auto cgroup = ReadFile(Proc(pid, "cgroup"), 64 * 1024)) {
    if (const auto ulid = UlidIn(*cgroup)) return ulid;
  }
  const auto environment = ReadFile(Proc(pid, "environ"), kEnvironmentLimit);
  if (!environment) return std::nullopt;
  const std::string_view text = *environment;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\0', at), text.size());
    const std::string_view variable = text.substr(at, end - at);
    if (variable.starts_with(kMarker)) return Ulid::Parse(variable.substr(kMarker.size()));
    at = end + 1;
  }
  return std::nullopt;
}

bool ProcessFacts::Fill(DeviceProcess& process, bool ours) {
  const auto stat = ReadProcessStat(process.pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return false;
  auto [it, is_new] = facts_.try_emplace({process.pid, stat->start});
  Facts& facts = it->second;
  facts.asked = true;
  if (is_new) {
    struct stat owner;
    if (::stat(Proc(process.pid, "").c_str(), &owner) == 0) facts.process.user = UserNameOf(owner.st_uid);
    facts.process.command = CommandOf(process.pid);
    facts.process.since = StartedAt(stat->start);
    facts.process.attempt = AttemptOf(process.pid);
    facts.has_gpu = !ours && HasGpuOpen(process.pid);
  }
  if (!ours && !facts.process.attempt && !facts.has_gpu) return false;
  process.visible = true;
  process.user = facts.process.user;
  process.command = facts.process.command;
  process.since = facts.process.since;
  process.start = stat->start;
  process.attempt = facts.process.attempt;
  return true;
}

void ProcessFacts::Forget() {
  std::erase_if(facts_, [](const auto& entry) { return !entry.second.asked; });
  for (auto& [process, facts] : facts_) facts.asked = false;
}

namespace {

// Only what is its own: a page of a file that a hundred processes map is nobody's.
int64_t OwnMemory(int pid) {
  const auto status = ReadFile(Proc(pid, "status"), 64 * 1024);
  if (!status) return 0;
  int64_t kib = 0;
  for (const std::string_view key : {"\nRssAnon:", "\nRssShmem:", "\nVmSwap:"}) {
    const size_t at = status->find(key);
    if (at != std::string::npos) kib += ::strtoll(status->c_str() + at + key.size(), nullptr, 10);
  }
  return kib * 1024;
}

bool IsShim(int pid) {
  const auto name = ReadFile(Proc(pid, "comm"), 256);
  return name && name->starts_with("trainyard-shim");
}

}  // namespace

std::vector<AttemptMemory> AttemptMeter::Measure(const std::vector<std::pair<Ulid, int>>& attempts) {
  std::vector<AttemptMemory> result;
  if (attempts.empty()) {
    shims_.clear();
    return result;
  }
  std::unordered_map<int, ProcessStat> all;
  std::unordered_map<int, std::vector<int>> children;
  for (const int pid : ListProcesses()) {
    const auto stat = ReadProcessStat(pid);
    if (!stat) continue;
    all.emplace(pid, *stat);
    children[stat->parent].push_back(pid);
  }
  std::map<Ulid, Process> shims;
  for (const auto& [attempt, first] : attempts) {
    // Its supervisor is the parent of the first process. Should that have died, init or a session's manager
    // is: then only the tree of the first process itself counts.
    Process root{first, 0};
    if (const auto known = shims_.find(attempt); known != shims_.end() && all.contains(known->second.pid) &&
                                                 all[known->second.pid].start == known->second.start) {
      root = known->second;
    } else if (const auto it = all.find(first); it != all.end() && IsShim(it->second.parent)) {
      root = {it->second.parent, all[it->second.parent].start};
    }
    const bool is_shim = root.pid != first;
    if (is_shim) shims.emplace(attempt, root);
    int64_t bytes = is_shim || !all.contains(first) ? 0 : OwnMemory(first);
    std::set<int> seen = {root.pid};  // the snapshot is not atomic: a chain may loop
    std::vector<int> open = {root.pid};
    while (!open.empty()) {
      const int parent = open.back();
      open.pop_back();
      for (const int pid : children[parent]) {
        if (!seen.insert(pid).second) continue;
        bytes += OwnMemory(pid);
        open.push_back(pid);
      }
    }
    result.push_back({attempt, bytes});
  }
  shims_ = std::move(shims);
  return result;
}

}  // namespace ty
