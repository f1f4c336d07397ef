// What a task stands on before it can start: its folder and its program. A task without them would wait for
// hours to fail at once.
#pragma once

#include <string>
#include <vector>

#include "model/spec.h"

namespace ty {

struct Footing {
  std::string workdir, program;  // empty: not known, not looked for
  std::string path;              // PATH of the task
};

// `basics`: the yard's own variables, of a task that brings no shell's.
Footing FootingOf(const TaskSpec& spec, const Variables& basics);

// Looks at the disk, which may take for ever. What cannot be told is no fault.
std::vector<Error> LookAt(const Footing& footing);

}  // namespace ty
