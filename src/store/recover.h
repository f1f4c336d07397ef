// Recovery of a state file that is damaged or gone, with the yard down. A new file is built beside it from
// what can be read of the damaged one, from the newest good backup and from the attempts' folders; only when
// it is complete, checked and on the disk do the two change places. Nothing is deleted but scratch of its
// own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/recovery.h"

namespace ty {

// Content of StatePaths::Suspect() while the files change places: only RecoverStore goes on from there.
inline constexpr char kHalfRecovered[] = "recovering\n";

// The caller holds the lock of `home`. Does nothing when the file is whole. Fails without a change when there
// is nothing to recover from, or no room.
Result<Recovery> RecoverStore(const std::string& home, const std::vector<FoundRun>& runs, Time now);

}  // namespace ty
