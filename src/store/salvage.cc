#include "store/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include <memory>

#include "msg/store.h"
#include "posix/files.h"

namespace ty {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Statement Prepare(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
  return Statement(statement);
}

// One way through the table; true when it came to the end.
Result<bool> CopyRows(Connection& from, Connection& to, const std::string& table, const std::string& order,
                      Salvaged& salvaged) {
  const Statement select = Prepare(from.handle(), "SELECT * FROM " + table + " ORDER BY " + order);
  if (!select) return false;
  const int columns = sqlite3_column_count(select.get());
  std::string marks = "?";
  for (int i = 1; i < columns; ++i) marks += ",?";
  const Statement insert = Prepare(to.handle(), "INSERT OR IGNORE INTO " + table + " VALUES(" + marks + ")");
  if (!insert) return Forward(to.Trouble(sqlite3_extended_errcode(to.handle())));
  int rc = 0;
  while ((rc = sqlite3_step(select.get())) == SQLITE_ROW) {
    for (int i = 0; i < columns; ++i)
      sqlite3_bind_value(insert.get(), i + 1, sqlite3_column_value(select.get(), i));
    const int put = sqlite3_step(insert.get());
    sqlite3_reset(insert.get());
    if (put == SQLITE_DONE) {
      salvaged.rows += sqlite3_changes(to.handle());
    } else if ((put & 0xff) != SQLITE_CONSTRAINT && (put & 0xff) != SQLITE_MISMATCH) {
      return Forward(to.Trouble(put));
    }
  }
  return rc == SQLITE_DONE;
}

}  // namespace

Result<Salvaged> CopyTable(Connection& from, Connection& to, const std::string& table,
                           const std::string& key) {
  Salvaged salvaged;
  const Result<bool> forward = CopyRows(from, to, table, key, salvaged);
  if (!forward) return Forward(forward.error());
  if (*forward) return salvaged;
  // Something in the middle stops the way: what is behind it is reached from the other end.
  salvaged.complete = false;
  const Result<bool> backward = CopyRows(from, to, table, key + " DESC", salvaged);
  if (!backward) return Forward(backward.error());
  return salvaged;
}

Result<bool> CopyReadable(const std::string& from, const std::string& to) {
  const auto trouble = [&](const std::string& path, int error) {
    return Fail(Code::kUnavailable, msg::StoreCannotOpen{.path = path, .why = ::strerror(error)});
  };
  SysResult<UniqueFd> in = OpenAt(AT_FDCWD, from.c_str(), O_RDONLY);
  if (!in && in.error() == ENOENT) return false;
  if (!in) return trouble(from, in.error());
  SysResult<UniqueFd> out = OpenAt(AT_FDCWD, to.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (!out) return trouble(to, out.error());
  struct stat info {};
  if (::fstat(in->get(), &info) != 0) return trouble(from, errno);
  std::string block(4096, '\0');
  for (int64_t at = 0; at < info.st_size;) {
    ssize_t got = ::pread(in->get(), block.data(), block.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      block.assign(block.size(), '\0');
      got = std::min<int64_t>(static_cast<int64_t>(block.size()), info.st_size - at);
    }
    const auto written =
        WriteAllAt(out->get(), std::string_view(block).substr(0, static_cast<size_t>(got)), at);
    if (!written) return trouble(to, written.error());
    at += got;
  }
  return true;
}

}  // namespace ty
