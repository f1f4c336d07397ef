// When a task may begin, as people type it: 22:00 (the next one, local time), +30m, 2026-11-30T22:00 (local,
// or with Z or an offset), 2026-11-30.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace ty {
Result<Time> ParseBegin(std::string_view text, Time now);
}
