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
constexpr int64_t kPace = 1'000'000'000;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
}  // namespace

void LogIndex::Open(int folder, int log) {
  folder_ = folder;
  log_ = log;
  last_growth_ = MonotonicNanos();
  last_look_ = last_growth_ - kPace;
  struct stat info;
  if (::fstat(log_, &info) == 0) size_ = static_cast<uint64_t>(info.st_size);
  watch_.Reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d/log", folder_);
  if (watch_ && ::inotify_add_watch(watch_.get(), path, IN_MODIFY) < 0) watch_.Reset();
}

// Having looked, we look away for a second: the kernel folds the writes of that time into one event.
int LogIndex::WatchFd(int64_t now) const {
  return watch_ && now >= last_look_ + kPace ? watch_.get() : -1;
}

int64_t LogIndex::NextLook(int64_t now) const {
  if (!watch_) return last_look_ + kPace;  // no inotify to be had: look once a second
  return now < last_look_ + kPace ? last_look_ + kPace : kNever;
}

void LogIndex::Look(int64_t now) {
  bool told = !watch_;
  char events[4096];
  while (watch_ && ::read(watch_.get(), events, sizeof events) > 0) told = true;
  if (!told) return;
  last_look_ = now;
  struct stat info;
  if (::fstat(log_, &info) != 0 || static_cast<uint64_t>(info.st_size) == size_) return;
  size_ = static_cast<uint64_t>(info.st_size);
  last_growth_ = now;
  Record();
}

void LogIndex::Record() {
  if (!index_) {
    auto opened = OpenAt(folder_, "log.idx", O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (!opened) return;
    index_ = std::move(*opened);
  }
  const uint64_t record[2] = {size_, static_cast<uint64_t>(WallNanos())};
  // A full disk costs the index, never the task.
  (void)!::write(index_.get(), record, sizeof record);
}

void LogIndex::Finish() {
  struct stat info;
  if (log_ < 0 || ::fstat(log_, &info) != 0 || static_cast<uint64_t>(info.st_size) == size_) return;
  size_ = static_cast<uint64_t>(info.st_size);
  Record();
}

}  // namespace ty
