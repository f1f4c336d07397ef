#include "ingest/file_tail.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace ty {

int64_t FileTail::Waiting() {
  if (!file_) {
    // Never waits: a task may have put a FIFO where a file is expected.
    file_.Reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!file_) return 0;
  }
  struct stat facts {};
  if (::fstat(file_.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
  if (facts.st_size < offset_) offset_ = 0;
  size_ = facts.st_size;
  return size_ - offset_;
}

bool FileTail::SkipTo(int64_t most) {
  if (size_ - offset_ <= most) return false;
  offset_ = size_ - most;
  return true;
}

std::string_view FileTail::Read(std::string& buffer) {
  const int64_t want = std::min<int64_t>(static_cast<int64_t>(buffer.size()), size_ - offset_);
  if (want <= 0) return {};
  ssize_t got;
  do {
    got = ::pread(file_.get(), buffer.data(), static_cast<size_t>(want), offset_);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) {
    size_ = offset_;  // not now; the next look tells
    return {};
  }
  offset_ += got;
  return std::string_view(buffer).substr(0, static_cast<size_t>(got));
}

}  // namespace ty
