// A thin skin on SQLite: one connection, prepared statements kept by their text, trouble told apart.
// One thread at a time. Its whole error handling is in Status: kUnavailable when the disk is full or the file
// in use, kInternal else; once `broken()`, the file must not be written again.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_backup;
struct sqlite3_stmt;

namespace ty {

// What a statement is given. Text and bytes are borrowed until the call ends.
class SqlValue {
 public:
  enum class Kind : uint8_t { kNull, kInteger, kText, kBlob };

  SqlValue(std::nullptr_t) {}
  SqlValue(std::integral auto number) : kind_(Kind::kInteger), number_(static_cast<int64_t>(number)) {}
  SqlValue(Time time) : kind_(Kind::kInteger), number_(ToNanos(time)) {}
  SqlValue(Duration length) : kind_(Kind::kInteger), number_(length.count()) {}
  SqlValue(TaskId id) : kind_(Kind::kInteger), number_(id.value) {}
  SqlValue(std::string_view text) : kind_(Kind::kText), bytes_(text) {}
  SqlValue(const std::string& text) : kind_(Kind::kText), bytes_(text) {}
  SqlValue(const Ulid& uid) : SqlValue(Blob({reinterpret_cast<const char*>(uid.bytes.data()), 16})) {}
  template <class T>
  SqlValue(const std::optional<T>& value) : SqlValue(value ? SqlValue(*value) : SqlValue(nullptr)) {}

  static SqlValue Blob(std::string_view bytes) {
    SqlValue value(bytes);
    value.kind_ = Kind::kBlob;
    return value;
  }

  Kind kind() const { return kind_; }
  int64_t number() const { return number_; }
  std::string_view bytes() const { return bytes_; }

 private:
  Kind kind_ = Kind::kNull;
  int64_t number_ = 0;
  std::string_view bytes_;
};
using SqlValues = std::initializer_list<SqlValue>;

class Connection;

// One run of a prepared statement that answers rows. What Text and Blob return lives until the next call of
// Next.
class Query {
 public:
  Query(Connection& connection, sqlite3_stmt* statement, int rc);
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  bool Next();
  Status End() const;  // after Next said false: whether that was the end

  bool IsNull(int column) const;
  int64_t Int(int column) const;
  std::string_view Text(int column) const;  // bytes of TEXT or BLOB
  std::optional<int64_t> MaybeInt(int column) const;
  std::optional<Time> MaybeTime(int column) const;
  Ulid Uid(int column) const;

 private:
  Connection& connection_;
  sqlite3_stmt* statement_;
  int rc_;
};

// A copy of the file being made, page by page. What is committed meanwhile joins it.
class DatabaseCopy {
 public:
  ~DatabaseCopy();
  DatabaseCopy(const DatabaseCopy&) = delete;
  DatabaseCopy& operator=(const DatabaseCopy&) = delete;

  // Copies so many pages, all for -1; true: there are more. Nothing is synced.
  Result<bool> Step(int pages);

 private:
  friend class Connection;
  DatabaseCopy() = default;
  std::string path_;
  sqlite3* to_ = nullptr;
  sqlite3_backup* backup_ = nullptr;
};

class Connection {
 public:
  // Opens or makes the file (0600) and takes it for this process alone. Writes nothing.
  static Result<std::unique_ptr<Connection>> Open(const std::string& path);
  ~Connection();  // writes nothing

  Status Script(const char* sql);  // several statements, kept nowhere
  Status Run(const char* sql,
             SqlValues values = {});  // `sql` must be a constant: it is the key of the kept statement
  Query Ask(const char* sql, SqlValues values = {});  // the values need to live through this call only
  Result<int64_t> Number(const char* sql, SqlValues values = {});  // first column of the only row; 0 for none
  int64_t changes() const;                                         // rows the last Run changed
  int64_t last_row() const;                                        // rowid of the last INSERT

  Status Begin() { return Run("BEGIN IMMEDIATE"); }
  Status Commit();
  void Rollback();

  // Moves what is committed from the WAL into the file, as far as it goes. A full disk is no trouble here.
  Status Checkpoint();
  int wal_pages() const { return wal_pages_; }  // after the last commit
  void ShrinkMemory();

  // Begins a copy into a new file. It must be gone before this connection is.
  Result<std::unique_ptr<DatabaseCopy>> CopyTo(const std::string& path);

  // Reads the file through and writes anew what lies in the log: after a sync failed nobody knows what of it
  // is on the disk. Damage is an error for who opens it.
  Status Verify();

  // Writes the WAL once to `bytes` of zeros so that commits need no new blocks. Best effort.
  void GrowWal(int64_t bytes);

  bool broken() const { return !broken_.empty(); }
  const std::string& why_broken() const { return broken_; }
  Error Broken() const;                         // as which every later commit is refused
  Error AsDamaged(const Error& trouble) const;  // in words for who opens it: a broken file was so before
  const std::string& path() const { return path_; }
  sqlite3* handle() const { return db_; }  // for what this skin does not cover
  Error Trouble(int rc);                   // what a result code of the last call means

 private:
  explicit Connection(std::string path) : path_(std::move(path)) {}
  void Break(const std::string& why);
  sqlite3_stmt* Prepared(const char* sql, int* rc);

  std::string path_;
  sqlite3* db_ = nullptr;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
  int wal_pages_ = 0;
  std::string broken_;  // why the file must not be written again; empty: it may be
};

}  // namespace ty
