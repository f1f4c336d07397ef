#include "store/recover.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/log.h"
#include "base/paths.h"
#include "msg/outcome.h"
#include "msg/store.h"
#include "msg/why.h"
#include "posix/files.h"
#include "store/backups.h"
#include "store/migrations.h"
#include "store/salvage.h"
#include "store/sqlite_rows.h"
#include "store/traces.h"

namespace ty {
namespace {

struct Table {
  const char *name, *key;
};
// In an order in which each row finds what it refers to.
constexpr Table kTables[] = {{"task", "id"},     {"environment", "id"},        {"spec", "task"},
                             {"attempt", "uid"}, {"lease", "attempt, device"}, {"event", "seq"},
                             {"setting", "key"}};

bool SyncPath(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = ::fsync(fd) == 0;
  ::close(fd);
  return synced;
}

std::string StampOf(Time now) {
  const time_t at = static_cast<time_t>(ToNanos(now) / 1'000'000'000);
  tm utc{};
  ::gmtime_r(&at, &utc);
  char text[32];
  ::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return text;
}

// A file as a connection of today's schema; nothing when it cannot be read as one.
std::unique_ptr<Connection> OpenAsSource(const std::string& path) {
  Result<std::unique_ptr<Connection>> connection = Connection::Open(path);
  if (!connection || !Migrate(**connection)) return nullptr;
  return std::move(*connection);
}

uint32_t BigEndianAt(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// The first page of the file that this log of SQLite's was written for, as the log has it; empty: it has not.
std::string FirstPageIn(const std::string& log) {
  constexpr size_t kHead = 32, kFrameHead = 24, kSalts = 16, kFrameSalts = 8, kLongest = 1 << 30;
  const auto content = ReadFile(log, kLongest);
  if (!content || content->size() < kHead) return {};
  const std::string_view bytes = *content;
  const size_t size = BigEndianAt(bytes, 8);
  if (size < 512 || size > 65536) return {};
  for (size_t at = kHead; at + kFrameHead + size <= bytes.size(); at += kFrameHead + size) {
    if (bytes.substr(at + kFrameSalts, 8) != bytes.substr(kSalts, 8)) break;  // left from before
    if (BigEndianAt(bytes, at) == 1) return std::string(bytes.substr(at + kFrameHead, size));
  }
  return {};
}

class Recovering {
 public:
  Recovering(std::string home, std::vector<FoundRun> runs, Time now)
      : paths_{std::move(home)}, runs_(std::move(runs)), now_(now) {
    for (const FoundRun& run : runs_) last_number_ = std::max(last_number_, run.task.value);
  }

  Result<Recovery> Run();

 private:
  Result<bool> IsWhole();
  Result<std::string> WhatIsWrong(Connection& connection) const;
  Status Build();
  Status OpenSources();
  Status OpenLogAlone();
  Status TakeInStrays();
  Status Fill();
  Status TakeInRuns();
  Status Mend();
  Status MendTask(TaskId id);
  Status MendLeases();
  Status NeverRepeatNumbers();
  Status HoldWhatMayHaveRun();
  Status Seal();
  Status ChangePlaces();
  Status Count();
  Status Write(Change change) { return rows_->Apply(change); }
  Result<Task> Make(const FoundRun& run);
  static bool IsOf(const FoundRun& run, const TaskRecord& record);
  Status KeepNumbersApart(FoundRun& run);

  std::string Scratch(const char* name) const { return scratch_ + "/" + name; }
  std::string Ready() const { return paths_.Database() + ".recovered"; }

  const StatePaths paths_;
  std::vector<FoundRun> runs_;
  const Time now_;
  const std::string scratch_ = paths_.home + "/recovery";
  std::unique_ptr<Connection> damaged_, backup_, fresh_;
  std::unique_ptr<SqliteRows> rows_;
  std::set<TaskId> touched_;
  std::map<TaskId, TaskId> moved_;  // whose number is another task's now
  int64_t last_number_ = 0;         // of the tasks that runs were of
  Recovery done_;
};

Result<Recovery> Recovering::Run() {
  // Cut short while the files changed places: the new one is complete.
  const bool half = ReadFile(paths_.Suspect(), 64).value_or("") == kHalfRecovered;
  if (half && Exists(Ready())) {
    if (const Status changed = ChangePlaces(); !changed) return Forward(changed.error());
    fresh_ = OpenAsSource(paths_.Database());
    if (fresh_) {
      rows_ = std::make_unique<SqliteRows>(*fresh_);
      (void)Count();
    }
    return done_;
  }
  const Result<bool> whole = IsWhole();
  if (!whole) return Forward(whole.error());
  if (*whole) {
    done_.healthy = true;
    if (const Status taken = TakeInStrays(); !taken) return Forward(taken.error());
    return done_;
  }
  (void)RemoveTree(scratch_);
  if (const auto made = MakeFolders(scratch_, 0700); !made)
    return Fail(Code::kUnavailable,
                msg::StoreRecoverFailed{.what = "mkdir " + scratch_, .folder = paths_.home});
  Status built = Build();
  rows_.reset();
  fresh_.reset();
  damaged_.reset();
  backup_.reset();
  if (built) built = Seal();
  if (built) built = ChangePlaces();
  (void)RemoveTree(scratch_);
  if (!built) return Forward(built.error());
  return done_;
}

// Whether the file can be used as it is. What a newer Trainyard wrote, or another program has open, is no
// damage.
Result<bool> Recovering::IsWhole() {
  if (IsGoneOrEmpty(paths_.Database())) {
    if (Exists(paths_.Database())) done_.found = "empty";
    return false;
  }
  const bool suspect = Exists(paths_.Suspect());
  Result<std::unique_ptr<Connection>> connection = Connection::Open(paths_.Database());
  Status fine = connection ? Status() : Forward(connection.error());
  if (connection) {
    const Result<std::string> wrong = WhatIsWrong(**connection);
    if (!wrong) fine = Forward(wrong.error());
    if (wrong && !wrong->empty()) {
      done_.found = *wrong;
      return false;
    }
    if (fine && suspect) fine = (*connection)->Verify();
    if (fine) fine = Migrate(**connection, paths_.Backups());
    if (fine)
      if (const auto open = SqliteRows(**connection).LoadOpen(); !open) fine = Forward(open.error());
  }
  if (fine) {
    ::unlink(paths_.Suspect().c_str());
    return true;
  }
  const Error& trouble = fine.error();
  if (trouble.code == Code::kUnavailable) return Forward(trouble);
  for (const auto& [name, value] : trouble.message.args)
    if (const auto* text = std::get_if<std::string>(&value); text && name == "what") done_.found = *text;
  return false;
}

Result<std::string> Recovering::WhatIsWrong(Connection& connection) const {
  std::string answer;
  Query check = connection.Ask("PRAGMA integrity_check(1)");
  if (check.Next()) answer = check.Text(0);
  if (const Status end = check.End(); !end) return Forward(end.error());
  return answer == "ok" ? "" : answer;
}

Status Recovering::Build() {
  if (const Status opened = OpenSources(); !opened) return opened;
  if (!damaged_ && !backup_ && runs_.empty() && LastTaskFolder(paths_.home) == 0)
    return Fail(Code::kNotFound, msg::StoreNothingToRecover{.path = paths_.Database(),
                                                            .what = done_.found.empty() ? "-" : done_.found,
                                                            .folder = paths_.Backups()});
  Result<std::unique_ptr<Connection>> fresh = Connection::Open(Scratch("new.db"));
  if (!fresh) return Forward(fresh.error());
  fresh_ = std::move(*fresh);
  Status built = Migrate(*fresh_);
  rows_ = std::make_unique<SqliteRows>(*fresh_);
  if (built) built = fresh_->Begin();
  if (built) built = Fill();
  if (built) built = TakeInRuns();
  if (built) built = HoldWhatMayHaveRun();
  if (built) built = Mend();
  if (built) built = NeverRepeatNumbers();
  if (built) built = fresh_->Commit();
  if (built) built = Count();
  // The new file is to be one file: what lies in its log goes into it.
  if (built) built = fresh_->Script("PRAGMA wal_checkpoint(TRUNCATE)");
  return built;
}

Status Recovering::OpenSources() {
  const bool gone = IsGoneOrEmpty(paths_.Database());
  const Result<bool> there =
      gone ? Result<bool>(false) : CopyReadable(paths_.Database(), Scratch("damaged.db"));
  if (!there) return Forward(there.error());
  if (gone) {
    if (const Status opened = OpenLogAlone(); !opened) return opened;
  }
  if (*there) {
    if (const auto log = CopyReadable(paths_.Database() + "-wal", Scratch("damaged.db-wal")); !log)
      return Forward(log.error());
    damaged_ = OpenAsSource(Scratch("damaged.db"));
  }
  for (const std::string& path : ListBackups(paths_.Backups())) {
    if (!CheckDatabase(path).empty()) continue;
    if (const auto copied = CopyReadable(path, Scratch("backup.db")); !copied) return Forward(copied.error());
    backup_ = OpenAsSource(Scratch("backup.db"));
    if (!backup_) continue;
    done_.backup = path;
    done_.backup_made = TimeOfBackup(path);
    break;
  }
  return {};
}

// The file is gone, its log is not: a young yard's holds everything. Beside an empty file SQLite would throw
// it away; beside its own first page it is read, and what is not in it is missing as a damaged page would be.
Status Recovering::OpenLogAlone() {
  const Result<bool> there = CopyReadable(paths_.Database() + "-wal", Scratch("damaged.db-wal"));
  if (!there) return Forward(there.error());
  const std::string page = FirstPageIn(Scratch("damaged.db-wal"));
  if (page.empty()) return {};
  if (!WriteFileAt(AT_FDCWD, Scratch("damaged.db").c_str(), page))
    return Fail(Code::kUnavailable, msg::StoreRecoverFailed{.what = "damaged.db", .folder = paths_.home});
  damaged_ = OpenAsSource(Scratch("damaged.db"));
  return {};
}

// The file is whole, but runs may be going on that it does not know: somebody put an older copy in its place.
// Only those whose end was not taken in count; of the others it may be that the task was removed.
Status Recovering::TakeInStrays() {
  if (std::none_of(runs_.begin(), runs_.end(), [](const FoundRun& run) { return run.open; })) return {};
  Result<std::unique_ptr<Connection>> connection = Connection::Open(paths_.Database());
  if (!connection) return Forward(connection.error());
  fresh_ = std::move(*connection);
  rows_ = std::make_unique<SqliteRows>(*fresh_);
  std::erase_if(runs_, [](const FoundRun& run) { return !run.open; });
  Status taken = fresh_->Begin();
  if (taken) taken = TakeInRuns();
  for (const TaskId id : touched_)
    if (taken) taken = MendTask(id);
  if (taken && !touched_.empty()) taken = MendLeases();
  if (taken) taken = NeverRepeatNumbers();
  if (taken) taken = fresh_->Commit();
  if (taken) taken = Count();
  rows_.reset();
  fresh_.reset();
  return taken;
}

// Table by table: what can be read of the damaged file is newer, so it comes first; where it cannot be read
// to the end, the backup fills the gaps. A table that was read whole needs none: what is not in it was
// erased.
Status Recovering::Fill() {
  std::string order_rule;
  {
    Query rule = fresh_->Ask("SELECT sql FROM sqlite_schema WHERE name = 'event_comes_after_the_last'");
    if (rule.Next()) order_rule = rule.Text(0);
  }
  Status filled = fresh_->Script("DROP TRIGGER event_comes_after_the_last");
  done_.read_whole = damaged_ != nullptr;
  bool used_backup = false;
  for (const Table& table : kTables) {
    if (!filled) return filled;
    bool complete = false;
    if (damaged_) {
      const auto read = CopyTable(*damaged_, *fresh_, table.name, table.key);
      if (!read) return Forward(read.error());
      complete = read->complete;
      done_.read_damaged |= read->rows > 0;
    }
    if (!complete) done_.read_whole = false;
    if (complete || !backup_) continue;
    const auto read = CopyTable(*backup_, *fresh_, table.name, table.key);
    if (!read) return Forward(read.error());
    used_backup = true;
  }
  if (!used_backup) {
    done_.backup.clear();
    done_.backup_made.reset();
  }
  return fresh_->Script(order_rule.c_str());
}

Result<Task> Recovering::Make(const FoundRun& run) {
  Task task;
  task.id = run.task;
  task.uid = Ulid::Make(run.created);
  task.name = run.name.empty() ? "task-" + std::to_string(run.task.value) : run.name;
  task.submitted = run.created;
  task.gpus = run.spec.gpus;
  task.wish = run.spec.wish;
  if (const Status added = Write(TaskAdded{task, run.spec, {}, {}}); !added) return Forward(added.error());
  done_.made.push_back(task.id);
  return task;
}

// Does the state know this very task? After an older copy was put back its number may have been given again.
bool Recovering::IsOf(const FoundRun& run, const TaskRecord& record) {
  for (const Attempt& other : record.attempts)
    if (other.number == run.number || (run.open && other.state != AttemptState::kEnded)) return false;
  if (!record.spec) return true;
  const std::vector<std::string>&asked = record.spec->argv, &ran = run.spec.argv;
  // The first word was looked up on the way.
  return asked.size() == ran.size() && asked.size() > 0 &&
         std::equal(asked.begin() + 1, asked.end(), ran.begin() + 1) && ran.front().ends_with(asked.front());
}

Status Recovering::KeepNumbersApart(FoundRun& run) {
  if (const auto moved = moved_.find(run.task); moved != moved_.end()) {
    run.task = moved->second;
    return {};
  }
  const Result<TaskRecord> record = rows_->FindTask(run.task);
  if (!record || IsOf(run, *record)) return {};
  const Result<int64_t> task = fresh_->Number("SELECT max(id) FROM task");
  const Result<int64_t> event = fresh_->Number("SELECT max(task) FROM event");
  if (!task || !event) return Forward(task ? event.error() : task.error());
  last_number_ = std::max({last_number_, *task, *event, LastTaskFolder(paths_.home)});
  const TaskId own{++last_number_};
  moved_[run.task] = own;
  run.task = own;
  return {};
}

// Folders of attempts that no row tells of: launched after the copy was made, or lost with a page.
Status Recovering::TakeInRuns() {
  for (FoundRun& run : runs_) {
    const Result<int64_t> known = fresh_->Number("SELECT count(*) FROM attempt WHERE uid = ?", {run.uid});
    if (!known) return Forward(known.error());
    if (*known == 0) {
      if (const Status numbered = KeepNumbersApart(run); !numbered) return numbered;
    }
    const Result<int64_t> spec = fresh_->Number("SELECT count(*) FROM spec WHERE task = ?", {run.task});
    if (!spec) return Forward(spec.error());
    if (*known > 0 && *spec > 0) continue;
    touched_.insert(run.task);
    const Result<int64_t> task = fresh_->Number("SELECT count(*) FROM task WHERE id = ?", {run.task});
    if (!task) return Forward(task.error());
    if (*task == 0) {
      if (const Result<Task> made = Make(run); !made) return Forward(made.error());
    } else if (*spec == 0) {
      // The task is known, but not what it was to run: its supervisor was told.
      FoundRun stand_in = run;
      stand_in.task = TaskId{};
      const Result<int64_t> most = fresh_->Number("SELECT max(id) + 1 FROM task");
      if (!most) return Forward(most.error());
      stand_in.task.value = *most;
      if (const Result<Task> made = Make(stand_in); !made) return Forward(made.error());
      done_.made.pop_back();
      Status moved = fresh_->Run(
          "INSERT INTO spec SELECT ?2, environment, NULL, request_hash, spec FROM spec WHERE task = ?1",
          {stand_in.task, run.task});
      if (moved) moved = fresh_->Run("DELETE FROM spec WHERE task = ?", {stand_in.task});
      if (moved) moved = fresh_->Run("DELETE FROM task WHERE id = ?", {stand_in.task});
      if (!moved) return moved;
    }
    if (*known > 0) continue;

    Attempt attempt;
    attempt.uid = run.uid;
    attempt.task = run.task;
    attempt.number = run.number;
    attempt.boot = run.boot;
    attempt.devices = run.devices;
    attempt.created = run.created;
    if (!run.open) {
      attempt.state = AttemptState::kEnded;
      attempt.ended = now_;
      attempt.outcome = Outcome{.kind = OutcomeKind::kLost, .reason = msg::OutcomeEndUnknown{}};
    }
    // Two with one number can only be a leftover of a run before a recovery: the number is for people.
    const Result<int64_t> taken =
        fresh_->Number("SELECT count(*) FROM attempt WHERE task = ? AND number = ?", {run.task, run.number});
    if (!taken) return Forward(taken.error());
    if (*taken > 0) {
      const Result<int64_t> most =
          fresh_->Number("SELECT max(number) + 1 FROM attempt WHERE task = ?", {run.task});
      if (!most) return Forward(most.error());
      attempt.number = static_cast<int>(*most);
    }
    if (const Status added = Write(AttemptAdded{attempt}); !added) return added;
    ++done_.runs_taken_in;
  }
  return {};
}

// The events may know of launches whose rows are gone, and whose folders were removed with their task.
Status Recovering::HoldWhatMayHaveRun() {
  std::vector<TaskId> doubtful;
  {
    Query query = fresh_->Ask(
        "SELECT task.id FROM task JOIN (SELECT task, max(attempt) AS number FROM event WHERE kind = "
        "'attempt.planned' GROUP BY task) AS known ON known.task = task.id "
        "WHERE task.state = 'waiting' AND task.attempts < known.number AND NOT EXISTS "
        "(SELECT 1 FROM attempt WHERE attempt.task = task.id AND attempt.number >= known.number)");
    while (query.Next()) doubtful.push_back(TaskId{query.Int(0)});
    if (const Status end = query.End(); !end) return end;
  }
  for (const TaskId id : doubtful) {
    const Result<TaskRecord> record = rows_->FindTask(id);
    if (!record) continue;
    TaskChanged change{record->task.state, record->task.attempts, record->task};
    change.task.held = true;
    change.task.held_reason = msg::WhyRecovered{.task = std::to_string(id.value)};
    if (const Status held = Write(std::move(change)); !held) return held;
    done_.held.push_back(id);
  }
  return {};
}

// Rows that come from two times are made to agree, always so that nothing runs twice unasked.
Status Recovering::Mend() {
  {
    Query query = fresh_->Ask("SELECT id FROM task WHERE NOT EXISTS (SELECT 1 FROM spec WHERE task = id)");
    while (query.Next()) done_.lost.push_back(TaskId{query.Int(0)});
    if (const Status end = query.End(); !end) return end;
  }
  for (const TaskId id : done_.lost) {
    touched_.erase(id);
    Status gone =
        fresh_->Run("DELETE FROM lease WHERE attempt IN (SELECT uid FROM attempt WHERE task = ?)", {id});
    if (gone) gone = fresh_->Run("DELETE FROM attempt WHERE task = ?", {id});
    if (gone) gone = fresh_->Run("DELETE FROM task WHERE id = ?", {id});
    if (!gone) return gone;
  }
  const Result<OpenState> open = rows_->LoadOpen();
  if (!open) return Forward(open.error());
  for (const Task& task : open->tasks) touched_.insert(task.id);
  for (const Attempt& attempt : open->attempts) touched_.insert(attempt.task);
  for (const TaskId id : touched_)
    if (const Status mended = MendTask(id); !mended) return mended;
  return MendLeases();
}

Status Recovering::MendTask(TaskId id) {
  const Result<TaskRecord> record = rows_->FindTask(id);
  if (!record) return Forward(record.error());
  Task task = record->task;
  const std::vector<Attempt>& attempts = record->attempts;
  const int launches = attempts.empty() ? 0 : attempts.back().number;
  // Of several that seem open only the last can be.
  for (const Attempt& attempt : attempts) {
    if (attempt.state == AttemptState::kEnded || attempt.number == launches) continue;
    AttemptChanged ended{attempt.state, attempt};
    ended.attempt.state = AttemptState::kEnded;
    ended.attempt.ended = now_;
    ended.attempt.outcome = Outcome{.kind = OutcomeKind::kLost, .reason = msg::OutcomeEndUnknown{}};
    if (const Status written = Write(std::move(ended)); !written) return written;
  }
  const Attempt* last = attempts.empty() ? nullptr : &attempts.back();
  const bool runs = last && last->state != AttemptState::kEnded;
  if (!runs && task.attempts == launches && (IsWaiting(task) || IsEnded(task))) return {};

  TaskChanged change{task.state, task.attempts, {}};
  task.attempts = std::max(task.attempts, launches);
  if (runs) {
    task.state = *ParseTaskState(Name(last->state));
    task.attempts = launches;
    task.held = false;
    task.held_reason.reset();
    task.outcome.reset();
    task.ended.reset();
  } else if (last && last->outcome && launches == task.attempts) {
    task.state = Ended{};
    task.held = false;
    task.held_reason.reset();
    task.outcome = last->outcome;
    task.ended = last->ended.value_or(now_);
  } else if (!IsEnded(task)) {
    task.state = Waiting{};
    task.held = true;
    task.held_reason = msg::WhyRecovered{.task = std::to_string(id.value)};
    task.outcome.reset();
    done_.held.push_back(id);
  }
  change.task = std::move(task);
  return Write(std::move(change));
}

Status Recovering::MendLeases() {
  Status mended =
      fresh_->Run("DELETE FROM lease WHERE attempt NOT IN (SELECT uid FROM attempt WHERE state <> 'ended')");
  if (!mended) return mended;
  const Result<OpenState> open = rows_->LoadOpen();
  if (!open) return Forward(open.error());
  for (const Attempt& attempt : open->attempts) {
    const bool leased = std::any_of(open->leases.begin(), open->leases.end(),
                                    [&](const Lease& lease) { return lease.attempt == attempt.uid; });
    if (leased) continue;
    for (const std::string& device : attempt.devices) {
      const Result<int64_t> taken = fresh_->Number("SELECT count(*) FROM lease WHERE device = ?", {device});
      if (!taken) return Forward(taken.error());
      if (*taken > 0) continue;
      mended = Write(LeaseGranted{Lease{.attempt = attempt.uid, .device = device}});
      if (!mended) return mended;
    }
  }
  return {};
}

// Numbers of tasks that are gone without a trace are not given to others: people have them in their notes,
// and tasks/N may still be there.
Status Recovering::NeverRepeatNumbers() {
  const Result<int64_t> task = fresh_->Number("SELECT max(id) FROM task");
  const Result<int64_t> event = fresh_->Number("SELECT max(task) FROM event");
  if (!task || !event) return Forward(task ? event.error() : task.error());
  const int64_t most = std::max(*event, LastTaskFolder(paths_.home));
  if (most <= *task) return {};
  return Write(SettingChanged{"store.last_erased_task", std::to_string(most)});
}

Status Recovering::Count() {
  const Result<int64_t> tasks = fresh_->Number("SELECT count(*) FROM task");
  const Result<OpenState> open = rows_->LoadOpen();
  if (!tasks || !open) return Forward(tasks ? open.error() : tasks.error());
  done_.tasks = *tasks;
  done_.open = static_cast<int64_t>(open->tasks.size());
  return {};
}

Status Recovering::Seal() {
  const auto failed = [&](std::string what) {
    return Fail(Code::kInternal, msg::StoreRecoverFailed{.what = std::move(what), .folder = paths_.home});
  };
  const std::string fresh = Scratch("new.db");
  ::unlink((fresh + "-wal").c_str());
  if (const std::string wrong = CheckDatabase(fresh); !wrong.empty()) return failed(wrong);
  if (!SyncPath(fresh, O_RDWR)) return failed("fsync " + fresh);
  // From here on a daemon does not touch the file until the places are changed.
  if (!WriteFileAt(AT_FDCWD, paths_.Suspect().c_str(), kHalfRecovered)) return failed(paths_.Suspect());
  SyncPath(paths_.Suspect(), O_RDWR);
  if (::rename(fresh.c_str(), Ready().c_str()) != 0) return failed("rename " + fresh);
  SyncPath(paths_.home, O_RDONLY | O_DIRECTORY);
  return {};
}

// The log goes first: were it left beside the new file, SQLite would take it for that one's.
Status Recovering::ChangePlaces() {
  const auto failed = [&](const std::string& what) {
    return Fail(Code::kInternal, msg::StoreRecoverFailed{.what = what, .folder = paths_.home});
  };
  std::string aside = paths_.Database() + ".damaged-" + StampOf(now_);
  for (int i = 2; Exists(aside) || Exists(aside + "-wal"); ++i)
    aside = paths_.Database() + ".damaged-" + StampOf(now_) + "-" + std::to_string(i);
  for (const char* part : {"-wal", "-shm", ""}) {
    const std::string from = paths_.Database() + part;
    if (!Exists(from)) continue;
    if (::rename(from.c_str(), (aside + part).c_str()) != 0) return failed("rename " + from);
    if (!*part) done_.moved_to = aside;
  }
  SyncPath(paths_.home, O_RDONLY | O_DIRECTORY);
  if (::rename(Ready().c_str(), paths_.Database().c_str()) != 0) return failed("rename " + Ready());
  SyncPath(paths_.home, O_RDONLY | O_DIRECTORY);
  ::unlink(paths_.Suspect().c_str());
  return {};
}

}  // namespace

Result<Recovery> RecoverStore(const std::string& home, const std::vector<FoundRun>& runs, Time now) {
  return Recovering(home, runs, now).Run();
}

}  // namespace ty
