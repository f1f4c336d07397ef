// What a dead supervisor left alive: found by everything that tells it apart, killed, and proved dead.
#pragma once

#include <functional>
#include <string>

#include "engine/local/background.h"
#include "engine/local/folder.h"

namespace ty {

// Returns true once a whole look around finds nobody; false only when `background` closes before.
// `unkillable` is called once if that takes longer than 30 s.
bool EndLeftovers(const AttemptFolder& folder, const std::string& instance, Background& background,
                  const std::function<void()>& unkillable);

}  // namespace ty
