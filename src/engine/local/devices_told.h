// What the folder of a run tells of the devices it was given, for those who have no row of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/paths.h"
#include "wire/spec.h"

namespace ty {

// Ids: GPU and MIG UUIDs, "cpu:0". Nothing: its spec is of an older Trainyard and neither its variables nor
// the head of its log name any.
std::optional<std::vector<std::string>> DevicesTold(const wire::ShimSpec& spec, const AttemptPaths& paths);

}  // namespace ty
