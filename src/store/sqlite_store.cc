// The store on disk: one connection that both commits and checkpoints, so that neither races the other.
#include <malloc.h>
#include <unistd.h>

#include "base/fail_point.h"
#include "base/log.h"
#include "base/paths.h"
#include "msg/store.h"
#include "posix/files.h"
#include "store/backups.h"
#include "store/ballast.h"
#include "store/ledger.h"
#include "store/migrations.h"
#include "store/recover.h"
#include "store/room.h"
#include "store/sqlite.h"
#include "store/sqlite_rows.h"
#include "store/traces.h"

namespace ty {
namespace {

constexpr int64_t kWalBytes = 16 << 20;
constexpr size_t kManyChanges = 1000;
constexpr int kPageBytes = 4096;
constexpr int kWalFull = kWalBytes / (kPageBytes + 24);  // pages; a frame has a header of 24 bytes

class SqliteLedger final : public Ledger {
 public:
  // `gave_room`: the ballast had to go for the opening.
  SqliteLedger(std::unique_ptr<Connection> connection, StoreSettings settings, Ballast ballast,
               bool gave_room)
      : settings_(std::move(settings)),
        connection_(std::move(connection)),
        rows_(*connection_),
        ballast_(std::move(ballast)),
        backups_(StatePaths{settings_.folder}.Backups(), settings_.backup_every, settings_.check_every) {
    LookAtRoom(gave_room);
  }
  ~SqliteLedger() override {
    backups_.GiveUp();
    if (!connection_->broken() && connection_->wal_pages() > 0) (void)connection_->Checkpoint();
  }

  Status Write(std::vector<Batch>& batches, std::vector<Receipt>& receipts) override;
  Rows& rows() override { return rows_; }
  void Rest() override;
  void Look() override;
  bool Work() override;

 private:
  Status WriteAll(std::vector<Batch>& batches, std::vector<Receipt>& receipts);
  Status WriteAsOne(std::vector<Batch>& batches);
  Status WriteOneByOne(std::vector<Batch>& batches, std::vector<Receipt>& receipts);
  Status ApplyAll(Batch& batch);
  void Undo();
  void RememberSpecs(Batch& batch);
  void ReadSpecs(const Batch& batch, Receipt& receipt);
  bool GiveRoom();
  void LookAtRoom(bool gave_room);
  void Tell(StoreHealth health);

