// The words by which logs of Python, PyTorch, CUDA and NCCL show what went wrong. Private to triage.
#pragma once

#include <string_view>

#include "model/outcome.h"

namespace ty {

// The class of a Python exception line, by its text first where that says more, then by its type.
FailureClass ReadException(std::string_view line);

// Whether the exception only says that another process failed, so that the reason is elsewhere in the log.
bool IsSecondHand(std::string_view exception);

}  // namespace ty
