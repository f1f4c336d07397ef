// What a dead supervisor left alive: found by everything that tells it apart, killed, and proved dead.
#pragma once

#include <functional>
#include <string>

#include "engine/local/background.h"
#include "engine/local/folder.h"

namespace ty {

enum class Leftovers : uint8_t {
  kNobody,   // nobody was there
  kEnded,    // somebody was, and nobody is any more
  kGivenUp,  // `background` closed before
};
// Returns once a whole look around finds nobody. A supervisor that lost its folder counts as well, and
// whoever descends from it: nobody can reach it any more. `unkillable` is called once if that takes longer
// than 30 s.
Leftovers EndLeftovers(const AttemptFolder& folder, const std::string& instance, Background& background,
                       const std::function<void()>& unkillable);

}  // namespace ty
