#include "shim/log_index.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <limits>

#include "posix/clocks.h"
#include "posix/files.h"

namespace ty {

namespace {
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
}  // namespace

bool LogIndex::Log::Grew() {
  struct stat info;
  if (::fstat(fd, &info) != 0 || static_cast<uint64_t>(info.st_size) == size) return false;
  size = static_cast<uint64_t>(info.st_size);
  return true;
}

void LogIndex::Open(int folder, const std::vector<int>& logs) {
  folder_ = folder;
  last_growth_ = MonotonicNanos();
  last_look_ = last_growth_ - pace_;
  last_record_ = last_growth_ - kSecond;
  watch_.Reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  for (const int fd : logs) {
    (void)logs_.emplace_back(Log{fd}).Grew();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (watch_ && ::inotify_add_watch(watch_.get(), path, IN_MODIFY) < 0) watch_.Reset();
  }
}

// Having looked, we look away for a while: the kernel folds the writes of that time into one event.
int LogIndex::WatchFd(int64_t now) const {
  return watch_ && now >= last_look_ + pace_ ? watch_.get() : -1;
}

int64_t LogIndex::NextLook(int64_t now) const {
  if (!watch_) return last_look_ + pace_;  // no inotify to be had: look each time
  return now < last_look_ + pace_ ? last_look_ + pace_ : kNever;
}

void LogIndex::Look(int64_t now) {
  bool told = !watch_;
  char events[4096];
  while (watch_ && ::read(watch_.get(), events, sizeof events) > 0) told = true;
  if (!told) return;
  last_look_ = now;
  for (size_t i = 0; i < logs_.size(); ++i) {
    if (!logs_[i].Grew()) continue;
    last_growth_ = now;
    unrecorded_ |= i == 0;
  }
  if (unrecorded_ && now >= last_record_ + kSecond) {
    last_record_ = now;
    Record();
  }
}

void LogIndex::Record() {
  if (!index_) {
    auto opened = OpenAt(folder_, "log.idx", O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (!opened) return;
    index_ = std::move(*opened);
  }
  const uint64_t record[2] = {logs_[0].size, static_cast<uint64_t>(WallNanos())};
  unrecorded_ = false;
  // A full disk costs the index, never the task.
  (void)!::write(index_.get(), record, sizeof record);
}

void LogIndex::Finish() {
  for (size_t i = 0; i < logs_.size(); ++i) unrecorded_ |= logs_[i].Grew() && i == 0;
  if (unrecorded_) Record();
}

}  // namespace ty
