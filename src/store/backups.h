// Backups keeps copies of the state file in backups/: one an hour while there is something new, the
// newest 24. Copying goes in small steps on the store's thread, where each commit made meanwhile joins the
// copy; what may take long, syncing it and reading it through once a day, happens on a thread of its own.
//
//   backups/yard-20261130T091227Z.db            a copy
//   backups/yard-20261130T091227Z.db.part       one that is not finished, of no worth
//   backups/yard-20261130T091227Z.db.bad        one that failed its check; kept, but nobody's copy any more
//   backups/before-schema-3-20261130T091227Z.db what was there before a migration; never deleted by us
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/sqlite.h"

namespace ty {

// Full paths of the finished copies, the newest first.
std::vector<std::string> ListBackups(const std::string& folder);
// When a copy was finished, by its name: "yard-20261130T091227Z.db".
std::optional<Time> TimeOfBackup(const std::string& path);
// Reads it through: empty when all is well, else the first thing that is not. It is opened as a file that
// nobody writes, so nothing is made beside it. `stop`, when it becomes true, ends the reading with no
// finding.
std::string CheckDatabase(const std::string& path, const std::atomic<bool>* stop = nullptr);
// The whole copy at once, before a migration.
Status CopyBeforeMigration(Connection& connection, const std::string& folder, int64_t schema);

class Backups {
 public:
  Backups(std::string folder, Duration every, Duration check_every);
  ~Backups();  // a copy that is not finished is given up

  void NoteChange() { changed_ = true; }
  // Begins a copy when one is due, and goes on with one that was begun. True: there is more to do soon.
  bool Work(Connection& connection);
  void GiveUp();  // the room it takes is needed
  // The newest copy that failed its check since the start; empty: none did.
  std::string bad() const;

 private:
  bool Begin(Connection& connection);
  void Seal();
  void Settle();
  void Finish(const std::string& part, const std::string& path, bool check);

  const std::string folder_;
  const Duration every_, check_every_;
  bool changed_ = true;
  int64_t due_ns_ = 0, check_due_ns_ = 0;  // monotonic
  std::unique_ptr<DatabaseCopy> copy_;
  std::string part_;

  std::thread sealing_;
  std::atomic<bool> sealed_ = false, stop_ = false;
  std::string bad_, found_bad_;  // the second is the thread's until it is joined
};

}  // namespace ty
