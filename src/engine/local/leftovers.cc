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

// What it was started with; the usual where that cannot be read.
wire::ShimSpec SpecOf(const AttemptFolder& folder) {
  const auto text = ReadFile(folder.paths().Spec(), 64 << 20);
  return text ? wire::DecodeSpec(*text).value_or(wire::ShimSpec{}) : wire::ShimSpec{};
}

// Where its tree may be held, whatever level is in use now: its own word, and every place we know.
std::vector<Cgroup> LeavesOf(const AttemptFolder& folder, const wire::ShimSpec& spec,
                             const std::string& instance) {
  std::vector<Cgroup> leaves;
  const std::string name = "/a-" + folder.attempt().Text();
  const auto kind = ParseContainment(spec.containment);
  if (kind && spec.cgroup.ends_with(name)) leaves.push_back({*kind, spec.cgroup});
  for (const CgroupRoot& root : KnownCgroupRoots(instance)) {
    Cgroup leaf = root.Attempt(folder.attempt().Text());
    const bool known =
        std::any_of(leaves.begin(), leaves.end(), [&](auto& other) { return other.path == leaf.path; });
    if (!known) leaves.push_back(std::move(leaf));
  }
  return leaves;
}

struct Session {
  Process leader;
  std::string log;
  bool ours = false;  // the leader lives
};

// Those of the attempt's first processes: the one of a single process, or one a rank. A session's number is
// only its while its leader or a member lives, and a recorded number may long be somebody else's; such a
// session is left out.
std::vector<Session> SessionsOf(const wire::SlotRecord& record, const AttemptPaths& paths) {
  std::vector<Session> sessions;
  const auto add = [&](const wire::RankProcess& first, std::string log) {
    if (first.pid <= 0) return;
    Session session{{static_cast<int>(first.pid), static_cast<uint64_t>(first.start)}, std::move(log)};
    const auto leader = ReadProcessStat(session.leader.pid);
    session.ours = leader && leader->start == session.leader.start;
    if (!leader || session.ours) sessions.push_back(std::move(session));
  };
  add({record.pid, record.start}, Exists(paths.Log(0)) ? paths.Log(0) : paths.Log());
  for (size_t i = 0; i < record.others.size(); ++i) add(record.others[i], paths.Log(static_cast<int>(i) + 1));
  return sessions;
}

// Their members. Where the leader is gone, a member must still write to the log it was given.
std::vector<Process> FindSessions(const std::vector<Session>& sessions) {
  std::vector<Process> found;
  if (sessions.empty()) return found;
  for (const int pid : ListProcesses()) {
    const auto stat = ReadProcessStat(pid);
    if (!stat || stat->state == 'Z' || stat->state == 'X') continue;
    for (const Session& session : sessions) {
      if (stat->session != session.leader.pid || stat->start < session.leader.start) continue;
      if (session.ours || WritesTo(pid, session.log)) found.push_back({pid, stat->start});
    }
  }
  return found;
}

// Its supervisor, known by its command line: the lock that it holds is out of reach with the folder.
std::optional<Process> FindSupervisor(const AttemptFolder& folder) {
  std::string begin = "trainyard-shim";
  begin += '\0';
  begin += folder.paths().folder;
  begin += '\0';
  for (const int pid : ListProcesses()) {
    const auto words = ReadFile("/proc/" + std::to_string(pid) + "/cmdline", 4096 + begin.size());
    if (!words || !words->starts_with(begin)) continue;
    const auto stat = ReadProcessStat(pid);
    if (stat && stat->state != 'Z' && stat->state != 'X') return Process{pid, stat->start};
  }
  return std::nullopt;
}

}  // namespace

Leftovers EndLeftovers(const AttemptFolder& folder, const std::string& instance, Background& background,
                       const std::function<void()>& unkillable) {
  const wire::ShimSpec spec = SpecOf(folder);
  const std::vector<Cgroup> leaves = LeavesOf(folder, spec, instance);
  const std::string marker = "TRAINYARD_ID=" + folder.attempt().Text();
  const wire::SlotRecord record = folder.ReadSlot().newest.value_or(wire::SlotRecord{});
  const int64_t began = MonotonicNanos();
  bool told = false;
  Leftovers found = Leftovers::kNobody;
  for (milliseconds pause(2);; pause = std::min(pause * 2, milliseconds(500))) {
    bool alive = false;
    for (const Cgroup& leaf : leaves) {
      if (!leaf.Populated()) continue;
      alive = true;
      leaf.Kill();
    }
    std::vector<Process> processes = FindMarked(marker);
    for (const Process& process : FindSessions(SessionsOf(record, folder.paths())))
      processes.push_back(process);
    if (const auto supervisor = FindSupervisor(folder)) {
      // It goes last: as long as it lives, whoever hides from marker and session still descends from it.
      std::vector<Process> below = FindDescendants(supervisor->pid);
      if (below.empty() && !alive) below.push_back(*supervisor);
      processes.insert(processes.end(), below.begin(), below.end());
      alive = true;
    }
    for (const Process& process : processes) {
      alive = true;
      (void)SignalProcess(process, SIGKILL);
    }
    if (!alive) break;
    found = Leftovers::kEnded;
    if (!told && MonotonicNanos() - began > spec.unkillable_ms * 1'000'000) {
      told = true;
      unkillable();
    }
    if (!background.Pause(pause)) return Leftovers::kGivenUp;
  }
  for (const Cgroup& leaf : leaves) (void)leaf.Remove();
  return found;
}

}  // namespace ty
