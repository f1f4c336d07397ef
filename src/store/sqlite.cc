#include "store/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/log.h"
#include "msg/store.h"
#include "posix/disks.h"

namespace ty {
namespace {

std::string ParentOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

enum class Lifetime { kCall, kCopied };

int BindAll(sqlite3_stmt* statement, SqlValues values, Lifetime lifetime) {
  const auto destructor = lifetime == Lifetime::kCall ? SQLITE_STATIC : SQLITE_TRANSIENT;
  int index = 0;
  for (const SqlValue& value : values) {
    ++index;
    int rc = SQLITE_OK;
    switch (value.kind()) {
      case SqlValue::Kind::kNull:
        rc = sqlite3_bind_null(statement, index);
        break;
      case SqlValue::Kind::kInteger:
        rc = sqlite3_bind_int64(statement, index, value.number());
        break;
      case SqlValue::Kind::kText: {
        // A null pointer would be NULL, not the empty text.
        const char* text = value.bytes().data() ? value.bytes().data() : "";
        rc = sqlite3_bind_text64(statement, index, text, value.bytes().size(), destructor, SQLITE_UTF8);
        break;
      }
      case SqlValue::Kind::kBlob: {
        const char* bytes = value.bytes().data() ? value.bytes().data() : "";
        rc = sqlite3_bind_blob64(statement, index, bytes, value.bytes().size(), destructor);
        break;
      }
    }
    if (rc != SQLITE_OK) return rc;
  }
  return SQLITE_OK;
}

// Opened for reading alone, since it may not be written, SQLite would find that out by and by and call it
// damage.
std::string WhyNotWritable(sqlite3* db, const std::string& path) {
  if (sqlite3_db_readonly(db, "main") != 1) return "";
  return std::strerror(::access(path.c_str(), W_OK) != 0 ? errno : EACCES);
}

bool MeansNoRoom(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

// SQLite would make the file with the process's umask; it holds the variables of people's shells. Only a file
// that this call makes is opened here: closing one that is in use would drop SQLite's POSIX locks on it.
void MakePrivateFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
}

int RememberWalPages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

}  // namespace

Query::Query(Connection& connection, sqlite3_stmt* statement, int rc)
    : connection_(connection), statement_(statement), rc_(rc) {}

Query::~Query() {
  if (!statement_) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

bool Query::Next() {
  if (rc_ != SQLITE_OK && rc_ != SQLITE_ROW) return false;
  rc_ = sqlite3_step(statement_);
  return rc_ == SQLITE_ROW;
}

Status Query::End() const {
  if (rc_ == SQLITE_DONE || rc_ == SQLITE_ROW || rc_ == SQLITE_OK) return {};
  return tl::unexpected<Error>(connection_.Trouble(rc_));
}

bool Query::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

int64_t Query::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view Query::Text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes ? std::string_view(bytes, static_cast<size_t>(size)) : std::string_view();
}

std::optional<int64_t> Query::MaybeInt(int column) const {
  if (IsNull(column)) return std::nullopt;
  return Int(column);
}

std::optional<Time> Query::MaybeTime(int column) const {
  if (IsNull(column)) return std::nullopt;
  return FromNanos(Int(column));
}

Ulid Query::Uid(int column) const {
  Ulid uid;
  const std::string_view bytes = Text(column);
  std::memcpy(uid.bytes.data(), bytes.data(), std::min(bytes.size(), uid.bytes.size()));
  return uid;
}

Result<std::unique_ptr<Connection>> Connection::Open(const std::string& path) {
  MakePrivateFile(path);
  std::unique_ptr<Connection> connection(new Connection(path));
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int rc = sqlite3_open_v2(path.c_str(), &connection->db_, flags, nullptr);
  if (rc != SQLITE_OK) {
    const int error = connection->db_ ? sqlite3_system_errno(connection->db_) : ENOMEM;
    return Fail(Code::kUnavailable, msg::StoreCannotOpen{.path = path, .why = std::strerror(error)});
  }
  sqlite3* db = connection->db_;
  if (IsReadOnlyDisk(path)) return Fail(Code::kUnavailable, msg::StoreReadOnly{.folder = ParentOf(path)});
  if (const std::string why = WhyNotWritable(db, path); !why.empty())
    return Fail(Code::kUnavailable, msg::StoreNotWritable{.path = path, .why = why});
  sqlite3_busy_timeout(db, 250);  // someone may be looking at the file with a tool
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // A close must write nothing: after a failed fsync, or when the schema is newer than we are.
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  int persist = 1;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
  sqlite3_wal_hook(db, RememberWalPages, &connection->wal_pages_);  // stands for wal_autocheckpoint=0 too
  // EXCLUSIVE comes before the first read: so the WAL's index is kept in memory, and no other process gets
  // in.
  const Status ready = connection->Script(
      "PRAGMA locking_mode=EXCLUSIVE; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA "
      "mmap_size=0;"
      "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-4096; PRAGMA foreign_keys=ON; PRAGMA synchronous=FULL");
  if (!ready) return Forward(connection->AsDamaged(ready.error()));
  return connection;
}

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

Status Connection::Script(const char* sql) {
  const int rc = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) return tl::unexpected<Error>(Trouble(rc));
  return {};
}

