// The Yard owns all state, on one thread. Others post Inputs; Turn applies them, decides, records, and hands
// one batch to the store. Nothing acts before its row is durable: launches, stops and replies follow the
// receipt. One verb, one file: submit.cc, act.cc, launch.cc, observe.cc, finish.cc, adopt.cc, queue.cc;
// reports.cc for what the watch sees, devices.cc for quarantine and holds, leases.cc for who has what.
#pragma once

#include <boost/json/fwd.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "os/clock.h"
#include "os/device_watch.h"
#include "os/host_leases.h"
#include "os/probe.h"
#include "sched/sched.h"
#include "triage/triage.h"
#include "yard/inbox.h"
#include "yard/input.h"
#include "yard/journal.h"
#include "yard/ledger.h"
#include "yard/view.h"

namespace ty {

struct YardSettings {
  std::string home;             // state folder
  std::string boot;             // boot id of this machine
  std::string instance;         // names this yard to people and in cgroups
  std::string owner;            // user name
  std::string python_folder;    // of the helper package, appended to PYTHONPATH; empty: none
  Variables basics;             // HOME, PATH, … of the yard's start (contracts C7)
  bool devices_chosen = false;  // `--devices cpu:N`: nothing else is given out
  bool expect_gpus = false;     // the slots of the machine are only given out if there turn out to be none
  bool survives_logout = false;
  bool survives_reboot = false;
  Time started;
};

// Runs one errand after the other on a thread that may block: hashing a script, deleting a folder.
using Errand = std::function<void()>;
using Errands = std::function<void(Errand)>;

class Yard {
 public:
  // `watch` and `host` may be missing: a yard of CPU slots needs neither.
  Yard(YardSettings settings, Machine machine, Store& store, Engine& engine, Ingest& ingest, Inbox& inbox,
       Errands errands, DeviceWatch* watch = nullptr, HostLeases* host = nullptr);
  ~Yard();

  // Times given here go on evenly, even when the wall clock is set (ClockSet).
  // Takes over what the store holds; adoption of running attempts comes before any scheduling.
  void Open(OpenState state, Time now);
  void Turn(Time now);
  // When Turn should be called even if nobody posts.
  std::optional<Time> next_wakeup() const;
  // Commits what is pending; running tasks go on.
  void Close(Time now);
  // A commit failed: what memory says is no longer what the disk says. The daemon must end and start anew.
  const std::optional<Error>& broken() const { return broken_; }

  // For questions, on the Yard's thread.
  bool IsOpen(TaskId id) const;
  std::optional<TaskView> Describe(TaskId id) const;
  std::vector<TaskView> ListOpen(const OpenFilter& filter) const;
  std::vector<DeviceView> Devices() const;
  std::string LabelsOf(const Attempt& attempt) const { return ledger_.Labels(attempt.devices); }
  YardView Overview() const;
  std::optional<Message> Why(TaskId id) const;
  std::vector<TaskId> Running() const;
  int64_t last_durable_event() const { return durable_event_; }
  const YardSettings& settings() const { return settings_; }

 private:
  // The current attempt of a task and what is known of it while it lasts.
  struct Live {
    Attempt attempt;
    bool launched = false;  // the engine has the order
    bool stuck = false, unkillable = false;
    bool frozen = false;                                 // another sharer has the floor
    bool leased = false;                                 // the devices of its attempt are still its
    std::vector<std::shared_ptr<const UniqueFd>> locks;  // host leases
    int cores = 0;                    // counted against the machine's, when it has no device
    int pid = 0;                      // of its first process
    int port = 0;                     // of its ranks' rendezvous
    bool displaced = false;           // stopped by us, to run again elsewhere or alone
    bool device_broke = false;        // a device of its was lost or had a hardware fault while it ran
    std::vector<Evidence::Xid> xids;  // faults of its devices the driver told of, but harmless ones
    std::optional<Time> kill_at;      // it was asked to stop: when it is killed at the latest
    std::optional<ExitRecord> exit;   // it is over; the tail of its log is being read
    std::optional<LogTail> mute;      // that tail, which explains nothing: the driver is asked, since `asked`
    Time asked;
    std::optional<Progress> progress;
    std::vector<std::pair<std::string, double>> metrics;
    std::optional<Pace> pace;
    Time paced;      // when its newest step was
    Time last_mark;  // of progress.mark
    bool marked = false;
    FailureClass previous = FailureClass::kNone;
  };
  // Running order of waiting tasks for people; as that of the queue.
  static QueuePlace KeyOf(const Task& task) {
    return {-static_cast<int64_t>(task.priority), PlaceWithin(task), task.id};
  }

