// The three trainings of the demo, from the recipes that ship with the program.
#pragma once

#include <boost/json/fwd.hpp>

#include "base/result.h"
#include "base/time.h"

namespace ty {

// B and C go on for so long each: short, so that there are turns enough on a fast machine too.
inline constexpr Duration kDemoSlice = seconds(1);

// A, B, C as bodies of a submit.
Result<boost::json::array> DemoTrainings(bool gpus);

}  // namespace ty
