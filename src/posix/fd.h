// UniqueFd owns a file descriptor and closes it. SysResult is a value or an errno.
#pragma once

#include <unistd.h>

#include <tl/expected.hpp>
#include <utility>

namespace ty {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

template <class T>
using SysResult = tl::expected<T, int>;
using SysStatus = SysResult<void>;

SysStatus FailErrno();  // the current errno
inline tl::unexpected<int> FailErrno(int error) {
  return tl::unexpected<int>(error);
}

}  // namespace ty
