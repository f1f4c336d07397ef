// Engine runs attempts. `local` starts one shim an attempt on this host (contracts C2, C12).
// Calls return at once; what happens comes back as AttemptNews through the callback given at construction,
// from the engine's own thread. Nothing is started twice: a folder exists once, its decision is made once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/signals.h"
#include "model/task.h"
#include "posix/fd.h"

namespace ty {

struct LaunchOrder {
  Ulid attempt;
  TaskId task;
  int number = 1;
  std::vector<std::string> argv;  // argv[0] without a slash is looked up in the PATH of `environment`
  std::string workdir;
  std::vector<std::string> environment;  // "K=V", final: variables of contracts C3 included
  std::string out_folder;                // made when missing
  int umask = 022;
  std::vector<int> cpus;             // affinity; empty: leave as it is
  std::vector<std::string> devices;  // ids of what it was given; only noted, for who finds it without a row
  // One process each, with variables of its own on top; empty: one process. Their output goes to log.0,
  // log.1…
  struct Rank {
    std::vector<std::string> environment;  // "RANK=0", …
    std::vector<int> cpus;
  };
  std::vector<Rank> ranks;
  // Host leases (contracts C8): open in every process of the attempt, its supervisor included, and in nobody
  // else, so that a card stays held as long as any of them lives.
  std::vector<std::shared_ptr<const UniqueFd>> leases;
  std::optional<Duration> time_limit, idle_limit;
  std::optional<int64_t> log_limit;  // bytes of a log; more than that and its middle goes
  int stop_signal = 15;              // how the shim itself stops it at a limit
  StopTarget stop_target = StopTarget::kGroup;
  Duration grace = seconds(60);
  Duration unkillable_after = seconds(30);  // how long after KILL it is said that something is still there
  std::string head;                         // text of head.json
};

struct StopOrder {
  std::string reason;  // written to the stop file
  int signal = 15;
  StopTarget target = StopTarget::kGroup;
  Duration grace = seconds(60);
};

struct ExitRecord {
  enum class Kind : uint8_t { kExited, kExecFailed };
  Kind kind = Kind::kExited;
  std::optional<int> exit_code;
  std::optional<int> signal;
  bool core_dumped = false;  // of the process whose end it is
  std::string core_file;     // where that lies, if it could be found
  int exec_errno = 0;        // kExecFailed
  std::string exec_step;     // "exec", "chdir", "log", …: what failed
  enum class StoppedBy : uint8_t { kNobody, kOrder, kTimeLimit, kIdleLimit } stopped_by = StoppedBy::kNobody;
  bool killed_by_shim = false;  // KILL was needed
  int oom_kills = 0;            // of the attempt's own cgroup, where counted
  // Where it is not counted: those in the memory cgroup that daemon and attempts share (a container's,
  // mostly) since its launch.
  int oom_kills_nearby = 0;
  bool oom_counted = false;  // one of the two was read: then 0 says that there was none
  Time started, ended;       // wall clock; `ended` - `started` from the monotonic clock
  int64_t cpu_ms = 0;        // user + system of the tree, as reaped
  // With ranks: each one's own end, by rank. exit_code and signal above are those of the first that failed by
  // time, or 0; `failed_rank` names it if it failed by itself, not because of a stop that came before, and it
  // names the one that could not be started.
  std::vector<RankEnd> ranks;
  std::optional<int> failed_rank;
};

struct AttemptRunning {
  Time started;
  int pid = 0;  // of its first process (of rank 0)
  bool adopted = false;
  bool frozen = false;
  bool unkillable = false;  // as AttemptUnkillable; told before we were connected
};
struct AttemptExited {
  ExitRecord record;
};
struct AttemptNotStarted {};  // VOID, same boot: back to the queue, not counted
struct AttemptRefused {       // could not be prepared: folder, cgroup, spawn; kUnavailable: for want of
                              // something that others use up now, so that a later try may do
  Error error;
};
struct AttemptLost {
  enum class Why : uint8_t { kShimDied, kReboot } why = Why::kShimDied;
};
struct AttemptStuck {};       // the shim holds its lock and does not answer; leases stay
struct AttemptUnkillable {};  // KILL was sent and the tree is not empty
struct AttemptFrozen {};
struct AttemptThawed {};  // asked for, or its deadline passed, or it is being stopped
struct AttemptFreezeRefused {
  int error = 0;  // errno
};

// Found at adoption: a run that lives and that no row tells of. It is watched, never touched.
struct StrayFound {
  TaskId task;  // as its folder says; 0 where that cannot be read
  int number = 0;
  int shim = 0;  // its supervisor's pid
  std::string command;
  // What it was given. Nothing: its folder does not say, and what it is pinned to and sees must tell.
  std::optional<std::vector<std::string>> devices;
  std::vector<int> cpus;
};
struct StrayGone {};

struct AttemptNews {
  Ulid attempt;
  std::variant<AttemptRunning, AttemptExited, AttemptNotStarted, AttemptRefused, AttemptLost, AttemptStuck,
               AttemptUnkillable, AttemptFrozen, AttemptThawed, AttemptFreezeRefused, StrayFound, StrayGone>
      what;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual void Launch(LaunchOrder order) = 0;
  virtual void Stop(Ulid attempt, StopOrder order) = 0;
  // Stops all its processes where they are; the supervisor thaws them by itself after `deadline`, daemon or
  // not. A freeze of what is frozen only renews the deadline and is not told again.
  virtual void Freeze(Ulid attempt, Duration deadline) = 0;
  virtual void Thaw(Ulid attempt) = 0;
  // After a restart: looks at every open attempt in parallel and bounded, and reports one piece of news on
  // each. `done` is called on the engine's thread once each has been reported (a stuck one after its bound).
  // Folders without a row are named in `strays`: what does not run is moved to attempts/.quarantine, what
  // does was told of before as StrayFound, and StrayGone comes once it has ended.
  virtual void Adopt(std::vector<Attempt> open,
                     std::function<void(std::vector<std::string> strays)> done) = 0;
  // The end is durable: decision, slot and control socket go; log and files stay.
  virtual void Acknowledge(Ulid attempt) = 0;
  // `rm`: the whole attempt folder goes.
  virtual void Remove(Ulid attempt) = 0;
  // "cgroup2", "freezer" or "subreaper": how trees are held (contracts C12).
  virtual std::string Containment() const = 0;
};

struct LocalEngineSettings {
  std::string state_folder;      // attempts/ is inside
  std::string shim_program;      // absolute path of trainyard-shim
  std::string instance;          // names the cgroup
  std::string containment = {};  // "cgroup2", "freezer" or "subreaper" instead of the best that works here
};
Result<std::unique_ptr<Engine>> OpenLocalEngine(const LocalEngineSettings& settings,
                                                std::function<void(AttemptNews)> news);

}  // namespace ty
