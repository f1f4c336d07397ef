#include "ingest/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/paths.h"
#include "msg/task.h"

namespace ty {

Result<UniqueFd> OpenLog(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return UniqueFd();
  if (!fd && errno != ELOOP && errno != ENXIO) {
    return Fail(Code::kUnavailable, msg::TaskLogUnreadable{.path = path, .why = std::strerror(errno)});
  }
  struct stat about {};
  if (!fd || ::fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return Conflict(msg::TaskLogNotAFile{.path = path});
  return fd;
}

int64_t SizeOf(int fd) {
  struct stat about {};
  return ::fstat(fd, &about) == 0 ? about.st_size : 0;
}

size_t ReadRange(int fd, int64_t offset, char* buffer, size_t size) {
  size_t got = 0;
  while (got < size) {
    const ssize_t n = ::pread(fd, buffer + got, size - got, offset + static_cast<int64_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  return got;
}

std::string ReadRange(int fd, int64_t offset, size_t size) {
  std::string bytes(size, '\0');
  bytes.resize(ReadRange(fd, offset, bytes.data(), size));
  return bytes;
}

LogGaps ReadGaps(const std::string& path) {
  Result<UniqueFd> file = OpenLog(AttemptPaths::GapsOf(path));
  if (!file || !*file) return {};
  const auto most = static_cast<int64_t>(kMostGapBytes), size = SizeOf(file->get());
  const int64_t begin = std::max<int64_t>(0, size - most) / int64_t{kGapRecord} * int64_t{kGapRecord};
  return DecodeGaps(ReadRange(file->get(), begin, static_cast<size_t>(std::min(size, most))));
}

}  // namespace ty
