// Orders follow from the state alone: whoever has the floor is to run, every other that takes turns is to be
// frozen. So whatever is told, in whatever order, the next Due puts it right.
#include "sched/turns.h"

#include <algorithm>

namespace ty {

Turns::Sharer* Turns::Find(Ulid attempt) {
  auto found = std::find_if(sharers_.begin(), sharers_.end(),
                            [&](const Sharer& one) { return one.attempt == attempt; });
  return found == sharers_.end() ? nullptr : &*found;
}

void Turns::GiveFloor(Sharer& sharer) {
  floor_ = sharer.attempt;
  turn_began_.reset();
  sharer.freeze_at.reset();
}

// To the first from `index` on, all around, that takes turns.
void Turns::GiveFloorFrom(size_t index) {
  floor_.reset();
  turn_began_.reset();
  for (size_t i = 0; i < sharers_.size(); ++i) {
    Sharer& sharer = sharers_[(index + i) % sharers_.size()];
    if (!sharer.stopping) return GiveFloor(sharer);
  }
}

void Turns::Join(Ulid attempt, int granted_milli, Duration slice, bool frozen, Time now) {
  told_ = now;
  if (Find(attempt) != nullptr) return;
  Sharer sharer{attempt, granted_milli, slice};
  if (frozen) sharer.said = Sharer::Said::kFreeze;
  // Right behind the one whose turn it cuts short, so that nobody's place moves back.
  auto floor =
      std::find_if(sharers_.begin(), sharers_.end(), [this](const Sharer& one) { return HasFloor(one); });
  auto at = sharers_.insert(floor == sharers_.end() ? floor : floor + 1, sharer);
  ++takers_;
  GiveFloor(*at);
}

void Turns::Leave(Ulid attempt, Time now) {
  Sharer* sharer = Find(attempt);
  if (sharer == nullptr) return;
  told_ = now;
  const bool had_floor = HasFloor(*sharer);
  takers_ -= !sharer->stopping;
  const auto index = sharer - sharers_.data();
  sharers_.erase(sharers_.begin() + index);
  if (had_floor) GiveFloorFrom(static_cast<size_t>(index));
}

void Turns::Stopping(Ulid attempt, Time now) {
  Sharer* sharer = Find(attempt);
  if (sharer == nullptr || sharer->stopping) return;
  told_ = now;
  sharer->stopping = true;
  --takers_;
  if (HasFloor(*sharer)) GiveFloorFrom(static_cast<size_t>(sharer - sharers_.data()));
}

void Turns::Grant(Ulid attempt, int granted_milli) {
  if (Sharer* sharer = Find(attempt)) sharer->granted_milli = granted_milli;
}

void Turns::Frozen(Ulid attempt, Time now) {
  Sharer* sharer = Find(attempt);
  if (sharer == nullptr) return;
  told_ = now;
  if (sharer->said == Sharer::Said::kFreeze) sharer->answered = true;
}

void Turns::Thawed(Ulid attempt, Time now) {
  Sharer* sharer = Find(attempt);
  if (sharer == nullptr) return;
  told_ = now;
  if (sharer->said == Sharer::Said::kThaw) {
    if (!sharer->answered && HasFloor(*sharer)) turn_began_ = now;
    sharer->answered = true;
  } else if (sharer->answered || now >= sharer->said_at + kConfirmPatience) {  // its deadline passed
    sharer->said = Sharer::Said::kNothing;
    sharer->freeze_at.reset();
  }  // else the answer to an older order: the freeze is still on its way
}

void Turns::Refused(Ulid attempt, Time now) {
  Sharer* sharer = Find(attempt);
  if (sharer == nullptr || sharer->said != Sharer::Said::kFreeze) return;
  told_ = now;
  sharer->said = Sharer::Said::kNothing;
  sharer->answered = true;
  if (!HasFloor(*sharer)) sharer->freeze_at = now + LongestTurn();
}

Duration Turns::SmallestSlice() const {
  Duration slice = Duration::max();
  for (const Sharer& sharer : sharers_) {
    if (!sharer.stopping) slice = std::min(slice, sharer.slice);
  }
  return slice;
}

Duration Turns::TurnOf(const Sharer& sharer) const {
  int smallest = kWholeDevice;
  for (const Sharer& one : sharers_) {
    if (!one.stopping) smallest = std::min(smallest, one.granted_milli);
  }
  return SmallestSlice() * std::max(1, sharer.granted_milli) / std::max(1, smallest);
}

Duration Turns::LongestTurn() const {
  Duration longest{};
  for (const Sharer& sharer : sharers_) {
    if (!sharer.stopping) longest = std::max(longest, TurnOf(sharer));
  }
  return longest;
}

std::optional<Time> Turns::TurnEnds() const {
  if (takers_ < 2 || !turn_began_) return std::nullopt;
  for (const Sharer& sharer : sharers_) {
    if (HasFloor(sharer)) return *turn_began_ + TurnOf(sharer);
  }
  return std::nullopt;
}

bool Turns::MustFreeze(const Sharer& sharer) const {
  return takers_ > 1 && !sharer.stopping && !HasFloor(sharer);
}

// Also one that never answered the freeze: it may have heard it.
bool Turns::MustThaw(const Sharer& sharer) const {
  return HasFloor(sharer) && sharer.said == Sharer::Said::kFreeze;
}

// The one with the floor waits until the others are frozen; not for ever for one that does not answer.
std::optional<Time> Turns::HeldUpUntil() const {
  std::optional<Time> until;
  for (const Sharer& sharer : sharers_) {
    if (!MustFreeze(sharer) || sharer.said != Sharer::Said::kFreeze || sharer.answered) continue;
    const Time patience = sharer.said_at + kConfirmPatience;
    if (!until || patience > *until) until = patience;
  }
  return until;
}

std::vector<Turns::Order> Turns::Due(Time now) {
  std::vector<Order> orders;
  if (auto ends = TurnEnds(); ends && now >= *ends) {
    auto floor =
        std::find_if(sharers_.begin(), sharers_.end(), [this](const Sharer& one) { return HasFloor(one); });
    GiveFloorFrom(static_cast<size_t>(floor - sharers_.begin()) + 1);
  }
  const Duration deadline = 2 * LongestTurn();
  for (Sharer& sharer : sharers_) {
    if (!MustFreeze(sharer) || (sharer.freeze_at && now < *sharer.freeze_at)) continue;
    orders.push_back({sharer.attempt, /*freeze=*/true, deadline});
    sharer.freeze_at = now + deadline / 2;
    if (sharer.said == Sharer::Said::kFreeze) continue;  // a renewal, which nobody answers
    sharer.said = Sharer::Said::kFreeze;
    sharer.said_at = now;
    sharer.answered = false;
  }
  for (Sharer& sharer : sharers_) {
    if (!HasFloor(sharer)) continue;
    if (MustThaw(sharer)) {
      if (auto until = HeldUpUntil(); until && now < *until) continue;
      orders.push_back({sharer.attempt, /*freeze=*/false, {}});
      sharer.said = Sharer::Said::kThaw;
      sharer.said_at = now;
      sharer.answered = false;
      turn_began_ = now;
    } else if (!turn_began_) {
      turn_began_ = now;
    }
  }
  return orders;
}

std::optional<Time> Turns::next() const {
  std::optional<Time> next = TurnEnds();
  auto consider = [&next](Time at) {
    if (!next || at < *next) next = at;
  };
  for (const Sharer& sharer : sharers_) {
    if (MustFreeze(sharer)) consider(sharer.freeze_at.value_or(told_));
    if (MustThaw(sharer)) consider(HeldUpUntil().value_or(told_));
    if (HasFloor(sharer) && !MustThaw(sharer) && !turn_began_) consider(told_);
  }
  return next;
}

}  // namespace ty
