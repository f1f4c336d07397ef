#include "store/backups.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "posix/clocks.h"
#include "posix/files.h"
#include "store/room.h"

namespace ty {
namespace {

constexpr size_t kKept = 24;
constexpr int kStepPages = 64;
constexpr Duration kFirst = seconds(60);  // a new yard gets its first copy so soon
constexpr char kStampFormat[] = "%Y%m%dT%H%M%SZ";

std::string Stamp() {
  const time_t now = static_cast<time_t>(WallNanos() / 1'000'000'000);
  tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  ::strftime(text, sizeof text, kStampFormat, &utc);
  return text;
}

std::string BaseOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

void SyncFile(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

int Stopped(void* stop) {
  return static_cast<const std::atomic<bool>*>(stop)->load() ? 1 : 0;
}

}  // namespace

std::optional<Time> TimeOfBackup(const std::string& path) {
  tm utc{};
  const std::string name = BaseOf(path);
  const char* end = ::strptime(name.c_str(), "yard-%Y%m%dT%H%M%SZ", &utc);
  if (!end || std::string_view(end) != ".db") return std::nullopt;
  return FromNanos(static_cast<int64_t>(::timegm(&utc)) * 1'000'000'000);
}

std::vector<std::string> ListBackups(const std::string& folder) {
  std::vector<std::string> paths;
  const auto names = ListFolder(folder);
  if (!names) return paths;
  for (const std::string& name : *names)
    if (TimeOfBackup(name)) paths.push_back(folder + "/" + name);
  std::reverse(paths.begin(), paths.end());
  return paths;
}

std::string CheckDatabase(const std::string& path, const std::atomic<bool>* stop) {
  std::string escaped;
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      char code[4];
      ::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
      escaped += code;
    } else {
      escaped += c;
    }
  }
  sqlite3* db = nullptr;
  std::string found;
  int rc = sqlite3_open_v2(("file:" + escaped + "?immutable=1").c_str(), &db,
                           SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
  if (rc == SQLITE_OK) {
    if (stop) sqlite3_progress_handler(db, 10'000, Stopped, const_cast<std::atomic<bool>*>(stop));
    const auto take = [](void* out, int, char** values, char**) {
      auto* text = static_cast<std::string*>(out);
      if (text->empty() && values[0]) *text = values[0];
      return 0;
    };
    std::string answer;
    rc = sqlite3_exec(db, "PRAGMA cache_size=-2048; PRAGMA integrity_check(1)", take, &answer, nullptr);
    if (rc == SQLITE_OK && answer != "ok") found = answer.empty() ? "it has no content" : answer;
  }
  if (rc != SQLITE_OK && rc != SQLITE_INTERRUPT) found = sqlite3_errmsg(db);
  sqlite3_close(db);
  return found;
}

Status CopyBeforeMigration(Connection& connection, const std::string& folder, int64_t schema) {
  (void)MakeFolders(folder, 0700);
  const std::string path = folder + "/before-schema-" + std::to_string(schema) + "-" + Stamp() + ".db";
  const std::string part = path + ".part";
  ::unlink(part.c_str());
  Result<std::unique_ptr<DatabaseCopy>> copy = connection.CopyTo(part);
  if (!copy) return Forward(copy.error());
  Result<bool> done = (*copy)->Step(-1);
  if (!done) return Forward(done.error());
  copy->reset();
  SyncFile(part, O_RDONLY);
  if (!Exists(path)) ::rename(part.c_str(), path.c_str());
  SyncFile(folder, O_RDONLY | O_DIRECTORY);
  return {};
}

Backups::Backups(std::string folder, Duration every, Duration check_every)
    : folder_(std::move(folder)), every_(every), check_every_(check_every) {
  // Of a run before: how old the newest is tells when the next is due; a clock that was set back does not
  // make it wait longer than a whole period.
  const std::vector<std::string> known = ListBackups(folder_);
  Duration left = std::min(every_, kFirst);
  if (!known.empty()) {
    const Duration age = FromNanos(WallNanos()) - *TimeOfBackup(known.front());
    left = std::clamp<Duration>(every_ - age, Duration{}, every_);
  }
  due_ns_ = MonotonicNanos() + left.count();
}

Backups::~Backups() {
  GiveUp();
  stop_ = true;
  if (sealing_.joinable()) sealing_.join();
}

std::string Backups::bad() const {
  return bad_;
}

bool Backups::Work(Connection& connection) {
  Settle();
  if (sealing_.joinable()) return false;
  if (!copy_) {
    if (!changed_ || MonotonicNanos() < due_ns_) return false;
    return Begin(connection);
  }
  const Result<bool> more = copy_->Step(kStepPages);
  if (!more) {
    Log("backup: the copy could not be written: " + more.error().message.id);
    GiveUp();
    return false;
  }
  if (*more) return true;
  Seal();
  return false;
}

bool Backups::Begin(Connection& connection) {
  due_ns_ = MonotonicNanos() + every_.count();
  const Result<int64_t> pages = connection.Number("PRAGMA page_count");
  const SysResult<Room> room = MeasureRoom(folder_.substr(0, folder_.rfind('/')));
  if (!pages || !room) return false;
  if (room->free - *pages * 4096 < LeastRoom(*room) + BallastSize(*room)) {
    Log("backup: left out, the disk has too little room for it");
    return false;
  }
  if (SysStatus made = MakeFolders(folder_, 0700); !made) return false;
  changed_ = false;
  part_ = folder_ + "/yard-" + Stamp() + ".db.part";
  ::unlink(part_.c_str());
  Result<std::unique_ptr<DatabaseCopy>> copy = connection.CopyTo(part_);
  if (!copy) {
    Log("backup: cannot begin: " + copy.error().message.id);
    return false;
  }
  copy_ = std::move(*copy);
  return true;
}

void Backups::GiveUp() {
  if (!copy_) return;
  copy_.reset();
  ::unlink(part_.c_str());
  changed_ = true;
}

void Backups::Seal() {
  copy_.reset();
  const int64_t now = MonotonicNanos();
  const bool check = now >= check_due_ns_;
  if (check) check_due_ns_ = now + check_every_.count();
  sealed_ = false;
  sealing_ = std::thread(
      [this, part = part_, path = part_.substr(0, part_.size() - 5), check] { Finish(part, path, check); });
}

// On its own thread: may take as long as it likes.
void Backups::Finish(const std::string& part, const std::string& path, bool check) {
  SyncFile(part, O_RDONLY);
  const std::string found = check ? CheckDatabase(part, &stop_) : "";
  if (!found.empty()) {
    found_bad_ = path + ".bad";
    Log("backup: the copy is damaged, so the state file may be too: " + found + "; kept as " + found_bad_);
    ::rename(part.c_str(), found_bad_.c_str());
  } else {
    ::rename(part.c_str(), path.c_str());
    if (check && !stop_) Log("backup: " + path + " was read through and is good");
    const std::vector<std::string> all = ListBackups(folder_);
    for (size_t i = kKept; i < all.size(); ++i) ::unlink(all[i].c_str());
  }
  SyncFile(folder_, O_RDONLY | O_DIRECTORY);
  sealed_ = true;
}

void Backups::Settle() {
  if (!sealing_.joinable() || !sealed_) return;
  sealing_.join();
  bad_ = found_bad_;
  if (!found_bad_.empty()) check_due_ns_ = 0;  // the next one is checked too
  found_bad_.clear();
}

}  // namespace ty