sqlite3_stmt* Connection::Prepared(const char* sql, int* rc) {
  *rc = SQLITE_OK;
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  *rc = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (statement) statements_.emplace(sql, statement);
  return statement;
}

Status Connection::Run(const char* sql, SqlValues values) {
  int rc = SQLITE_OK;
  sqlite3_stmt* statement = Prepared(sql, &rc);
  if (!statement) return tl::unexpected<Error>(Trouble(rc));
  rc = BindAll(statement, values, Lifetime::kCall);
  if (rc == SQLITE_OK) rc = sqlite3_step(statement);
  Status status;
  if (rc != SQLITE_DONE && rc != SQLITE_ROW) status = tl::unexpected<Error>(Trouble(rc));
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return status;
}

Query Connection::Ask(const char* sql, SqlValues values) {
  int rc = SQLITE_OK;
  sqlite3_stmt* statement = Prepared(sql, &rc);
  if (statement) rc = BindAll(statement, values, Lifetime::kCopied);
  return Query(*this, statement, rc);
}

Result<int64_t> Connection::Number(const char* sql, SqlValues values) {
  Query query = Ask(sql, values);
  const int64_t number = query.Next() ? query.Int(0) : 0;
  if (const Status end = query.End(); !end) return Forward(end.error());
  return number;
}

int64_t Connection::changes() const {
  return sqlite3_changes64(db_);
}

int64_t Connection::last_row() const {
  return sqlite3_last_insert_rowid(db_);
}

Status Connection::Commit() {
  Status committed = Run("COMMIT");
  if (!committed) Rollback();
  return committed;
}

void Connection::Rollback() {
  if (sqlite3_get_autocommit(db_)) return;  // some errors have rolled back already
  if (const Status undone = Run("ROLLBACK"); !undone && !broken()) Break("a transaction could not be undone");
}

Status Connection::Checkpoint() {
  int left = 0, moved = 0;
  const int rc = sqlite3_wal_checkpoint_v2(db_, "main", SQLITE_CHECKPOINT_PASSIVE, &left, &moved);
  if (rc != SQLITE_OK) {
    const Error trouble = Trouble(rc);
    if (broken()) return Forward(trouble);
    return {};  // no room for it now: the WAL grows until there is
  }
  wal_pages_ = std::max(0, left - moved);
  return {};
}

void Connection::ShrinkMemory() {
  sqlite3_db_release_memory(db_);
}

