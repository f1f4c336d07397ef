// Supervisor runs one attempt from GO to its end, with nobody's help: it starts the task, keeps its limits,
// carries out orders, ends the whole tree and leaves the end in the slot (contracts C2, C12, C16).
//
//   lock slot -> read spec -> log, control socket -> GO -> task -> RUNNING -> … -> tree gone -> EXITED ->
//   told -> synced
//
// The task is one process or, with ranks, several; whichever of them fails first by itself decides how the
// attempt ends, and the others are stopped.
//
// Up to GO nothing has run; if somebody else decided (VOID) it goes away silently. Before the task's first
// instruction nothing is synced: what is read after a crash of ours is in the page cache, and after a power
// cut the boot id differs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "posix/fd.h"
#include "shim/child.h"
#include "shim/log_index.h"
#include "shim/log_room.h"
#include "shim/tree.h"
#include "wire/control.h"
#include "wire/slot.h"
#include "wire/spec.h"

namespace ty {

class Supervisor {
 public:
  // `link` is the connection to the daemon that started us, or empty. `leases` descriptors from
  // wire::kFirstLease on are held until the tree is gone and handed to the task.
  Supervisor(std::string folder, UniqueFd link, int leases);
  int Run();  // the exit code

 private:
  static constexpr int64_t kNever = INT64_MAX;
  enum class Stage : uint8_t { kRunning, kAsked, kTerminated, kKilled };
  // The first process of a rank, or the only one.
  struct Leader {
    pid_t pid = 0;  // 0 before its start and once it is reaped
    UniqueFd pidfd;
  };

  // Before GO.
  bool TakeSlot();
  bool ReadSpec();
  void ProtectFromOom();
  void OpenLogs();
  void OpenControl();
  bool SayGo();
  int Refuse(const char* step, int error);

  // From GO on.
  void Start();
  StartFailure StartLeaders();
  bool HasRanks() const { return !record_.ranks.empty(); }
  void Supervise();
  void Wait(int64_t now);
  void ReapChildren();
  void ReapByTime();
  void CountOomKills();
  void Reaped(pid_t pid, int status);
  void EndLeader(size_t rank, pid_t pid, int status);
  void StopOtherRanks(int64_t now);
  void ServeClient(size_t index);
  void CarryOut(const wire::Order& order, wire::News& answer);
  void LookAtLogs(int64_t now);
  int64_t MakeRoom(int64_t now);  // for the logs; returns when to look again, in nanoseconds
  void HandleTimers(int64_t now);
  void CheckLimits(int64_t now);
  struct Asking {  // how a stop is asked for
    int signal = 15;
    wire::Target target = wire::Target::kGroup;
    int64_t grace_ms = 0;
  };
  Asking AskingAtLimits() const { return {spec_.stop_signal, spec_.stop_target, spec_.grace_ms}; }
  void Stop(wire::StoppedBy who, std::string_view reason, const Asking& asking);
  void WriteStopFile(std::string_view reason);
  void Signal(wire::Target target, int signal);
  void ClimbLadder(int64_t now);
  void Kill(int64_t now);
  int Freeze(int64_t deadline_ms);  // errno
  void Thaw();
  int64_t NextTimer(int64_t now) const;
  int64_t ThawedClock(int64_t now) const;  // counts while the task may run
  void Tell(const wire::News& news);
  void WriteRecord();
  int Finish();

  std::string folder_path_;
  UniqueFd folder_, slot_, listener_, child_signal_;
  std::vector<UniqueFd> logs_;  // one a leader
  std::vector<UniqueFd> clients_;
  wire::ShimSpec spec_;
  Tree tree_{Cgroup{}};
  LogIndex index_;
  std::vector<LogRoom> rooms_;  // one a log
  wire::SlotRecord record_;
  const int leases_;
  std::string oom_score_;         // ours before we lowered it; the task gets it back
  const char* failed_step_ = "";  // a preparation that failed: the task ends as never executed, with this
  int failed_errno_ = 0;

  std::vector<Leader> leaders_;
  size_t leading_ = 0;      // of them, not reaped
  UniqueFd ends_;           // epoll of their pidfds, where there are several: tells who ended first
  bool childless_ = false;  // nothing is left to reap
  bool gone_ = false;       // and nobody is inside the cgroup
  int64_t boot_began_ = 0;  // boot clock; all other times are monotonic
  Stage stage_ = Stage::kRunning;
  int64_t ladder_at_ = kNever;                  // the next step
  wire::Target target_ = wire::Target::kGroup;  // of the stop under way
  int64_t leftover_grace_ = 5'000'000'000;  // for those a leader left behind (contracts C16); orders hurry it
  int64_t kill_grace_ = 0;                  // between TERM and KILL
  int64_t killed_at_ = 0, kill_pause_ = 0;
  bool unkillable_ = false;
  int64_t frozen_at_ = 0;  // 0: not frozen
  int64_t thaw_at_ = kNever;
  int64_t frozen_before_ = 0;                     // length of all freezes that are over
  int64_t thawed_began_ = 0, thawed_output_ = 0;  // on the thawed clock: the start, the last output
};

}  // namespace ty
