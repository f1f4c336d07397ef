// What the daemon finds out about its host once, at start.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/spec.h"
#include "posix/fd.h"
#include "store/store.h"

namespace ty {

std::string UserName();

// Tells a state folder from a copy of it.
std::string FolderIdentity(const std::string& home);
// A task of these that runs now, though not from here: found by its marker.
std::optional<TaskId> RunsElsewhere(const OpenState& state);

// HOME USER LOGNAME SHELL LANG LC_* TZ PATH TMPDIR of the daemon's own environment (contracts C7).
Variables BasicVariables();

// The state folder: made 0700 when missing, refused when it is not ours or others may enter it.
Status PrepareHome(const std::string& home);

// Both for this daemon's life.
struct HomeLock {
  UniqueFd file;
  UniqueFd folder;  // systemd-tmpfiles, which tidies up /var/tmp, passes by what is locked
};
// A lock held by another daemon is kConflict and names its pid.
Result<HomeLock> LockHome(const std::string& home);
// For people: who holds the lock.
void SignLock(const HomeLock& lock, const std::string& url);

}  // namespace ty