  const StoreSettings settings_;
  std::unique_ptr<Connection> connection_;
  SqliteRows rows_;
  Ballast ballast_;
  Backups backups_;
  StoreHealth health_;
  bool grown_ = false;
  size_t changes_ = kManyChanges;  // since the last rest; the first one comes after the loading
};

bool IsFull(const Status& status) {
  return !status && status.error().message.id == msg::StoreDiskFull::kId;
}
bool IsReadOnly(const Status& status) {
  return !status && status.error().message.id == msg::StoreReadOnly::kId;
}
// SQLite has undone the transaction, and the disk may take the same one later.
bool MayBeTriedAgain(const Status& status) {
  return IsFull(status) || IsReadOnly(status);
}

// A full disk is not a failed sync: SQLite has undone the transaction, and the same one may be run again once
// there is room, which the ballast gives.
Status SqliteLedger::Write(std::vector<Batch>& batches, std::vector<Receipt>& receipts) {
  for (const Batch& batch : batches) changes_ += batch.changes.size();
  Status written = WriteAll(batches, receipts);
  if (IsFull(written) && GiveRoom()) written = WriteAll(batches, receipts);
  StoreHealth health = health_;
  health.stuck = MayBeTriedAgain(written);
  health.read_only = IsReadOnly(written);
  health.low |= health.stuck;
  if (health.low != health_.low)
    if (const auto room = MeasureRoom(settings_.folder)) {
      health.room = room->free;
      health.need = LeastRoom(*room) + BallastSize(*room);
    }
  Tell(std::move(health));
  return written;
}

Status SqliteLedger::WriteAll(std::vector<Batch>& batches, std::vector<Receipt>& receipts) {
  receipts.clear();
  for (const Batch& batch : batches)
    receipts.push_back({.number = batch.number, .committed = {}, .specs = {}});

  // The stall of a checkpoint comes after the receipts of the group that filled the WAL.
  if (connection_->wal_pages() > kWalFull && !TakesNoWriting(settings_.folder))
    (void)connection_->Checkpoint();
  Status written = WriteAsOne(batches);
  const bool blame_one = !written && written.error().code != Code::kUnavailable && !connection_->broken();
  if (blame_one && batches.size() > 1) written = WriteOneByOne(batches, receipts);
  if (MayBeTriedAgain(written)) return written;

  for (size_t i = 0; i < batches.size(); ++i) {
    if (!written) receipts[i].committed = written;
    if (receipts[i].committed) RememberSpecs(batches[i]);
  }
  for (size_t i = 0; i < batches.size(); ++i)
    if (receipts[i].committed) ReadSpecs(batches[i], receipts[i]);
  if (written) backups_.NoteChange();
  return {};
}

// The common case, without a savepoint: all is well.
Status SqliteLedger::WriteAsOne(std::vector<Batch>& batches) {
  Status status = connection_->broken() ? Forward(connection_->Broken()) : connection_->Begin();
  if (!status) return status;
  for (Batch& batch : batches) {
    status = ApplyAll(batch);
    if (!status) {
      Undo();
      return status;
    }
  }
  FAIL_POINT("commit.before");
  status = connection_->Commit();
  FAIL_POINT("commit.after");
  if (!status) Undo();
  return status;
}

// One of them is bad: each gets a savepoint, and only the bad ones are undone.
Status SqliteLedger::WriteOneByOne(std::vector<Batch>& batches, std::vector<Receipt>& receipts) {
  Status status = connection_->Begin();
  for (size_t i = 0; status && i < batches.size(); ++i) {
    status = connection_->Run("SAVEPOINT batch");
    if (!status) break;
    receipts[i].committed = ApplyAll(batches[i]);
    if (receipts[i].committed) {
      status = connection_->Run("RELEASE batch");
      continue;
    }
    // No room or a broken file is nobody's fault: then none is kept.
    if (receipts[i].committed.error().code == Code::kUnavailable || connection_->broken())
      status = receipts[i].committed;
    else if (status = connection_->Run("ROLLBACK TO batch"); status)
      status = connection_->Run("RELEASE batch");
    rows_.Forget();
  }
  if (status) status = connection_->Commit();
  if (!status) Undo();
  return status;
}

Status SqliteLedger::ApplyAll(Batch& batch) {
  for (Change& change : batch.changes)
    if (Status applied = rows_.Apply(change); !applied) return applied;
  return {};
}

void SqliteLedger::Undo() {
  connection_->Rollback();
  rows_.Forget();
}

void SqliteLedger::RememberSpecs(Batch& batch) {
  for (Change& change : batch.changes)
    if (auto* added = std::get_if<TaskAdded>(&change)) rows_.Remember(added->task.id, std::move(added->spec));
}

void SqliteLedger::ReadSpecs(const Batch& batch, Receipt& receipt) {
  for (const TaskId id : batch.specs_wanted) {
    Result<std::shared_ptr<const TaskSpec>> spec = rows_.FindSpec(id);
    if (spec)
      receipt.specs.emplace_back(id, std::move(*spec));
    else if (spec.error().code != Code::kNotFound)
      Log("store: the spec of task " + std::to_string(id.value) +
          " cannot be read: " + spec.error().message.id);
  }
}

// Growing the WAL here and not at the start makes the first start quick.
void SqliteLedger::Rest() {
  if (connection_->broken()) return;
  // A sync that fails there would have us end, though all that was receipted is on the disk.
  if (TakesNoWriting(settings_.folder)) return LookAtRoom(false);
  FAIL_POINT("commit.rest");
  if (connection_->wal_pages() > 0) (void)connection_->Checkpoint();
  if (!connection_->broken() && !std::exchange(grown_, true)) connection_->GrowWal(kWalBytes);
  if (connection_->broken()) return Tell(health_);  // nobody may be waiting who would be told of it
  connection_->ShrinkMemory();
  // malloc would keep for ever what a bulk submit or the loading of a long queue took for a moment.
  if (changes_ >= kManyChanges) ::malloc_trim(0);
  changes_ = 0;
}

// Room for the next transaction at the price of all that can wait.
bool SqliteLedger::GiveRoom() {
  backups_.GiveUp();
  if (!ballast_.Drop()) return false;
  Log("store: the disk is full; the ballast was given up");
  StoreHealth health = health_;
  health.low = true;
  if (const auto room = MeasureRoom(settings_.folder)) {
    health.room = room->free;
    health.need = LeastRoom(*room) + BallastSize(*room);
  }
  Tell(std::move(health));
  return true;
}

void SqliteLedger::Look() {
  if (connection_->broken()) return Tell(health_);
  LookAtRoom(false);
}

// In good times the ballast is there. Low begins a little below what is needed to end it, so that it does not
// come and go with each log line of a task.
void SqliteLedger::LookAtRoom(bool gave_room) {
  const SysResult<Room> room = MeasureRoom(settings_.folder);
  if (!room) return;
  const int64_t missing = ballast_.size() > 0 ? 0 : BallastSize(*room);
  StoreHealth health = health_;
  // What waits to be written tells best whether it can be.
  if (!health.stuck || !health.read_only) {
    const bool was = std::exchange(health.read_only, TakesNoWriting(settings_.folder));
    if (was != health.read_only)
      Log(health.read_only ? "store: the disk has become read-only" : "store: the disk can be written again");
  }
  health.need = LeastRoom(*room) + LeastRoom(*room) / 16 + missing;
  const bool ample = !IsLow(*room) && room->free >= health.need && !health.read_only;
  if (ample && missing > 0 && !ballast_.Make(missing)) return;
  if (IsLow(*room) || gave_room || health.read_only) health.low = true;
  if (ample) health.low = health.stuck = false;
  if (health.low && (!health_.low || room->free < health_.room / 2)) health.room = room->free;
  if (health.low && health_.low) health.need = health_.need;  // what was told stays true
  Tell(std::move(health));
}

void SqliteLedger::Tell(StoreHealth health) {
  health.bad_copy = backups_.bad();
  if (connection_->broken()) health.broken = connection_->why_broken();
  if (!health.low) health.room = health.need = 0;
  if (health == health_) return;
  if (health.low != health_.low)
    Log(!health.low        ? "store: there is room again"
        : health.read_only ? "store: the disk is read-only, nothing new is taken in"
                           : "store: low on room, nothing new is taken in");
  health_ = std::move(health);
  if (settings_.tell) settings_.tell(health_);
}

bool SqliteLedger::Work() {
  if (connection_->broken() || health_.low) {
    backups_.GiveUp();
    return false;
  }
  const bool more = backups_.Work(*connection_);
  if (backups_.bad() != health_.bad_copy) Tell(health_);
  return more;
}

}  // namespace

bool IsBroken(const Error& error) {
  return error.message.id == msg::StoreBroken::kId;
}

Result<std::unique_ptr<Store>> OpenSqliteStore(StoreSettings settings) {
  const StatePaths paths{settings.folder};
  // A recovery that was cut short has moved things about; it alone knows how to go on.
  const bool suspect = Exists(paths.Suspect());
  if (suspect && ReadFile(paths.Suspect(), 64).value_or("") == kHalfRecovered)
    return Fail(Code::kUnavailable, msg::StoreHalfRecovered{.path = paths.Database()});
  // Nor may SQLite see an empty file: it would throw the log beside it away, and all that is left in it.
  if (IsGoneOrEmpty(paths.Database())) {
    if (const std::string traces = TracesIn(settings.folder); !traces.empty())
      return Fail(Code::kUnavailable,
                  msg::StoreMissing{.path = paths.Database(), .traces = traces, .home = settings.folder});
  }

  // On a full disk not even the opening is sure to work.
  Ballast ballast(paths.Ballast());
  const SysResult<Room> room = MeasureRoom(settings.folder);
  const bool no_inode = room && room->inodes > 0 && room->inodes_free == 0;
  const bool gave_room = room && (room->free < BallastSize(*room) || no_inode) && ballast.Drop();

  Result<std::unique_ptr<Connection>> connection = Connection::Open(paths.Database());
  if (!connection) return Forward(connection.error());
  if (suspect) {
    Log("store: the last run ended because of " + paths.Database() + "; it is read through first");
    if (const Status verified = (*connection)->Verify(); !verified) return Forward(verified.error());
    ::unlink(paths.Suspect().c_str());
    Log("store: it is good");
  }
  if (const Status migrated = Migrate(**connection, paths.Backups()); !migrated)
    return Forward(migrated.error());
  const Status swept = SqliteRows(**connection).Sweep();
  if (IsReadOnly(swept)) return Forward(swept.error());
  if (!swept && !IsFull(swept)) return Forward((*connection)->AsDamaged(swept.error()));
  const Duration look_every = settings.look_every;
  return OnThread(std::make_unique<SqliteLedger>(std::move(*connection), std::move(settings),
                                                 std::move(ballast), gave_room),
                  look_every);
}

}  // namespace ty
