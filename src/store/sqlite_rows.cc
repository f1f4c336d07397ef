#include "store/sqlite_rows.h"

#include <algorithm>
#include <limits>

#include "msg/store.h"
#include "msg/task.h"
#include "store/columns.h"

namespace ty {
namespace {

constexpr size_t kEnvironmentsKnown = 16;
constexpr size_t kRecentSpecs = 64;

tl::unexpected<Error> Refused(std::string what) {
  return Fail(Code::kInternal, msg::StoreRefused{.what = std::move(what)});
}

template <class T, class Writer>
std::optional<std::string> Text(const std::optional<T>& value, Writer write) {
  if (!value) return std::nullopt;
  return write(*value);
}

template <class Rows, class Reader>
Status ReadAll(Query& query, Rows& rows, Reader read) {
  while (query.Next()) {
    auto row = read(query);
    if (!row) return Forward(row.error());
    rows.push_back(std::move(*row));
  }
  return query.End();
}

// ---- Tasks. The columns of a task in the order in which ReadTask takes them.
#define TASK_COLUMNS                                                                                    \
  "id, uid, name, submitted, state, priority, held, held_reason, gpus, cpus, memory, after, begin_at, " \
  "not_before, "                                                                                        \
  "tags, retry_max, retry_on, retry_delay, attempts, retries, began_progress, checkpoint_path, "        \
  "checkpoint_step, "                                                                                   \
  "checkpoint_bytes, checkpoint_attempt, outcome, ended, wish, place"

constexpr char kInsertTask[] =
    "INSERT INTO task(" TASK_COLUMNS
    ", outcome_kind) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr char kUpdateTask[] =
    "UPDATE task SET state=?5, priority=?6, held=?7, held_reason=?8, gpus=?9, cpus=?10, memory=?11, "
    "after=?12, "
    "begin_at=?13, not_before=?14, tags=?15, retry_max=?16, retry_on=?17, retry_delay=?18, attempts=?19, "
    "retries=?20, "
    "began_progress=?21, checkpoint_path=?22, checkpoint_step=?23, checkpoint_bytes=?24, "
    "checkpoint_attempt=?25, "
    "outcome=?26, ended=?27, wish=?28, place=?29, outcome_kind=?30 "
    "WHERE id=?1 AND uid=?2 AND name=?3 AND submitted=?4 AND state=?31 AND attempts=?32";
constexpr char kOpenTasks[] =
    "SELECT " TASK_COLUMNS " FROM task INDEXED BY task_open WHERE state <> 'ended' ORDER BY id";
constexpr char kCountOpen[] = "SELECT count(*) FROM task INDEXED BY task_open WHERE state <> 'ended'";
constexpr char kFindTask[] = "SELECT " TASK_COLUMNS " FROM task WHERE id = ?";
constexpr char kEndedTasks[] =
    "SELECT " TASK_COLUMNS
    " FROM task INDEXED BY task_ended WHERE state = 'ended' AND ended >= ?1 "
    "AND (ended, id) < (?2, ?3) AND (?4 IS NULL OR instr(?4, ' ' || outcome_kind || ' ')) "
    "ORDER BY ended DESC, id DESC";
#undef TASK_COLUMNS

// The values of a task, for kInsertTask and, with two more, for kUpdateTask.
template <class Run>
Status WithValues(const Task& task, Run run) {
  const auto held_reason = Text(task.held_reason, columns::FromMessage);
  const auto outcome = Text(task.outcome, columns::FromOutcome);
  const SqlValue outcome_kind = task.outcome ? SqlValue(Name(task.outcome->kind)) : SqlValue(nullptr);
  const std::string gpus = columns::FromCounts(task.gpus);
  const std::string after = columns::FromDependencies(task.after);
  const std::string tags = columns::FromList(task.tags);
  const std::string wish = columns::FromWish(task);
  const Checkpoint& checkpoint = task.checkpoint;
  return run(task.id, task.uid, task.name, task.submitted, Name(task.state), task.priority, task.held,
             held_reason, gpus, task.cpus, task.memory, after, task.begin, task.not_before, tags,
             task.retry.max, columns::Name(task.retry.on), task.retry.delay, task.attempts, task.retries,
             task.began_progress, checkpoint.path, checkpoint.step, checkpoint.bytes, checkpoint.attempt,
             outcome, task.ended, wish, task.place, outcome_kind);
}

Result<Task> ReadTask(const Query& row) {
  Task task;
  task.id = TaskId{row.Int(0)};
  task.uid = row.Uid(1);
  task.name = row.Text(2);
  task.submitted = FromNanos(row.Int(3));
  const std::optional<TaskState> state = ParseTaskState(row.Text(4));
  if (!state) return Refused("a stored task is in an unknown state");
  task.state = *state;
  task.priority = static_cast<int>(row.Int(5));
  task.held = row.Int(6) != 0;
  if (!row.IsNull(7)) {
    Result<Message> reason = columns::ToMessage(row.Text(7));
    if (!reason) return Forward(reason.error());
    task.held_reason = std::move(*reason);
  }
  task.gpus = columns::ToCounts(row.Text(8));
  task.cpus = static_cast<int>(row.Int(9));
  task.memory = row.Int(10);
  task.after = columns::ToDependencies(row.Text(11));
  task.begin = row.MaybeTime(12);
  task.not_before = row.MaybeTime(13);
  Result<std::vector<std::string>> tags = columns::ToList(row.Text(14));
  if (!tags) return Forward(tags.error());
  task.tags = std::move(*tags);
  if (const auto max = row.MaybeInt(15)) task.retry.max = static_cast<int>(*max);
  task.retry.on = columns::ToRetryOn(row.Text(16));
  task.retry.delay = Duration(row.Int(17));
  task.attempts = static_cast<int>(row.Int(18));
  task.retries = static_cast<int>(row.Int(19));
  task.began_progress = row.Int(20) != 0;
  task.checkpoint = {.path = std::string(row.Text(21)),
                     .step = row.Int(22),
                     .bytes = row.Int(23),
                     .attempt = static_cast<int>(row.Int(24))};
  if (!row.IsNull(25)) {
    Result<Outcome> outcome = columns::ToOutcome(row.Text(25));
    if (!outcome) return Forward(outcome.error());
    task.outcome = std::move(*outcome);
  }
  task.ended = row.MaybeTime(26);
  task.place = row.MaybeInt(28);
  if (const Status wish = columns::ToWish(row.Text(27), task); !wish) return Forward(wish.error());
  return task;
}

// ---- Attempts.
#define ATTEMPT_COLUMNS                                                                              \
  "uid, task, number, created, state, devices, boot, resume, started, ended, outcome, stop_reason, " \
  "stop_kind, seen"

constexpr char kInsertAttempt[] =
    "INSERT INTO attempt(" ATTEMPT_COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr char kUpdateAttempt[] =
    "UPDATE attempt SET state=?5, devices=?6, boot=?7, resume=?8, started=?9, ended=?10, outcome=?11, "
    "stop_reason=?12, "
    "stop_kind=?13, seen=?14 WHERE uid=?1 AND task=?2 AND number=?3 AND created=?4 AND state=?15";
constexpr char kOpenAttempts[] =
    "SELECT " ATTEMPT_COLUMNS " FROM attempt INDEXED BY attempt_open WHERE state <> 'ended' ORDER BY uid";
constexpr char kOneAttempt[] = "SELECT " ATTEMPT_COLUMNS " FROM attempt WHERE task = ? AND number = ?";
constexpr char kAttemptsOfTask[] = "SELECT " ATTEMPT_COLUMNS " FROM attempt WHERE task = ? ORDER BY number";
#undef ATTEMPT_COLUMNS

template <class Run>
Status WithValues(const Attempt& attempt, Run run) {
  const std::string devices = columns::FromList(attempt.devices);
  const std::string seen = columns::FromSeen(attempt);
  const auto outcome = Text(attempt.outcome, columns::FromOutcome);
  const auto stop_reason = Text(attempt.stop_reason, columns::FromMessage);
  return run(attempt.uid, attempt.task, attempt.number, attempt.created, Name(attempt.state), devices,
             attempt.boot, attempt.resume, attempt.started, attempt.ended, outcome, stop_reason,
             Name(attempt.stop_kind), seen);
}

Result<Attempt> ReadAttempt(const Query& row) {
  Attempt attempt;
  attempt.uid = row.Uid(0);
  attempt.task = TaskId{row.Int(1)};
  attempt.number = static_cast<int>(row.Int(2));
  attempt.created = FromNanos(row.Int(3));
  const std::optional<AttemptState> state = ParseAttemptState(row.Text(4));
  if (!state) return Refused("a stored attempt is in an unknown state");
  attempt.state = *state;
  Result<std::vector<std::string>> devices = columns::ToList(row.Text(5));
  if (!devices) return Forward(devices.error());
  attempt.devices = std::move(*devices);
  attempt.boot = row.Text(6);
  attempt.resume = row.Text(7);
  attempt.started = row.MaybeTime(8);
  attempt.ended = row.MaybeTime(9);
  if (!row.IsNull(10)) {
    Result<Outcome> outcome = columns::ToOutcome(row.Text(10));
    if (!outcome) return Forward(outcome.error());
    attempt.outcome = std::move(*outcome);
  }
  if (!row.IsNull(11)) {
    Result<Message> reason = columns::ToMessage(row.Text(11));
    if (!reason) return Forward(reason.error());
    attempt.stop_reason = std::move(*reason);
  }
  attempt.stop_kind = ParseOutcomeKind(row.Text(12)).value_or(OutcomeKind::kCancelled);
  if (const Status seen = columns::ToSeen(row.Text(13), attempt); !seen) return Forward(seen.error());
  return attempt;
}

Event ReadEvent(const Query& row) {
  Event event;
  event.seq = row.Int(0);
  event.at = FromNanos(row.Int(1));
  event.kind = row.Text(2);
  if (const auto task = row.MaybeInt(3)) event.task = TaskId{*task};
  event.attempt = static_cast<int>(row.Int(4));
  event.data = row.Text(5);
  return event;
}

// ---- Leases.
constexpr char kInsertLease[] =
    "INSERT INTO lease(attempt, device, share_milli, asked_milli, mode, memory, slice) "
    "VALUES(?,?,?,?,?,?,?)";
constexpr char kAllLeases[] =
    "SELECT attempt, device, share_milli, asked_milli, mode, memory, slice FROM lease "
    "ORDER BY attempt, device";

Result<Lease> ReadLease(const Query& row) {
  const std::optional<ShareMode> mode = ParseShareMode(row.Text(4));
  if (!mode) return Refused("a stored lease is of an unknown mode");
  return Lease{.attempt = row.Uid(0),
               .device = std::string(row.Text(1)),
               .share_milli = static_cast<int>(row.Int(2)),
               .asked_milli = static_cast<int>(row.Int(3)),
               .mode = *mode,
               .memory = row.Int(5),
               .slice = Duration(row.Int(6))};
}

constexpr char kLastTask[] = "SELECT max(id) FROM task";
constexpr char kSetSetting[] =
    "INSERT INTO setting(key, value) VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value = excluded.value";
// Kept when the task with the highest number is erased, so that its number is not given again.
constexpr char kLastErased[] = "store.last_erased_task";
constexpr char kFindLastErased[] = "SELECT CAST(value AS INTEGER) FROM setting WHERE key = ?";

}  // namespace

// ---- Changes

Status SqliteRows::Apply(Change& change) {
  return std::visit([this](auto& one) { return Add(one); }, change);
}

Status SqliteRows::ExactlyOne(const Status& run, std::string what) const {
  if (!run) return run;
  if (db_.changes() != 1) return Refused(std::move(what));
  return {};
}

Status SqliteRows::Add(TaskAdded& added) {
  const Status inserted =
      WithValues(added.task, [&](const auto&... values) { return db_.Run(kInsertTask, {values...}); });
  if (!inserted) return inserted;
  const Result<int64_t> environment = EnvironmentOf(added.spec.environment);
  if (!environment) return Forward(environment.error());
  const std::string spec = columns::FromSpec(added.spec);
  const std::string& key = added.idempotency_key;
  const Status kept =
      db_.Run("INSERT INTO spec(task, environment, idempotency_key, request_hash, spec) VALUES(?,?,?,?,?)",
              {added.task.id, *environment, key.empty() ? SqlValue(nullptr) : SqlValue(key),
               added.request_hash, spec});
  if (!kept && !key.empty()) return KeyTaken(key, kept.error());
  return kept;
}

Status SqliteRows::KeyTaken(const std::string& key, const Error& otherwise) {
  if (const auto kept = FindKey(key); kept && *kept)
    return Conflict(msg::StoreKeyTaken{.key = key, .task = (*kept)->task.value});
  return Forward(otherwise);
}

Result<int64_t> SqliteRows::EnvironmentOf(const Variables& variables) {
  std::string bytes = columns::FromVariables(variables);
  const int64_t hash = columns::Hash(bytes);
  const auto known = environments_.find(hash);
  if (known != environments_.end() && known->second.second == bytes) return known->second.first;

  const Result<int64_t> stored = db_.Number("SELECT id FROM environment WHERE hash = ? AND variables = ?",
                                            {hash, SqlValue::Blob(bytes)});
  if (!stored) return stored;
  int64_t id = *stored;
  if (id == 0) {
    const Status inserted =
        db_.Run("INSERT INTO environment(hash, variables) VALUES(?,?)", {hash, SqlValue::Blob(bytes)});
    if (!inserted) return Forward(inserted.error());
    id = db_.last_row();
  }
  if (environments_.size() >= kEnvironmentsKnown) environments_.clear();
  environments_.insert_or_assign(hash, std::pair(id, std::move(bytes)));
  return id;
}

Status SqliteRows::Add(TaskChanged& changed) {
  const std::string_view from = Name(changed.from);
  const Status updated = WithValues(changed.task, [&](const auto&... values) {
    return db_.Run(kUpdateTask, {values..., from, changed.attempts_before});
  });
  return ExactlyOne(updated, "task " + std::to_string(changed.task.id.value) + " was not " +
                                 std::string(from) + " with " + std::to_string(changed.attempts_before) +
                                 " launches");
}

Status SqliteRows::Add(AttemptAdded& added) {
  return WithValues(added.attempt,
                    [&](const auto&... values) { return db_.Run(kInsertAttempt, {values...}); });
}

Status SqliteRows::Add(AttemptChanged& changed) {
  const std::string_view from = Name(changed.from);
  const Status updated = WithValues(changed.attempt, [&](const auto&... values) {
    return db_.Run(kUpdateAttempt, {values..., from});
  });
  return ExactlyOne(updated, "attempt " + changed.attempt.uid.Text() + " was not " + std::string(from));
}

Status SqliteRows::Add(LeaseGranted& granted) {
  const Lease& lease = granted.lease;
  return db_.Run(kInsertLease, {lease.attempt, lease.device, lease.share_milli, lease.asked_milli,
                                Name(lease.mode), lease.memory, lease.slice});
}

Status SqliteRows::Add(LeaseChanged& changed) {
  return ExactlyOne(db_.Run("UPDATE lease SET share_milli = ? WHERE attempt = ? AND device = ?",
                            {changed.share_milli, changed.attempt, changed.device}),
                    "attempt " + changed.attempt.Text() + " had no lease on " + changed.device);
}

Status SqliteRows::Add(LeaseReleased& released) {
  return ExactlyOne(
      db_.Run("DELETE FROM lease WHERE attempt = ? AND device = ?", {released.attempt, released.device}),
      "attempt " + released.attempt.Text() + " had no lease on " + released.device);
}

Status SqliteRows::Add(EventAdded& added) {
  const Event& event = added.event;
  return db_.Run("INSERT INTO event(seq, at, kind, task, attempt, data) VALUES(?,?,?,?,?,?)",
                 {event.seq, event.at, event.kind, event.task, event.attempt, event.data});
}

Status SqliteRows::Add(TaskErased& erased) {
  const TaskId id = erased.task;
  const Result<int64_t> last = db_.Number(kLastTask);
  if (!last) return Forward(last.error());
  if (*last == id.value)
    if (const Status kept = db_.Run(kSetSetting, {std::string_view(kLastErased), std::to_string(id.value)});
        !kept)
      return kept;
  if (const Status gone = db_.Run("DELETE FROM attempt WHERE task = ?", {id}); !gone) return gone;
  if (const Status gone = db_.Run("DELETE FROM spec WHERE task = ?", {id}); !gone) return gone;
  std::erase_if(recent_, [id](const auto& recent) { return recent.first == id; });
  return ExactlyOne(db_.Run("DELETE FROM task WHERE id = ? AND state = 'ended'", {id}),
                    "task " + std::to_string(id.value) + " to be erased had not ended");
}

Status SqliteRows::Add(SettingChanged& changed) {
  return db_.Run(kSetSetting, {changed.key, changed.value});
}

void SqliteRows::Remember(TaskId id, TaskSpec spec) {
  recent_.emplace_front(id, std::make_shared<const TaskSpec>(std::move(spec)));
  if (recent_.size() > kRecentSpecs) recent_.pop_back();
}

Status SqliteRows::Sweep() {
  constexpr char kUnused[] =
      "DELETE FROM environment WHERE NOT EXISTS (SELECT 1 FROM spec WHERE spec.environment = environment.id)";
  const Result<int64_t> unused = db_.Number(
      "SELECT EXISTS(SELECT 1 FROM environment WHERE NOT EXISTS "
      "(SELECT 1 FROM spec WHERE spec.environment = environment.id))");
  if (!unused) return Forward(unused.error());
  return *unused ? db_.Run(kUnused) : Status();
}

// ---- Reading

Result<OpenState> SqliteRows::LoadOpen() {
  OpenState state;
  const Result<int64_t> count = db_.Number(kCountOpen);
  if (!count) return Forward(count.error());
  state.tasks.reserve(static_cast<size_t>(*count));
  {
    Query tasks = db_.Ask(kOpenTasks);
    if (const Status read = ReadAll(tasks, state.tasks, ReadTask); !read) return Forward(read.error());
  }
  {
    Query attempts = db_.Ask(kOpenAttempts);
    if (const Status read = ReadAll(attempts, state.attempts, ReadAttempt); !read)
      return Forward(read.error());
  }
  {
    Query leases = db_.Ask(kAllLeases);
    if (const Status read = ReadAll(leases, state.leases, ReadLease); !read) return Forward(read.error());
  }
  {
    Query settings = db_.Ask("SELECT key, value FROM setting ORDER BY key");
    while (settings.Next()) state.settings.emplace_back(settings.Text(0), settings.Text(1));
    if (const Status end = settings.End(); !end) return Forward(end.error());
  }
  const Result<int64_t> last_task = db_.Number(kLastTask);
  if (!last_task) return Forward(last_task.error());
  const Result<int64_t> last_erased = db_.Number(kFindLastErased, {std::string_view(kLastErased)});
  if (!last_erased) return Forward(last_erased.error());
  state.last_task = std::max(*last_task, *last_erased);
  const Result<int64_t> last_event = db_.Number("SELECT max(seq) FROM event");
  if (!last_event) return Forward(last_event.error());
  state.last_event = *last_event;
  return state;
}

Result<std::optional<TaskId>> SqliteRows::LastTask() {
  const Result<int64_t> last = db_.Number(kLastTask);
  if (!last) return Forward(last.error());
  return *last == 0 ? std::nullopt : std::optional(TaskId{*last});
}

Result<TaskRecord> SqliteRows::FindTask(TaskId id) {
  TaskRecord record;
  {
    Query query = db_.Ask(kFindTask, {id});
    const bool found = query.Next();
    if (const Status end = query.End(); !end) return Forward(end.error());
    if (!found) return NotFound(msg::TaskUnknown{.task = std::to_string(id.value)});
    Result<Task> task = ReadTask(query);
    if (!task) return Forward(task.error());
    record.task = std::move(*task);
  }
  Result<std::shared_ptr<const TaskSpec>> spec = FindSpec(id);
  if (!spec) return Forward(spec.error());
  record.spec = std::move(*spec);
  Result<std::vector<Attempt>> attempts = AttemptsOf(id);
  if (!attempts) return Forward(attempts.error());
  record.attempts = std::move(*attempts);
  return record;
}

Result<std::shared_ptr<const TaskSpec>> SqliteRows::FindSpec(TaskId id) {
  for (const auto& [recent, spec] : recent_)
    if (recent == id) return spec;
  Query query = db_.Ask(
      "SELECT spec.spec, environment.variables FROM spec JOIN environment ON environment.id = "
      "spec.environment "
      "WHERE spec.task = ?",
      {id});
  const bool found = query.Next();
  if (const Status end = query.End(); !end) return Forward(end.error());
  if (!found) return NotFound(msg::TaskUnknown{.task = std::to_string(id.value)});
  Result<TaskSpec> spec = columns::ToSpec(query.Text(0));
  if (!spec) return Forward(spec.error());
  Result<Variables> environment = columns::ToVariables(query.Text(1));
  if (!environment) return Forward(environment.error());
  spec->environment = std::move(*environment);
  return std::make_shared<const TaskSpec>(std::move(*spec));
}

Result<std::vector<Attempt>> SqliteRows::AttemptsOf(TaskId id) {
  std::vector<Attempt> attempts;
  Query query = db_.Ask(kAttemptsOfTask, {id});
  if (const Status read = ReadAll(query, attempts, ReadAttempt); !read) return Forward(read.error());
  return attempts;
}

Result<std::optional<TaskId>> SqliteRows::FindName(std::string_view name) {
  const Result<int64_t> id =
      db_.Number("SELECT id FROM task WHERE name = ? ORDER BY id DESC LIMIT 1", {name});
  if (!id) return Forward(id.error());
  return *id == 0 ? std::nullopt : std::optional(TaskId{*id});
}

Result<std::optional<KeptKey>> SqliteRows::FindKey(std::string_view idempotency_key) {
  std::optional<KeptKey> kept;
  Query query = db_.Ask("SELECT task, request_hash FROM spec WHERE idempotency_key = ?", {idempotency_key});
  if (query.Next()) kept = KeptKey{TaskId{query.Int(0)}, std::string(query.Text(1))};
  if (const Status end = query.End(); !end) return Forward(end.error());
  return kept;
}

Result<std::vector<Task>> SqliteRows::ListEnded(const EndedFilter& filter) {
  constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();
  int64_t before_ended = kLatest;
  if (filter.before_ended) {
    before_ended = ToNanos(*filter.before_ended);
  } else if (filter.before != 0) {
    const Result<int64_t> ended =
        db_.Number("SELECT ended FROM task WHERE id = ? AND state = 'ended'", {filter.before});
    if (!ended) return Forward(ended.error());
    if (*ended == 0) return NotFound(msg::TaskUnknown{.task = std::to_string(filter.before)});
    before_ended = *ended;
  }
  const int64_t since = filter.since ? ToNanos(*filter.since) : std::numeric_limits<int64_t>::min();
  std::string kinds = filter.kinds.empty() ? "" : " ";
  for (const OutcomeKind kind : filter.kinds) kinds += std::string(Name(kind)) + " ";
  std::vector<Task> tasks;
  Query query = db_.Ask(kEndedTasks, {since, before_ended, filter.before == 0 ? kLatest : filter.before,
                                      kinds.empty() ? SqlValue(nullptr) : SqlValue(kinds)});
  while (static_cast<int>(tasks.size()) < filter.limit && query.Next()) {
    Result<Task> task = ReadTask(query);
    if (!task) return Forward(task.error());
    if (filter.tag.empty() || std::ranges::find(task->tags, filter.tag) != task->tags.end())
      tasks.push_back(std::move(*task));
  }
  if (const Status end = query.End(); !end) return Forward(end.error());
  return tasks;
}

Result<std::optional<Attempt>> SqliteRows::FindAttempt(TaskId task, int number) {
  Query query = db_.Ask(kOneAttempt, {task, number});
  std::optional<Attempt> found;
  if (query.Next()) {
    Result<Attempt> attempt = ReadAttempt(query);
    if (!attempt) return Forward(attempt.error());
    found = std::move(*attempt);
  }
  if (const Status end = query.End(); !end) return Forward(end.error());
  return found;
}

Result<std::vector<Event>> SqliteRows::ListEvents(int64_t after, int limit) {
  std::vector<Event> events;
  Query query =
      db_.Ask("SELECT seq, at, kind, task, attempt, data FROM event WHERE seq > ? ORDER BY seq LIMIT ?",
              {after, limit});
  while (query.Next()) events.push_back(ReadEvent(query));
  if (const Status end = query.End(); !end) return Forward(end.error());
  return events;
}

}  // namespace ty
