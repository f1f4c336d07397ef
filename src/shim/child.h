// The birth of the task's first process: everything between the clone and its first instruction.
#pragma once

#include <sched.h>

#include <string>
#include <vector>

#include "posix/fd.h"
#include "posix/process.h"
#include "wire/spec.h"

namespace ty {

struct StartFailure {
  int error = 0;          // errno; 0: none
  const char* step = "";  // "exec", "chdir", …
};

// Starts it with its output on `log`, inside `leaf` where that is a cgroup. `oom_score` is written back to
// what it was before we protected ourselves; empty leaves it.
SysResult<Child> StartTask(const wire::ShimSpec& spec, int log, const std::string& oom_score,
                           StartFailure& failure);

}  // namespace ty
