#include "store/room.h"

#include <errno.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "base/paths.h"
#include "posix/disks.h"

namespace ty {

SysResult<Room> MeasureRoom(const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return FailErrno(errno);
  const auto block = static_cast<int64_t>(disk.f_frsize);
  return Room{.size = static_cast<int64_t>(disk.f_blocks) * block,
              .free = static_cast<int64_t>(disk.f_bavail) * block,
              .inodes = static_cast<int64_t>(disk.f_files),
              .inodes_free = static_cast<int64_t>(disk.f_favail)};
}

// Never the state file itself: closing it would drop SQLite's locks on it.
bool TakesNoWriting(const std::string& folder) {
  return IsReadOnlyDisk(StatePaths{folder}.Database() + "-wal");
}

int64_t LeastRoom(const Room& room) {
  return room.size < int64_t{1} << 30 ? room.size / 20 : int64_t{256} << 20;
}

int64_t BallastSize(const Room& room) {
  return std::min<int64_t>(int64_t{64} << 20, room.size / 16);
}

bool IsLow(const Room& room) {
  return room.free < LeastRoom(room) || (room.inodes > 0 && room.inodes_free < room.inodes / 100);
}

}  // namespace ty
