// LogRoom keeps one log from hurting the disk it is on. A log stays whole until its disk is nearly full or it
// is over a limit that was asked for; then its middle is punched out: the file stays as long as it was, every
// offset means what it meant, and what went is written to `log.gaps` (base/log_gaps.h) before it goes.
//
// Nearly full is less than 1 % free, but at least 64 MiB and at most 1 GiB: a shared disk of many terabytes
// lives at 99 % for months, and a log is worth more than the last hundred gigabytes of nothing. Of a disk so
// small that this were most of it, an eighth. Below 32 MiB no log is touched: it is not what fills the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/log_gaps.h"
#include "posix/fd.h"

namespace ty {

class LogRoom {
 public:
  // `folder` and `log` are borrowed. `name`: of the log in the folder.
  LogRoom(int folder, int log, const std::string& name, std::optional<int64_t> limit)
      : folder_(folder), log_(log), gaps_name_(name + ".gaps"), limit_(limit) {}

  // The log has `size` bytes `now` (monotonic). Makes room if it must; returns after how many nanoseconds of
  // growth it wants to be asked again: soon while the log could fill the disk soon.
  int64_t Look(int64_t size, int64_t now);

 private:
  struct Disk {
    int64_t free = 0, floor = 0;
    int64_t margin() const { return free - floor; }
  };
  std::optional<Disk> LookAtDisk() const;
  int64_t Kept(int64_t size) const;
  void Punch(int64_t size, int64_t tail, LogGap::Why why);
  bool Note(const LogGap& gap);

  int folder_, log_;
  std::string gaps_name_;
  std::optional<int64_t> limit_;
  UniqueFd gaps_;
  int64_t gap_end_ = 0;                  // 0: none
  bool able_ = true;                     // no: this file system cannot punch
  int64_t disk_size_ = 0, disk_at_ = 0;  // when the disk is to be looked at again: a size, a time
  int64_t last_size_ = 0, last_at_ = 0;
  int64_t pace_ = 0;
};

}  // namespace ty
