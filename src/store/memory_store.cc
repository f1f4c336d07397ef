// The store for tests and simulations: the same promises, kept by hand instead of by a database.
#include <algorithm>
#include <map>

#include "msg/store.h"
#include "msg/task.h"
#include "store/ledger.h"

namespace ty {
namespace {

tl::unexpected<Error> Refused(std::string what) {
  return Fail(Code::kInternal, msg::StoreRefused{.what = std::move(what)});
}

// What a batch changed, to take it back.
class UndoLog {
 public:
  void Add(std::function<void()> undo) { undos_.push_back(std::move(undo)); }
  void Undo() {
    while (!undos_.empty()) {
      undos_.back()();
      undos_.pop_back();
    }
  }
  void Keep() { undos_.clear(); }

  // Assigns to, inserts or erases what is at `key`, remembering what was there.
  template <class Map>
  void Set(Map& map, const typename Map::key_type& key, std::optional<typename Map::mapped_type> value) {
    const auto there = map.find(key);
    std::optional<typename Map::mapped_type> before;
    if (there != map.end()) before = there->second;
    Add([&map, key, before = std::move(before)] { Put(map, key, before); });
    Put(map, key, std::move(value));
  }

 private:
  template <class Map>
  static void Put(Map& map, const typename Map::key_type& key,
                  std::optional<typename Map::mapped_type> value) {
    if (value)
      map.insert_or_assign(key, std::move(*value));
    else
      map.erase(key);
  }

  std::vector<std::function<void()>> undos_;
};

class MemoryLedger final : public Ledger, private Rows {
 public:
  Status Write(std::vector<Batch>& batches, std::vector<Receipt>& receipts) override;
  Rows& rows() override { return *this; }

 private:
  struct Entry {
    Task task;
    std::shared_ptr<const TaskSpec> spec;
    std::string idempotency_key, request_hash;
  };

  Result<OpenState> LoadOpen() override;
  Result<std::optional<TaskId>> LastTask() override;
  Result<TaskRecord> FindTask(TaskId id) override;
  Result<std::optional<TaskId>> FindName(std::string_view name) override;
  Result<std::optional<KeptKey>> FindKey(std::string_view idempotency_key) override;
  Result<std::vector<Task>> ListEnded(const EndedFilter& filter) override;
  Result<std::optional<Attempt>> FindAttempt(TaskId task, int number) override;
  Result<std::vector<Event>> ListEvents(int64_t after, int limit) override;

  Status Apply(Batch& batch);
  Status Add(TaskAdded& added);
  Status Add(TaskChanged& changed);
  Status Add(AttemptAdded& added);
  Status Add(AttemptChanged& changed);
  Status Add(LeaseGranted& granted);
  Status Add(LeaseChanged& changed);
  Status Add(LeaseReleased& released);
  int LeasedBesides(const std::pair<Ulid, std::string>& key) const;
  Status Add(EventAdded& added);
  Status Add(TaskErased& erased);
  Status Add(SettingChanged& changed);