  void Apply(Submit& submit);        // submit.cc
  void Apply(Preview& preview);      // submit.cc
  void Apply(Act& act);              // act.cc
  void Apply(PauseQueue& pause);     // act.cc
  void Apply(ActOnDevices& act);     // devices.cc
  void Apply(DeviceReport& report);  // reports.cc
  void Apply(Ask& ask);              // yard.cc
  void Apply(AwaitEnd& await);       // yard.cc
  void Apply(AwaitEvents& await);    // yard.cc
  void Apply(Committed& committed);  // yard.cc
  void Apply(Adopted& adopted);      // adopt.cc
  void Apply(AttemptNews& news);     // observe.cc
  void Apply(Observation& seen);     // observe.cc
  void Apply(TailRead& tail);        // finish.cc
  void Apply(CodeSeen& seen);        // observe.cc
  void Apply(ClockSet& set);         // queue.cc
  void Apply(HostChanged& host);     // yard.cc
  void Apply(StoreHealth& health);   // yard.cc

  // submit.cc
  Result<Task> Admit(const Submit& submit, size_t index, TaskId first) const;
  std::vector<Error> FaultsOf(const TaskSpec& spec, const Submit& submit) const;
  Result<std::optional<SubmitReceipt>> FindRepeat(const Submit& submit, const SubmitItem& item) const;
  Message DescribeLeases(const Task& task, const Attempt& attempt) const;
  std::optional<Decision> WouldStart(TaskId id) const;
  Message DescribeStart(const Task& task, const Decision& decision) const;
  Message DescribeWish(const Task& task) const;
  Message DescribeDevices(bool ranks, const std::vector<std::string>& ids, const Share& share,
                          int64_t memory) const;
  int64_t LeastMemoryOfPart(const Task& task) const;
  SubmitReceipt WriteReceipt(const Task& task, bool own_shell) const;

  // queue.cc: where a waiting task stands
  void Place(const Task& task);
  void Unplace(TaskId id);
  void WakeDue();
  bool HasOpenDependency(const Task& task) const;
  std::vector<OpenDependency> OpenDependenciesOf(const Task& task) const;
  void Watch(const Task& task);  // remembers what it waits for
  void SettleDependents(TaskId ended, OutcomeKind kind);
  void End(Task& task, Outcome outcome, std::optional<Time> at = std::nullopt);
  ty::View MakeView() const;
  std::string NameOf(TaskId id) const;

  // act.cc
  Status ActOn(Task& task, const Act& act);
  Status Cancel(Task& task, Message reason);
  Status Hold(Task& task);
  Status Release(Task& task);
  Status Reprioritise(Task& task, int priority);
  int FirstPriority(const Task& task) const;
  Status Move(Task& task, TaskId beside, bool behind);
  int64_t MakePlace(int64_t rank, std::set<QueuePlace>::iterator next);
  Status Retry(const TaskRecord& record);
  Status Remove(const TaskRecord& record);

