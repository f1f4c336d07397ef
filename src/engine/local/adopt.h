// After a restart: what became of one attempt, by the table of contracts C2. May wait for seconds, so it runs
// in the background, many at once.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "engine/engine.h"
#include "engine/local/background.h"
#include "engine/local/folder.h"
#include "posix/process.h"

namespace ty {

struct AdoptionSettings {
  std::string boot;  // of this machine now
  std::string instance;
};

struct Finding {
  // Running and Stuck are still supervised; the others are ends.
  using What = std::variant<AttemptRunning, AttemptExited, AttemptNotStarted, AttemptLost, AttemptStuck>;
  What what;
  UniqueFd link;  // to the supervisor, where it answers the door
};
// What its row says of it.
struct Recorded {
  std::string boot;
  bool ran = false;  // its supervisor was heard: whatever its folder says now, it has started
};
// Nothing when `background` closed before it was clear. `unkillable` as in EndLeftovers.
std::optional<Finding> Judge(const AttemptFolder& folder, const Recorded& row,
                             const AdoptionSettings& settings, Background& background,
                             const std::function<void()>& unkillable);

// A folder nobody waits for: cleaned when its end was written, else a stray. One that still runs stays where
// it is and is never killed; one that does not is moved to attempts/.quarantine.
struct Stray {
  Process supervisor;  // of one that runs; its pid is 0 where that cannot be told
  std::optional<StrayFound> runs;
};
std::optional<Stray> LookForStray(const std::string& attempts, const Ulid& attempt);
bool StillRuns(const AttemptFolder& folder, const Process& supervisor);

}  // namespace ty
