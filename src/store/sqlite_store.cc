// The store on disk: one connection that both commits and checkpoints, so that neither races the other.
#include <malloc.h>

#include "base/log.h"
#include "base/paths.h"
#include "msg/store.h"
#include "store/ledger.h"
#include "store/migrations.h"
#include "store/sqlite.h"
#include "store/sqlite_rows.h"

namespace ty {
namespace {

constexpr int64_t kWalBytes = 16 << 20;
constexpr size_t kManyChanges = 1000;
constexpr int kPageBytes = 4096;
constexpr int kWalFull = kWalBytes / (kPageBytes + 24);  // pages; a frame has a header of 24 bytes

class SqliteLedger final : public Ledger {
 public:
  explicit SqliteLedger(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)), rows_(*connection_) {}
  ~SqliteLedger() override {
    if (!connection_->broken() && connection_->wal_pages() > 0) (void)connection_->Checkpoint();
  }

  std::vector<Receipt> Write(std::vector<Batch> batches) override;
  Rows& rows() override { return rows_; }
  void Rest() override;

 private:
  Status WriteAsOne(std::vector<Batch>& batches);
  Status WriteOneByOne(std::vector<Batch>& batches, std::vector<Receipt>& receipts);
  Status ApplyAll(Batch& batch);
  void Undo();
  void RememberSpecs(Batch& batch);
  void ReadSpecs(const Batch& batch, Receipt& receipt);

  std::unique_ptr<Connection> connection_;
  SqliteRows rows_;
  bool grown_ = false;
  size_t changes_ = kManyChanges;  // since the last rest; the first one comes after the loading
};

std::vector<Receipt> SqliteLedger::Write(std::vector<Batch> batches) {
  std::vector<Receipt> receipts;
  for (const Batch& batch : batches) {
    receipts.push_back({.number = batch.number});
    changes_ += batch.changes.size();
  }

  // The stall of a checkpoint comes after the receipts of the group that filled the WAL.
  if (connection_->wal_pages() > kWalFull) (void)connection_->Checkpoint();
  Status written = WriteAsOne(batches);
  const bool blame_one = !written && written.error().code != Code::kUnavailable && !connection_->broken();
  if (blame_one && batches.size() > 1) written = WriteOneByOne(batches, receipts);

  for (size_t i = 0; i < batches.size(); ++i) {
    if (!written) receipts[i].committed = written;
    if (receipts[i].committed) RememberSpecs(batches[i]);
  }
  for (size_t i = 0; i < batches.size(); ++i)
    if (receipts[i].committed) ReadSpecs(batches[i], receipts[i]);
  return receipts;
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
  status = connection_->Commit();
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
  if (connection_->wal_pages() > 0) (void)connection_->Checkpoint();
  if (!std::exchange(grown_, true)) connection_->GrowWal(kWalBytes);
  connection_->ShrinkMemory();
  // malloc would keep for ever what a bulk submit or the loading of a long queue took for a moment.
  if (changes_ >= kManyChanges) ::malloc_trim(0);
  changes_ = 0;
}

}  // namespace

bool IsBroken(const Error& error) {
  return error.message.id == msg::StoreBroken::kId;
}

Result<std::unique_ptr<Store>> OpenSqliteStore(const std::string& folder) {
  Result<std::unique_ptr<Connection>> connection = Connection::Open(StatePaths{folder}.Database());
  if (!connection) return Forward(connection.error());
  if (const Status migrated = Migrate(**connection); !migrated) return Forward(migrated.error());
  if (const Status swept = SqliteRows(**connection).Sweep(); !swept)
    return Forward((*connection)->AsDamaged(swept.error()));
  return OnThread(std::make_unique<SqliteLedger>(std::move(*connection)));
}

}  // namespace ty
