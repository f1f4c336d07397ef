// What the daemon finds out about its host once, at start.
#pragma once

#include <string>

#include "base/result.h"
#include "model/spec.h"
#include "posix/fd.h"

namespace ty {

std::string UserName();

// Whether tasks go on when the user logs out. True where nothing ends a user's processes at logout: no
// systemd, or lingering, or KillUserProcesses=no (Debian's default) and not inside the user manager that
// logout stops.
bool SurvivesLogout();

// HOME USER LOGNAME SHELL LANG LC_* TZ PATH TMPDIR of the daemon's own environment (contracts C7).
Variables BasicVariables();

// The state folder: made 0700 when missing, refused when it is not ours or others may enter it.
Status PrepareHome(const std::string& home);

// Locks `home` for this daemon's life; a lock held by another daemon is kConflict and names its pid.
Result<UniqueFd> LockHome(const std::string& home);
// For people: who holds the lock.
void SignLock(const UniqueFd& lock, const std::string& url);

}  // namespace ty