  // reports.cc and devices.cc: what is known of each device and what stands against it
  void LoadDevices(const OpenState& state);
  const Entry* KnownAt(const DeviceReading& reading, const DeviceReport& report) const;
  void TakeIn(Entry& entry, DeviceReading&& reading, const DeviceReport& report);
  void LookForForeign(Entry& entry, const DeviceReport& report);
  std::optional<Message> ReasonOf(Entry& entry, std::vector<DeviceProcess> outsiders, int64_t untold,
                                  bool loaded, Time at);
  void LookForMemory(Entry& entry, const DeviceReport& report);
  void Settle(Entry& entry, const DeviceReport& report, bool locked);
  void TakeOut(Entry& entry, OutOfService::Why why, Message reason);
  void Restore(Entry& entry);
  void LoseTenants(Entry& entry);
  void Refresh(const Entry& entry);
  void KeepKnown();
  Status HoldDevice(Entry& entry, std::optional<Time> until);
  Status ReleaseDevice(Entry& entry);
  void EndHolds();
  void TellWatch();
  bool IsLive(const std::optional<Ulid>& attempt) const;
  DeviceView View(const Entry& entry) const;

  // leases.cc: who has what
  void DecideAll();
  bool ClaimHost(const Decision& decision, std::vector<std::shared_ptr<const UniqueFd>>& locks);
  void ShutGate(Entry& entry);
  void Grant(Live& live, const Task& task, const Decision& decision);
  void Regrant(Entry& entry, bool shrink);
  void Free(Live& live);
  void JoinTurns(const Live& live);
  void LeaveTurns(const Live& live);
  void StopTurns(const Live& live);
  void TakeTurns();
  std::optional<Time> NextTurn() const;
  void Apply(Live& live, const AttemptFrozen& news);
  void Apply(Live& live, const AttemptThawed& news);
  void Apply(Live& live, const AttemptFreezeRefused& news);
  bool TakesTurns(const Live& live) const;
  bool Shares(const Live& live) const;          // its device with somebody else, side by side
  Message WhyStopping(const Live& live) const;  // yard.cc
  void Displace(Live& live, Message reason);

  // launch.cc
  void Record(const Decision& decision, std::vector<std::shared_ptr<const UniqueFd>> locks);
  int FindPort();
  std::string NamesOf(const Attempt& attempt) const;
  void Launch(Ulid uid, std::shared_ptr<const TaskSpec> spec);
  LaunchOrder OrderFor(const Task& task, const Live& live, const TaskSpec& spec) const;
  std::string LogHead(const Task& task, const Live& live, const TaskSpec& spec) const;
  void CompareCode(const Live& live, std::shared_ptr<const TaskSpec> spec);
  void SendStop(Ulid uid, std::shared_ptr<const TaskSpec> spec, bool at_once);

  // adopt.cc: runs that live and have no row
  void Apply(const Ulid& attempt, StrayFound& stray);
  void Forget(const Ulid& stray);
  void KeepFromStrays();

  // observe.cc
  void Began(Live& live, const AttemptRunning& news);
  void Unkillable(Live& live);
  void Follow(const Live& live);
  void Exited(Live& live, const AttemptExited& news);
  void Mark(Live& live, bool always);
  std::optional<Duration> TimeLeft(const Live& live) const;

  // finish.cc
  void GoBack(Live& live, Message reason, bool hold);
  void ComeAgain(Live& live, Message reason);
  void Conclude(Live& live, const Outcome& outcome, const RetryAdvice& advice);
  void ConcludeLost(Live& live, AttemptLost::Why why);
  void ConcludeExit(Live& live, const LogTail& tail);
  void ConcludeExit(Live& live, const LogTail& tail, const TaskSpec& spec);
  bool DriverMayKnow(const Live& live, const Outcome& outcome) const;
  void AskDriver(Live& live, const LogTail& tail);
  void ConcludeMute(std::optional<Time> seen);

