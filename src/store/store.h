// Store keeps tasks, attempts, leases and events. Two kinds: SQLite on disk, and memory for tests;
// both pass store/store_test.cc. All calls return at once: work is done on the store's own thread, in order,
// and answered from there; whoever calls posts the answer to where it belongs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/event.h"
#include "model/lease.h"
#include "model/task.h"

namespace ty {

// ---- Changes. A Batch is committed whole or not at all.

struct TaskAdded {
  Task task;
  TaskSpec spec;                // its environment is stored once by hash
  std::string idempotency_key;  // empty: none
  std::string request_hash;     // of the submitted JSON, to tell a repeat from a clash of keys
};
// Guarded: exactly one row must have been in state `from` with `attempts_before` launches.
// uid, name and time of submission never change.
struct TaskChanged {
  TaskState from;
  int attempts_before = 0;
  Task task;
};
struct AttemptAdded {
  Attempt attempt;
};
// Guarded: exactly one row must have been in state `from`. uid, task, number and creation never change.
struct AttemptChanged {
  AttemptState from;
  Attempt attempt;
};
// Refused when the leases of the device would exceed it.
struct LeaseGranted {
  Lease lease;
};
// Only what is granted changes. Refused when the leases of the device would exceed it, so shrink first.
struct LeaseChanged {
  Ulid attempt;
  std::string device;
  int share_milli = kWholeDevice;
};
struct LeaseReleased {
  Ulid attempt;
  std::string device;
};
struct EventAdded {
  Event event;  // seq given by the Yard, one more than the last; refused when it is not above the last
};
// The task has ended and holds no lease. Its spec and attempts go too; its events stay, its number is not
// used again.
struct TaskErased {
  TaskId task;
};
struct SettingChanged {
  std::string key, value;  // "queue.paused", "next_task", …
};
using Change = std::variant<TaskAdded, TaskChanged, AttemptAdded, AttemptChanged, LeaseGranted, LeaseChanged,
                            LeaseReleased, EventAdded, TaskErased, SettingChanged>;

struct Batch {
  uint64_t number = 0;
  std::vector<Change> changes;
  std::vector<TaskId> specs_wanted;  // read after the commit, for launches
};

// `committed` fails with kConflict when an idempotency key was used before, kInternal when a guard or rule
// refused a change, or the store is broken (IsBroken). Where there is no room on the disk a batch waits until
// there is; kUnavailable only when the store closes before.
struct Receipt {
  uint64_t number = 0;
  Status committed;
  std::vector<std::pair<TaskId, std::shared_ptr<const TaskSpec>>> specs;  // those wanted that are there
};

// ---- Reading.

// What the Yard needs to go on after a restart; no spec is read.
struct OpenState {
  std::vector<Task> tasks;        // not ended, by id
  std::vector<Attempt> attempts;  // not ended
  std::vector<Lease> leases;      // active
  std::vector<std::pair<std::string, std::string>> settings;
  int64_t last_task = 0;
  int64_t last_event = 0;
};

struct TaskRecord {
  Task task;
  std::shared_ptr<const TaskSpec> spec;
  std::vector<Attempt> attempts;  // by number
};

struct EndedFilter {
  std::optional<Time> since;       // ended at or after
  std::string tag;                 // empty: any
  std::vector<OutcomeKind> kinds;  // empty: any
  // Last task of the page before and its end; the id alone will do unless it was erased since. 0: none.
  int64_t before = 0;
  std::optional<Time> before_ended;
  int limit = 100;
};

struct KeptKey {
  TaskId task;
  std::string request_hash;
};

// What may be asked on the store's thread. Never called elsewhere.
class Rows {
 public:
  virtual ~Rows() = default;
  virtual Result<OpenState> LoadOpen() = 0;
  virtual Result<std::optional<TaskId>> LastTask() = 0;  // the highest number there is: @last
  virtual Result<TaskRecord> FindTask(TaskId id) = 0;    // NotFound when erased or never there
  virtual Result<std::optional<TaskId>> FindName(std::string_view name) = 0;  // the newest of that name
  virtual Result<std::optional<KeptKey>> FindKey(std::string_view idempotency_key) = 0;
  virtual Result<std::optional<Attempt>> FindAttempt(TaskId task, int number) = 0;
  virtual Result<std::vector<Task>> ListEnded(const EndedFilter& filter) = 0;   // the last to end first
  virtual Result<std::vector<Event>> ListEvents(int64_t after, int limit) = 0;  // seq > after, ascending
};

class Store {
 public:
  virtual ~Store() = default;  // finishes what was handed over, then closes
  virtual void Commit(Batch batch, std::function<void(Receipt)> done) = 0;
  // After every batch handed over before; those that wait for room on the disk are not waited for.
  virtual void Read(std::function<void(Rows&)> read) = 0;
};

// How the store's disk is.
struct StoreHealth {
  bool low = false;        // nothing new should be taken in
  bool read_only = false;  // the disk takes no writing at all, room or not
  bool stuck = false;      // nor can what is handed over be written: it waits for room; reads are answered
  int64_t room = 0;        // bytes free when it became so
  int64_t need = 0;        // with so many free all is well again
  std::string bad_copy;    // a backup that failed its check; empty when none did
  std::string broken;      // why the file can no longer be relied on; empty: it can
  bool operator==(const StoreHealth&) const = default;
};

// Whether the file on disk can no longer be relied on. Nothing more is committed then; the daemon ends (exit
// 70).
bool IsBroken(const Error& error);

struct StoreSettings {
  std::string folder;                          // exists and is private
  std::function<void(StoreHealth)> tell = {};  // at each change, from the store's thread
  Duration look_every = seconds(5);            // at the disk
  Duration backup_every = hours(1);
  Duration check_every = hours(24);  // a backup is read through so often
};
// Refuses a newer schema without writing, and a file that another process has open. A file whose last use
// ended in trouble is checked first, and refused when it is damaged.
Result<std::unique_ptr<Store>> OpenSqliteStore(StoreSettings settings);
inline Result<std::unique_ptr<Store>> OpenSqliteStore(const std::string& folder) {
  return OpenSqliteStore(StoreSettings{.folder = folder});
}
std::unique_ptr<Store> MakeMemoryStore();

}  // namespace ty