  std::map<TaskId, Entry> tasks_;
  std::map<std::string, TaskId> keys_;
  std::map<Ulid, Attempt> attempts_;
  std::map<std::pair<TaskId, int>, Ulid> launches_;       // the attempts of a task, by number
  std::map<std::pair<Ulid, std::string>, Lease> leases_;  // by attempt and device
  std::map<int64_t, Event> events_;
  std::map<std::string, std::string> settings_;
  int64_t last_task_ = 0;
  UndoLog undo_;
};

Status MemoryLedger::Write(std::vector<Batch>& batches, std::vector<Receipt>& receipts) {
  for (Batch& batch : batches) {
    Receipt receipt{.number = batch.number, .committed = Apply(batch)};
    if (receipt.committed)
      undo_.Keep();
    else
      undo_.Undo();
    receipts.push_back(std::move(receipt));
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    if (!receipts[i].committed) continue;
    for (const TaskId id : batches[i].specs_wanted)
      if (const auto found = tasks_.find(id); found != tasks_.end())
        receipts[i].specs.emplace_back(id, found->second.spec);
  }
  return {};
}

Status MemoryLedger::Apply(Batch& batch) {
  for (Change& change : batch.changes) {
    const Status applied = std::visit([this](auto& one) { return Add(one); }, change);
    if (!applied) return applied;
  }
  return {};
}

Status CheckEnd(const Task& task) {
  if (IsEnded(task) && (!task.ended || !task.outcome))
    return Refused("an ended task has no end or no outcome");
  return {};
}

Status MemoryLedger::Add(TaskAdded& added) {
  const TaskId id = added.task.id;
  if (id.value <= 0 || tasks_.count(id))
    return Refused("task " + std::to_string(id.value) + " is there already");
  if (const Status end = CheckEnd(added.task); !end) return end;
  const std::string& key = added.idempotency_key;
  if (!key.empty()) {
    if (const auto kept = keys_.find(key); kept != keys_.end())
      return Conflict(msg::StoreKeyTaken{.key = key, .task = kept->second.value});
    undo_.Set(keys_, key, id);
  }
  undo_.Set(tasks_, id,
            Entry{added.task, std::make_shared<const TaskSpec>(added.spec), key, added.request_hash});
  undo_.Add([this, before = last_task_] { last_task_ = before; });
  last_task_ = std::max(last_task_, id.value);
  return {};
}

Status MemoryLedger::Add(TaskChanged& changed) {
  const Task& task = changed.task;
  const auto found = tasks_.find(task.id);
  const Task* before = found == tasks_.end() ? nullptr : &found->second.task;
  if (!before || before->state.index() != changed.from.index() ||
      before->attempts != changed.attempts_before || before->uid != task.uid || before->name != task.name ||
      before->submitted != task.submitted)
    return Refused("task " + std::to_string(task.id.value) + " was not " + std::string(Name(changed.from)) +
                   " with " + std::to_string(changed.attempts_before) + " launches");
  if (const Status end = CheckEnd(task); !end) return end;
  Entry after = found->second;
  after.task = task;
  undo_.Set(tasks_, task.id, std::move(after));
  return {};
}

Status MemoryLedger::Add(AttemptAdded& added) {
  const Attempt& attempt = added.attempt;
  if (!tasks_.count(attempt.task)) return Refused("the task of an attempt is not there");
  if (attempts_.count(attempt.uid) || launches_.count({attempt.task, attempt.number}))
    return Refused("attempt " + attempt.uid.Text() + " is there already");
  undo_.Set(attempts_, attempt.uid, attempt);
  undo_.Set(launches_, {attempt.task, attempt.number}, attempt.uid);
  return {};
}

Status MemoryLedger::Add(AttemptChanged& changed) {
  const Attempt& attempt = changed.attempt;
  const auto found = attempts_.find(attempt.uid);
  const Attempt* before = found == attempts_.end() ? nullptr : &found->second;
  if (!before || before->state != changed.from || before->task != attempt.task ||
      before->number != attempt.number || before->created != attempt.created)
    return Refused("attempt " + attempt.uid.Text() + " was not " + std::string(Name(changed.from)));
  undo_.Set(attempts_, attempt.uid, attempt);
  return {};
}

// What others have of a device.
int MemoryLedger::LeasedBesides(const std::pair<Ulid, std::string>& key) const {
  int sum = 0;
  for (const auto& [other, lease] : leases_)
    if (other.second == key.second && other.first != key.first) sum += lease.share_milli;
  return sum;
}

Status MemoryLedger::Add(LeaseGranted& granted) {
  const Lease& lease = granted.lease;
  const std::pair key(lease.attempt, lease.device);
  if (!attempts_.count(lease.attempt)) return Refused("the attempt of a lease is not there");
  if (leases_.count(key)) return Refused("the lease is there already");
  if (lease.asked_milli < 1 || lease.asked_milli > kWholeDevice || lease.memory < 0 ||
      lease.slice <= Duration::zero())
    return Refused("a lease asks for what no device has");
  if (lease.share_milli < 1 || LeasedBesides(key) + lease.share_milli > kWholeDevice)
    return Refused("the leases of a device exceed it");
  undo_.Set(leases_, key, lease);
  return {};
}

Status MemoryLedger::Add(LeaseChanged& changed) {
  const std::pair key(changed.attempt, changed.device);
  const auto found = leases_.find(key);
  if (found == leases_.end())
    return Refused("attempt " + changed.attempt.Text() + " had no lease on " + changed.device);
  if (changed.share_milli < 1 || LeasedBesides(key) + changed.share_milli > kWholeDevice)
    return Refused("the leases of a device exceed it");
  Lease after = found->second;
  after.share_milli = changed.share_milli;
  undo_.Set(leases_, key, std::move(after));
  return {};
}

Status MemoryLedger::Add(LeaseReleased& released) {
  if (!leases_.count({released.attempt, released.device}))
    return Refused("attempt " + released.attempt.Text() + " had no lease on " + released.device);
  undo_.Set(leases_, {released.attempt, released.device}, std::nullopt);
  return {};
}

Status MemoryLedger::Add(EventAdded& added) {
  const int64_t last = events_.empty() ? 0 : events_.rbegin()->first;
  if (added.event.seq <= last) return Refused("the number of an event is not above the last");
  undo_.Set(events_, added.event.seq, added.event);
  return {};
}

Status MemoryLedger::Add(TaskErased& erased) {
  const auto found = tasks_.find(erased.task);
  if (found == tasks_.end() || !IsEnded(found->second.task))
    return Refused("task " + std::to_string(erased.task.value) + " to be erased had not ended");
  std::vector<std::pair<int, Ulid>> attempts;
  for (auto at = launches_.lower_bound({erased.task, 0});
       at != launches_.end() && at->first.first == erased.task; ++at)
    attempts.emplace_back(at->first.second, at->second);
  for (const auto& [key, lease] : leases_)
    if (attempts_.at(lease.attempt).task == erased.task)
      return Refused("a task with a lease cannot be erased");
  for (const auto& [number, uid] : attempts) {
    undo_.Set(launches_, {erased.task, number}, std::nullopt);
    undo_.Set(attempts_, uid, std::nullopt);
  }
  if (const std::string key = found->second.idempotency_key; !key.empty())
    undo_.Set(keys_, key, std::nullopt);
  undo_.Set(tasks_, erased.task, std::nullopt);
  return {};
}

Status MemoryLedger::Add(SettingChanged& changed) {
  undo_.Set(settings_, changed.key, changed.value);
  return {};
}

Result<OpenState> MemoryLedger::LoadOpen() {
  OpenState state;
  for (const auto& [id, entry] : tasks_)
    if (!IsEnded(entry.task)) state.tasks.push_back(entry.task);
  for (const auto& [uid, attempt] : attempts_)
    if (attempt.state != AttemptState::kEnded) state.attempts.push_back(attempt);
  for (const auto& [key, lease] : leases_) state.leases.push_back(lease);
  for (const auto& [key, value] : settings_) state.settings.emplace_back(key, value);
  state.last_task = last_task_;
  state.last_event = events_.empty() ? 0 : events_.rbegin()->first;
  return state;
}

Result<std::optional<TaskId>> MemoryLedger::LastTask() {
  return tasks_.empty() ? std::nullopt : std::optional(tasks_.rbegin()->first);
}

Result<TaskRecord> MemoryLedger::FindTask(TaskId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return NotFound(msg::TaskUnknown{.task = std::to_string(id.value)});
  TaskRecord record{found->second.task, found->second.spec, {}};
  for (auto at = launches_.lower_bound({id, 0}); at != launches_.end() && at->first.first == id; ++at)
    record.attempts.push_back(attempts_.at(at->second));
  return record;
}

Result<std::optional<TaskId>> MemoryLedger::FindName(std::string_view name) {
  for (auto entry = tasks_.rbegin(); entry != tasks_.rend(); ++entry)
    if (entry->second.task.name == name) return entry->first;
  return std::optional<TaskId>();
}

Result<std::optional<KeptKey>> MemoryLedger::FindKey(std::string_view idempotency_key) {
  const auto found = keys_.find(std::string(idempotency_key));
  if (found == keys_.end()) return std::optional<KeptKey>();
  return KeptKey{found->second, tasks_.at(found->second).request_hash};
}

Result<std::optional<Attempt>> MemoryLedger::FindAttempt(TaskId task, int number) {
  const auto launch = launches_.find({task, number});
  if (launch == launches_.end()) return std::nullopt;
  return attempts_.at(launch->second);
}

Result<std::vector<Task>> MemoryLedger::ListEnded(const EndedFilter& filter) {
  std::optional<std::pair<Time, TaskId>> before;
  if (filter.before_ended) before = {*filter.before_ended, TaskId{filter.before}};
  if (!before && filter.before != 0) {
    const auto last = tasks_.find(TaskId{filter.before});
    if (last == tasks_.end() || !IsEnded(last->second.task))
      return NotFound(msg::TaskUnknown{.task = std::to_string(filter.before)});
    before = {*last->second.task.ended, last->first};
  }
  std::vector<Task> tasks;
  for (const auto& [id, entry] : tasks_) {
    const Task& task = entry.task;
    if (!IsEnded(task) || (filter.since && *task.ended < *filter.since)) continue;
    if (before && std::pair(*task.ended, id) >= *before) continue;
    if (!filter.kinds.empty() && std::ranges::find(filter.kinds, task.outcome->kind) == filter.kinds.end())
      continue;
    if (!filter.tag.empty() && std::ranges::find(task.tags, filter.tag) == task.tags.end()) continue;
    tasks.push_back(task);
  }
  std::ranges::sort(tasks, [](const Task& a, const Task& b) {
    return std::pair(*a.ended, a.id) > std::pair(*b.ended, b.id);
  });
  if (static_cast<int>(tasks.size()) > filter.limit)
    tasks.resize(static_cast<size_t>(std::max(0, filter.limit)));
  return tasks;
}

Result<std::vector<Event>> MemoryLedger::ListEvents(int64_t after, int limit) {
  std::vector<Event> events;
  for (auto event = events_.upper_bound(after);
       event != events_.end() && static_cast<int>(events.size()) < limit; ++event)
    events.push_back(event->second);
  return events;
}

}  // namespace

std::unique_ptr<Store> MakeMemoryStore() {
  return OnThread(std::make_unique<MemoryLedger>());
}

}  // namespace ty
