#include "shim/log_room.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "posix/files.h"

namespace ty {

namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kHead = 8 * kMiB, kLeastTail = 8 * kMiB, kMostTail = 64 * kMiB;
constexpr int64_t kWorthIt = 32 * kMiB;
constexpr int64_t kBlock = 64 * 1024;  // no file system's is larger
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kFirstPace = kSecond / 20, kQuickest = kSecond / 50;

bool PunchHole(int fd, int64_t from, int64_t to) {
  int done = 0;
  do {
    done = ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

}  // namespace

int64_t LogRoom::Look(int64_t size, int64_t now) {
  if (size < gap_end_) {  // somebody cut it short: what comes now is new
    gap_end_ = 0;
    (void)!::ftruncate(gaps_.get(), 0);
  }
  const int64_t grown = size - last_size_, took = std::max<int64_t>(now - last_at_, 1);
  last_size_ = size;
  last_at_ = now;
  // A log that begins fast is not left alone for a whole second before its speed is known.
  pace_ = std::min(std::max(pace_ * 2, kFirstPace), kSecond);
  if (!able_ || Kept(size) < kWorthIt) return pace_;

  if (limit_ && Kept(size) > *limit_) Punch(size, std::max(*limit_ / 4, kLeastTail), LogGap::Why::kLimit);
  if (size < disk_size_ && now < disk_at_) return pace_;
  std::optional<Disk> disk = LookAtDisk();
  if (disk && disk->margin() <= 0 && Kept(size) >= kWorthIt) {
    Punch(size, std::clamp(Kept(size) / 4, kLeastTail, kMostTail), LogGap::Why::kDiskFull);
    disk = LookAtDisk();
  }
  if (!disk) return pace_;
  // Again before this log alone could have taken a quarter of what is left, and once a minute for the others.
  const int64_t step = std::clamp(disk->margin() / 4, kMiB, 64 * kMiB);
  disk_size_ = size + step;
  disk_at_ = now + 60 * kSecond;
  const double bytes_per_ns = static_cast<double>(std::max<int64_t>(grown, 0)) / static_cast<double>(took);
  const double time_left =
      static_cast<double>(std::max<int64_t>(disk->margin(), 0)) / 4 / std::max(bytes_per_ns, 1e-9);
  if (time_left < static_cast<double>(pace_)) pace_ = std::max(static_cast<int64_t>(time_left), kQuickest);
  return pace_;
}

std::optional<LogRoom::Disk> LogRoom::LookAtDisk() const {
  struct statvfs about;
  if (::fstatvfs(log_, &about) != 0) return std::nullopt;
  const auto block = static_cast<int64_t>(about.f_frsize);
  const int64_t all = static_cast<int64_t>(about.f_blocks) * block;
  // What root may fill beyond it, root's tasks do have.
  const auto blocks = static_cast<int64_t>(::geteuid() == 0 ? about.f_bfree : about.f_bavail);
  const int64_t floor = std::min(std::clamp(all / 100, 64 * kMiB, 1024 * kMiB), all / 8);
  return Disk{blocks * block, floor};
}

int64_t LogRoom::Kept(int64_t size) const {
  return gap_end_ == 0 ? size : size - (gap_end_ - kHead);
}

void LogRoom::Punch(int64_t size, int64_t tail, LogGap::Why why) {
  const int64_t from = std::max(kHead, gap_end_), to = (size - tail) / kBlock * kBlock;
  if (to <= from) return;
  const LogGap gap{kHead, to, why};
  // The record first: whoever reads zeros finds out why. A disk without room for sixteen bytes gets some from
  // a first small piece.
  if (!Note(gap) && (!PunchHole(log_, from, std::min(from + kMiB, to)) || !Note(gap))) {
    able_ = false;
    return;
  }
  if (!PunchHole(log_, from, to)) {
    able_ = false;  // nothing is gone, and the log stays whole
    if (gap_end_ == 0) (void)!::ftruncate(gaps_.get(), 0);
    return;
  }
  gap_end_ = to;
}

bool LogRoom::Note(const LogGap& gap) {
  if (!gaps_) {
    auto opened = OpenAt(folder_, gaps_name_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600);
    if (!opened) return false;
    gaps_ = std::move(*opened);
  }
  const std::string record = EncodeGap(gap);
  // Half a record would put all later ones out of step.
  const off_t before = ::lseek(gaps_.get(), 0, SEEK_END);
  if (WriteAll(gaps_.get(), record)) return true;
  (void)!::ftruncate(gaps_.get(), before);
  return false;
}

}  // namespace ty
