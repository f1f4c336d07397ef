// Starts a supervisor: its own cgroup leaf, nothing of ours but one end of a socket and the host leases it is
// to hold, an empty environment.
#pragma once

#include <string>
#include <vector>

#include "posix/fd.h"
#include "posix/process.h"

namespace ty {

struct SpawnedShim {
  Child process;
  UniqueFd link;  // our end
};
// `cgroup` is the folder all supervisors live in, or -1. `leases` are descriptors of ours; the caller keeps
// them. An error is an errno; nothing runs then.
SysResult<SpawnedShim> SpawnShim(const std::string& program, const std::string& folder, int cgroup,
                                 std::vector<int> leases);

}  // namespace ty
