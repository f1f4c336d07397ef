// Turns says who of the sharers of one device runs now (contracts C6). Pure: told what happened, it says what
// to freeze and thaw, and when it wants to be asked again.
// One has the floor. A turn lasts the smallest slice asked, times the sharer's granted part over the smallest
// granted part. At a change the one with the floor is frozen first and the next is thawed once that is
// confirmed, or after kConfirmPatience without an answer. Whoever comes takes the floor. A freeze carries a
// deadline of two turns of the longest sharer and is renewed at half of it, so that nobody stays frozen by a
// dead daemon. One that is being stopped, and one that is alone, is never frozen.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/lease.h"

namespace ty {

class Turns {
 public:
  struct Order {
    Ulid attempt;
    bool freeze = false;  // else thaw
    Duration deadline{};  // of a freeze
    bool operator==(const Order&) const = default;
  };

  // Its processes run. `frozen` when it was adopted so.
  void Join(Ulid attempt, int granted_milli, Duration slice, bool frozen, Time now);
  void Leave(Ulid attempt, Time now);     // ended
  void Stopping(Ulid attempt, Time now);  // the shim thaws it and it is not frozen again
  void Grant(Ulid attempt, int granted_milli);
  void Frozen(Ulid attempt, Time now);   // told by the shim
  void Thawed(Ulid attempt, Time now);   // also when its deadline passed
  void Refused(Ulid attempt, Time now);  // a freeze that did not work

  // Longest that the next waits for the answer to a freeze before it is thawed all the same.
  static constexpr Duration kConfirmPatience = milliseconds(400);

  std::vector<Order> Due(Time now);  // to be carried out now; each is said once
  std::optional<Time> next() const;  // when Due has something to say even if nothing happens
  bool empty() const { return sharers_.empty(); }
  size_t size() const { return sharers_.size(); }

 private:
  struct Sharer {
    Ulid attempt;
    int granted_milli = kWholeDevice;
    Duration slice{};
    bool stopping = false;                                                         // takes no turns any more
    enum class Said : uint8_t { kNothing, kFreeze, kThaw } said = Said::kNothing;  // the newest order
    Time said_at;
    bool answered = true;
    std::optional<Time> freeze_at;  // when it is to be frozen (again); empty: at once
  };
  Sharer* Find(Ulid attempt);
  bool HasFloor(const Sharer& sharer) const { return floor_ == sharer.attempt; }
  bool MustFreeze(const Sharer& sharer) const;
  bool MustThaw(const Sharer& sharer) const;
  std::optional<Time> HeldUpUntil() const;
  Duration SmallestSlice() const;
  Duration TurnOf(const Sharer& sharer) const;
  Duration LongestTurn() const;
  std::optional<Time> TurnEnds() const;
  void GiveFloor(Sharer& sharer);
  void GiveFloorFrom(size_t index);

  std::vector<Sharer> sharers_;     // in the order of their turns
  int takers_ = 0;                  // those not being stopped
  std::optional<Ulid> floor_;       // whose turn it is; nobody's only when nobody takes turns
  std::optional<Time> turn_began_;  // once it has been thawed
  Time told_;                       // when something was last told
};

}  // namespace ty