  // yard.cc
  Task* FindTask(TaskId id);
  const Task* FindTask(TaskId id) const;
  Live* FindLive(Ulid uid);
  const Live* LiveOf(TaskId id) const;
  Live* LiveOf(TaskId id);
  template <class Mutate>
  void Change(Task& task, Mutate mutate) {
    TaskChanged change{task.state, task.attempts, {}};
    mutate(task);
    change.task = task;
    journal_.Write(std::move(change));
  }
  template <class Mutate>
  void Change(Attempt& attempt, Mutate mutate) {
    AttemptChanged change{attempt.state, {}};
    mutate(attempt);
    change.attempt = attempt;
    journal_.Write(std::move(change));
  }
  // Why nothing new is taken in now: the store's disk has too little room. What makes room still goes, unless
  // not even that can be written.
  Status HasRoom(bool makes_room) const;
  void Emit(std::string kind, std::optional<TaskId> task, int attempt, const boost::json::object& data);
  void Emit(std::string kind, std::optional<TaskId> task = std::nullopt, int attempt = 0);
  void Commit();

  YardSettings settings_;
  Machine machine_;
  Store& store_;
  Engine& engine_;
  Ingest& ingest_;
  Inbox& inbox_;
  Errands errands_;
  DeviceWatch* watch_;
  HostLeases* host_;

  // now_ goes on evenly; the wall clock is what people set and read: times that are kept, told or were named
  // by somebody are on it. They differ once it was set while the daemon ran.
  Time Wall() const { return now_ + ahead_; }
  Time OnOurClock(Time wall) const { return wall - ahead_; }

  Time now_;
  Duration ahead_{};
  bool adopting_ = false;
  bool paused_ = false;
  bool decide_ = false;  // something changed that could let a task start
  std::optional<Time> decide_at_;
  std::optional<Time> patient_until_;  // when what was written patiently is committed at the latest
  std::optional<Error> broken_;
  StoreHealth health_;  // while it is low nothing is launched

  std::unordered_map<TaskId, Task> tasks_;  // open ones, and ended ones until their end is durable
  std::unordered_map<Ulid, Live> lives_;
  std::unordered_map<TaskId, Ulid> current_;
  std::set<QueuePlace> order_;  // waiting tasks
  ReadyQueue ready_;
  std::set<std::pair<Time, TaskId>> due_;  // begin and retry delays
  std::unordered_map<TaskId, std::vector<TaskId>> dependents_;
  std::unordered_map<TaskId, OutcomeKind> lately_ended_;
  std::deque<TaskId> lately_ended_order_;
  std::deque<std::pair<TaskId, TaskId>> doomed_;  // to be ended, and because of whom
  bool settling_ = false;
  std::unordered_map<std::string, KeptKey> lately_kept_;  // idempotency keys of this run of the daemon
  std::deque<std::string> lately_kept_order_;
  std::map<Ulid, StrayFound> strays_;   // that run
  std::vector<std::string> put_aside_;  // those that did not, in attempts/.quarantine since this start
  Ledger ledger_;
  int turning_ = 0;                                    // attempts that take turns
  std::set<std::pair<Time, std::string>> device_due_;  // ends of holds, of settling and of shut gates
  std::set<std::pair<Time, Ulid>> mute_;  // attempts whose end the driver may explain, until then
  ProbeState probe_ = ProbeState::kNone;
  std::optional<Message> probe_trouble_;
  std::string driver_, cuda_;
  std::string known_;  // the devices as last written to the settings
  WatchWish wish_;
  int next_port_ = 0;
  int cores_used_ = 0;
  TaskId last_task_;

  Journal journal_;
  std::vector<Ask> asks_;  // of this turn
  uint64_t batches_ = 0;
  struct Pending {
    uint64_t number;
    int64_t last_event;
    std::vector<Journal::Act> acts;
  };
  std::deque<Pending> pending_;
  int64_t last_event_ = 0, durable_event_ = 0;
  std::unordered_multimap<TaskId, std::weak_ptr<std::function<void()>>> await_end_;
  std::vector<AwaitEvents> await_events_;
};

}  // namespace ty
