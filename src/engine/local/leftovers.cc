#include "engine/local/leftovers.h"

#include <signal.h>

#include <algorithm>

#include "posix/cgroups.h"
#include "posix/clocks.h"
#include "posix/files.h"
#include "posix/process.h"
#include "wire/spec.h"

namespace ty {

namespace {

constexpr int64_t kUnkillableAfter = 30'000'000'000;

// Where its tree may be held, whatever level is in use now: its own word, and every place we know.
std::vector<Cgroup> LeavesOf(const AttemptFolder& folder, const std::string& instance) {
  std::vector<Cgroup> leaves;
  const std::string name = "/a-" + folder.attempt().Text();
  if (const auto text = ReadFile(folder.paths().Spec(), 64 << 20)) {
    const auto spec = wire::DecodeSpec(*text);
    const auto kind = spec ? ParseContainment(spec->containment) : std::nullopt;
    if (kind && spec->cgroup.ends_with(name)) leaves.push_back({*kind, spec->cgroup});
  }
  for (const CgroupRoot& root : KnownCgroupRoots(instance)) {
    Cgroup leaf = root.Attempt(folder.attempt().Text());
    const bool known =
        std::any_of(leaves.begin(), leaves.end(), [&](auto& other) { return other.path == leaf.path; });
    if (!known) leaves.push_back(std::move(leaf));
  }
  return leaves;
}

// Members of the session that the task's first process led. A session's number is only its while that process
// or a member lives, and a recorded number may long be somebody else's. So the leader must be the recorded
// one, or the member must still write to the attempt's log.
std::vector<Process> FindSession(const wire::SlotRecord& record, const std::string& log) {
  std::vector<Process> found;
  if (record.pid <= 0) return found;
  const auto leader = ReadProcessStat(static_cast<int>(record.pid));
  const bool ours = leader && leader->start == static_cast<uint64_t>(record.start);
  if (leader && !ours) return found;
  for (const int pid : ListProcesses()) {
    const auto stat = ReadProcessStat(pid);
    if (!stat || stat->session != record.pid || stat->state == 'Z' || stat->state == 'X') continue;
    if (stat->start < static_cast<uint64_t>(record.start)) continue;
    if (ours || WritesTo(pid, log)) found.push_back({pid, stat->start});
  }
  return found;
}

}  // namespace

bool EndLeftovers(const AttemptFolder& folder, const std::string& instance, Background& background,
                  const std::function<void()>& unkillable) {
  const std::vector<Cgroup> leaves = LeavesOf(folder, instance);
  const std::string marker = "TRAINYARD_ID=" + folder.attempt().Text();
  const wire::SlotRecord record = folder.ReadSlot().newest.value_or(wire::SlotRecord{});
  const int64_t began = MonotonicNanos();
  bool told = false;
  for (milliseconds pause(2);; pause = std::min(pause * 2, milliseconds(500))) {
    bool alive = false;
    for (const Cgroup& leaf : leaves) {
      if (!leaf.Populated()) continue;
      alive = true;
      leaf.Kill();
    }
    std::vector<Process> processes = FindMarked(marker);
    for (const Process& process : FindSession(record, folder.paths().Log())) processes.push_back(process);
    for (const Process& process : processes) {
      alive = true;
      (void)SignalProcess(process, SIGKILL);
    }
    if (!alive) break;
    if (!told && MonotonicNanos() - began > kUnkillableAfter) {
      told = true;
      unkillable();
    }
    if (!background.Pause(pause)) return false;
  }
  for (const Cgroup& leaf : leaves) (void)leaf.Remove();
  return true;
}

}  // namespace ty
