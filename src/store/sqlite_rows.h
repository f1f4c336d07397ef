// Tasks, attempts and what belongs to them as rows of yard.db: one function for each change, and all reading.
// Nothing here begins or ends a transaction. One thread at a time.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>

#include "store/sqlite.h"
#include "store/store.h"

namespace ty {

class SqliteRows final : public Rows {
 public:
  explicit SqliteRows(Connection& connection) : db_(connection) {}

  Result<OpenState> LoadOpen() override;
  Result<std::optional<TaskId>> LastTask() override;
  Result<TaskRecord> FindTask(TaskId id) override;
  Result<std::optional<TaskId>> FindName(std::string_view name) override;
  Result<std::optional<KeptKey>> FindKey(std::string_view idempotency_key) override;
  Result<std::vector<Task>> ListEnded(const EndedFilter& filter) override;
  Result<std::optional<Attempt>> FindAttempt(TaskId task, int number) override;
  Result<std::vector<Event>> ListEvents(int64_t after, int limit) override;
  Result<std::shared_ptr<const TaskSpec>> FindSpec(TaskId id);

  // Changes the rows, or says why not. After a failure the transaction holds half of it: roll back, and
  // Forget.
  Status Apply(Change& change);

  // A launch mostly follows its submit at once: the newest specs are at hand without reading.
  void Remember(TaskId id, TaskSpec spec);
  // What is known of rows may have been rolled back.
  void Forget() { environments_.clear(); }

  // Deletes environments that no spec uses.
  Status Sweep();

 private:
  Status Add(TaskAdded& added);
  Status Add(AttemptAdded& added);
  Status Add(EventAdded& added);
  Status Add(LeaseGranted& granted);
  Status Add(TaskChanged& changed);
  Status Add(AttemptChanged& changed);
  Status Add(LeaseChanged& changed);
  Status Add(LeaseReleased& released);
  Status Add(TaskErased& erased);
  Status Add(SettingChanged& changed);

  Result<int64_t> EnvironmentOf(const Variables& variables);
  Status KeyTaken(const std::string& key, const Error& otherwise);
  Status ExactlyOne(const Status& run, std::string what) const;
  Result<std::vector<Attempt>> AttemptsOf(TaskId id);

  Connection& db_;
  // Environments already stored, by hash: most submits of a person come from the same shell.
  std::unordered_map<int64_t, std::pair<int64_t, std::string>> environments_;
  std::deque<std::pair<TaskId, std::shared_ptr<const TaskSpec>>> recent_;
};

}  // namespace ty
