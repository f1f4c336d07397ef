#include "store/ballast.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "posix/files.h"

namespace ty {
namespace {

// Where a file system cannot reserve blocks, they are written; not zeros, which some of them do not store.
SysStatus Fill(int fd, int64_t bytes) {
  std::string block(1 << 20, '\0');
  uint32_t noise = 1;
  for (char& c : block) c = static_cast<char>((noise = noise * 1664525 + 1013904223) >> 24);
  for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(block.size())) {
    const auto size = static_cast<size_t>(std::min<int64_t>(bytes - at, static_cast<int64_t>(block.size())));
    if (SysStatus written = WriteAllAt(fd, std::string_view(block).substr(0, size), at); !written)
      return written;
  }
  return {};
}

}  // namespace

Ballast::Ballast(std::string path) : path_(std::move(path)) {
  struct stat info {};
  if (::lstat(path_.c_str(), &info) == 0 && S_ISREG(info.st_mode)) size_ = int64_t{info.st_blocks} * 512;
}

SysStatus Ballast::Make(int64_t bytes) {
  ::unlink(path_.c_str());
  size_ = 0;
  SysResult<UniqueFd> file = OpenAt(AT_FDCWD, path_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (!file) return FailErrno(file.error());
  SysStatus made;
  if (::fallocate(file->get(), 0, 0, bytes) != 0)
    made = errno == EOPNOTSUPP || errno == ENOSYS ? Fill(file->get(), bytes) : FailErrno();
  if (!made)
    ::unlink(path_.c_str());
  else
    size_ = bytes;
  return made;
}

bool Ballast::Drop() {
  if (size_ == 0) return false;
  size_ = 0;
  return ::unlink(path_.c_str()) == 0;
}

}  // namespace ty
