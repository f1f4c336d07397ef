// AttemptFolder reads and writes what daemon and supervisor share about one attempt on disk (contracts C2).
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/paths.h"
#include "base/result.h"
#include "engine/engine.h"
#include "posix/fd.h"
#include "wire/decision.h"
#include "wire/slot.h"

namespace ty {

class AttemptFolder {
 public:
  AttemptFolder(const std::string& attempts, const Ulid& attempt)
      : attempt_(attempt), paths_{attempts + "/" + attempt.Text()} {}

  const Ulid& attempt() const { return attempt_; }
  const AttemptPaths& paths() const { return paths_; }

  // Makes everything the supervisor needs, or leaves nothing behind. Nothing is synced.
  Status Make(const LaunchOrder& order, const std::string& spec) const;

  // Nothing when nobody decided; text nobody could have written counts as GO: it may have run.
  std::optional<wire::Decision> ReadDecision() const;
  // True when VOID is decided now or already; false when GO was.
  bool Void(const std::string& reason) const;
  // Where not even VOID can be written (a full disk): without its spec no supervisor can start. The caller
  // holds the lock, so none is half-way.
  bool Disarm() const;

  // The slot opened for locking and writing; empty when there is none.
  UniqueFd OpenSlot() const;
  wire::SlotReading ReadSlot() const;
  // All is dead and the end is unknown: said in the slot, so that it is known after another restart too. The
  // caller holds the lock. What cannot be read is kept beside it as slot.damaged.
  void MarkLost(int slot) const;

  // Decision, slot and control socket go: nobody needs to look at this attempt any more.
  void Acknowledge() const;

 private:
  Ulid attempt_;
  AttemptPaths paths_;
};

ExitRecord ToExitRecord(const wire::SlotRecord& record);
// kUnavailable for what passes: no room, no descriptor, no process left.
Code CodeOfFailure(int error);
std::string ErrorText(int error);  // strerror

}  // namespace ty
