// LogIndex writes down when the task's log grew: `log.idx`, 16-byte records of u64 offset and i64 wall-clock
// nanoseconds, little-endian: the bytes before the offset were there at that time. At most one a second is
// written, and a task that prints nothing costs nothing. It also tells how large the logs are.
#pragma once

#include <cstdint>
#include <vector>

#include "posix/fd.h"

namespace ty {

class LogIndex {
 public:
  // The index follows the first log; the others only count as signs of life. `folder` and `logs` are
  // borrowed.
  void Open(int folder, const std::vector<int>& logs);

  int WatchFd(int64_t now) const;       // to be polled, or -1 while nothing is to be seen before NextLook
  int64_t NextLook(int64_t now) const;  // monotonic time to call Look at, or INT64_MAX
  void Look(int64_t now);               // monotonic; writes a record if the first log has grown
  void Finish();                        // the last look and record
  // How long to look away after a look; a second unless somebody needs to know sooner.
  void SetPace(int64_t pace) { pace_ = pace; }
  int64_t SizeOf(size_t log) const { return static_cast<int64_t>(logs_[log].size); }
  int64_t last_growth() const {
    return last_growth_;
  }  // of any; monotonic; when they were opened if none did

 private:
  struct Log {
    int fd = -1;
    uint64_t size = 0;
    bool Grew();  // since it was last asked
  };
  void Record();

  int folder_ = -1;
  std::vector<Log> logs_;
  UniqueFd watch_, index_;
  bool unrecorded_ = false;  // the first log has grown since the last record
  int64_t last_growth_ = 0;
  int64_t last_look_ = 0, last_record_ = 0;
  int64_t pace_ = 1'000'000'000;
};

}  // namespace ty