void Connection::GrowWal(int64_t bytes) {
  // Written, not fallocate()d: only written blocks spare the file system's journal at each commit.
  const std::string wal = path_ + "-wal";
  const int fd = ::open(wal.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info {};
  if (::fstat(fd, &info) == 0) {
    const std::string zeros(256 * 1024, '\0');
    int64_t at = info.st_size;
    while (at < bytes) {
      const size_t size =
          static_cast<size_t>(std::min<int64_t>(bytes - at, static_cast<int64_t>(zeros.size())));
      const ssize_t written = ::pwrite(fd, zeros.data(), size, at);
      if (written <= 0) break;
      at += written;
    }
    if (at > info.st_size && ::fdatasync(fd) != 0) Break("its log could not be synced");
  }
  ::close(fd);
}

Error Connection::Trouble(int rc) {
  const std::string what = sqlite3_errmsg(db_);
  switch (rc & 0xff) {
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
      return {Code::kInternal, msg::StoreRefused{.what = what}};
    case SQLITE_FULL:
      return {Code::kUnavailable, msg::StoreDiskFull{.path = path_}};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::kUnavailable, msg::StoreInUse{.path = path_}};
    case SQLITE_READONLY:
      if (rc == SQLITE_READONLY_DBMOVED) break;
      return {Code::kUnavailable, msg::StoreReadOnly{.folder = ParentOf(path_)}};
    case SQLITE_IOERR:
      // A quota or a size limit is as good as a full disk. A failed fsync never is: what it covered is
      // unknown.
      if (rc == SQLITE_IOERR_WRITE && MeansNoRoom(sqlite3_system_errno(db_)))
        return {Code::kUnavailable, msg::StoreDiskFull{.path = path_}};
      // The transaction is undone: the same one may be run again on a disk that takes it. Of a commit that
      // failed SQLite keeps no errno, so the disk is asked too.
      if (rc == SQLITE_IOERR_WRITE && (sqlite3_system_errno(db_) == EROFS || IsReadOnlyDisk(path_ + "-wal")))
        return {Code::kUnavailable, msg::StoreReadOnly{.folder = ParentOf(path_)}};
      break;
    default:
      break;
  }
  if (!broken()) Break(what + " (" + std::to_string(rc) + ")");
  return Broken();
}

// The mark tells the next start to read the file through. It is not synced: nothing may rest on a disk that
// has just failed, and after a power cut the file system's own word counts.
void Connection::Break(const std::string& why) {
  if (broken()) return;
  broken_ = why;
  Log("store: " + path_ + " is broken: " + why);
  const int fd = ::open((path_ + ".suspect").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
}

Status Connection::Verify() {
  std::string first;
  {
    Query check = Ask("PRAGMA quick_check(1)");
    if (check.Next()) first = check.Text(0);
    if (const Status end = check.End(); !end) return Forward(AsDamaged(end.error()));
  }
  if (first != "ok") return Fail(Code::kInternal, msg::StoreDamaged{.path = path_, .what = first});
  int left = 0, moved = 0;
  const int rc = sqlite3_wal_checkpoint_v2(db_, "main", SQLITE_CHECKPOINT_RESTART, &left, &moved);
  if (rc != SQLITE_OK) return Forward(AsDamaged(Trouble(rc)));
  wal_pages_ = 0;
  return {};
}

Result<std::unique_ptr<DatabaseCopy>> Connection::CopyTo(const std::string& path) {
  MakePrivateFile(path);
  std::unique_ptr<DatabaseCopy> copy(new DatabaseCopy());
  copy->path_ = path;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  int rc = sqlite3_open_v2(path.c_str(), &copy->to_, flags, nullptr);
  if (rc == SQLITE_OK)
    rc = sqlite3_exec(copy->to_, "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; PRAGMA cache_size=-512",
                      nullptr, nullptr, nullptr);
  if (rc == SQLITE_OK) copy->backup_ = sqlite3_backup_init(copy->to_, "main", db_, "main");
  if (!copy->backup_)
    return Fail(Code::kUnavailable,
                msg::StoreCannotOpen{.path = path, .why = copy->to_ ? sqlite3_errmsg(copy->to_) : "memory"});
  return copy;
}

DatabaseCopy::~DatabaseCopy() {
  if (backup_) sqlite3_backup_finish(backup_);
  sqlite3_close(to_);
}

Result<bool> DatabaseCopy::Step(int pages) {
  const int rc = sqlite3_backup_step(backup_, pages);
  if (rc == SQLITE_OK) return true;
  if (rc == SQLITE_DONE) return false;
  // Whether the one file or the other is to blame does not come out; the next commit will tell of ours.
  if ((rc & 0xff) == SQLITE_FULL) return Fail(Code::kUnavailable, msg::StoreDiskFull{.path = path_});
  return Fail(Code::kUnavailable, msg::StoreCannotOpen{.path = path_, .why = sqlite3_errstr(rc)});
}

Error Connection::AsDamaged(const Error& trouble) const {
  if (!broken()) return trouble;
  return {Code::kInternal, msg::StoreDamaged{.path = path_, .what = broken_}};
}

Error Connection::Broken() const {
  return {Code::kInternal, msg::StoreBroken{.path = path_, .what = broken_}};
}

}  // namespace ty
