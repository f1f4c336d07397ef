// Locks on open files. Both live as long as the open file description: they go when its last copy is closed,
// whichever way the process dies, so "locked" means "alive".
#pragma once

#include "posix/fd.h"

namespace ty {

// Exclusive, at once: false when somebody else holds it, an errno when locking does not work here.
SysResult<bool> TryLock(int fd);   // OFD lock (fcntl) on the whole file; needs it open for writing
SysResult<bool> TryFlock(int fd);  // flock
void Unlock(int fd);               // of an OFD lock

}  // namespace ty
