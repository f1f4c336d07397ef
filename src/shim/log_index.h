// LogIndex writes down when the task's log grew: `log.idx`, 16-byte records of u64 offset and i64 wall-clock
// nanoseconds, little-endian: the bytes before the offset were there at that time. At most one a second is
// written, and a task that prints nothing costs nothing.
#pragma once

#include <cstdint>

#include "posix/fd.h"

namespace ty {

class LogIndex {
 public:
  // `folder` and `log` are borrowed.
  void Open(int folder, int log);

  int WatchFd(int64_t now) const;       // to be polled, or -1 while nothing is to be seen before NextLook
  int64_t NextLook(int64_t now) const;  // monotonic time to call Look at, or INT64_MAX
  void Look(int64_t now);               // monotonic; writes a record if the log has grown
  void Finish();                        // the last record
  int64_t last_growth() const { return last_growth_; }  // monotonic; when it was opened if it never grew

 private:
  void Record();

  int folder_ = -1, log_ = -1;
  UniqueFd watch_, index_;
  uint64_t size_ = 0;
  int64_t last_growth_ = 0;
  int64_t last_look_ = 0;
};

}  // namespace ty
