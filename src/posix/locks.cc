#include "posix/locks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

namespace ty {

namespace {
struct flock WholeFile(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}
}  // namespace

SysResult<bool> TryLock(int fd) {
  struct flock lock = WholeFile(F_WRLCK);
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return FailErrno(errno);
}

SysResult<bool> TryFlock(int fd) {
  for (;;) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) return FailErrno(errno);
  }
}

void Unlock(int fd) {
  struct flock lock = WholeFile(F_UNLCK);
  ::fcntl(fd, F_OFD_SETLK, &lock);
}

}  // namespace ty
