// Length as text: seconds, as ParseDuration reads them back exactly.
#pragma once

#include <string>

#include "base/time.h"

namespace ty {

std::string LengthText(Duration length);  // "90s", "0.25s"

}  // namespace ty
