#include "sched/room.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/assert.h"

namespace ty {

namespace {

// Whoever is not given what `need` asks for is not given what `other` does.
bool AsksNoLess(const Need& other, const Need& need) {
  return other.count >= need.count && other.milli >= need.milli && other.memory >= need.memory &&
         (other.memory > 0) == (need.memory > 0) && other.exclusive >= need.exclusive;
}

}  // namespace

Room::Room(const View& view, bool as_if_usable)
    : cores_(view.cores - view.cores_used),
      all_cores_(view.cores),
      slots_(view.devices.size()),
      ranking_(view.devices.size()) {
  const std::vector<DeviceRow>& rows = view.devices;
  std::iota(ranking_.begin(), ranking_.end(), 0);
  auto better = [&rows](int a, int b) {
    if (rows[a].strength != rows[b].strength) return rows[a].strength > rows[b].strength;
    if (rows[a].memory != rows[b].memory) return rows[a].memory > rows[b].memory;
    return a < b;
  };
  if (!std::is_sorted(ranking_.begin(), ranking_.end(), better))
    std::sort(ranking_.begin(), ranking_.end(), better);
  for (int i = 0; i < static_cast<int>(ranking_.size()); ++i) slots_[ranking_[i]].rank = i;
  // Whoever puts a device out of use is not to be on it when it is back.
  auto is_bare = [&](const DeviceRow& row) { return row.bare || (as_if_usable && !row.usable); };
  for (const DeviceRow& row : rows) kinds_.push_back({row.memory, row.to_give(), is_bare(row)});
  auto what = [](const Kind& kind) { return std::tuple(kind.memory, kind.to_give, kind.bare); };
  auto same = [&](const Kind& a, const Kind& b) { return what(a) == what(b); };
  auto more = [&](const Kind& a, const Kind& b) { return what(a) > what(b); };
  kinds_.erase(std::unique(kinds_.begin(), kinds_.end(), same), kinds_.end());
  std::sort(kinds_.begin(), kinds_.end(), more);
  kinds_.erase(std::unique(kinds_.begin(), kinds_.end(), same), kinds_.end());
  for (size_t i = 0; i < rows.size(); ++i) {
    const DeviceRow& row = rows[i];
    Slot& slot = slots_[i];
    slot.memory = row.memory;
    slot.to_give = row.to_give();
    slot.kind = static_cast<int>(
        std::lower_bound(kinds_.begin(), kinds_.end(), Kind{row.memory, row.to_give(), is_bare(row)}, more) -
        kinds_.begin());
    slot.usable = row.usable || as_if_usable;
    slot.bare = is_bare(row);
    slot.occupied = !row.tenants.empty();
    slot.mode = row.mode;
    for (const Tenant& tenant : row.tenants) {
      slot.asked += tenant.asked_milli;
      slot.taken += tenant.memory;
    }
    kinds_[slot.kind].usable += slot.usable;
    Count(static_cast<int>(i), 1);
  }
}

bool Room::KeepCores(int count) {
  if (count > all_cores_) return false;
  cores_ -= std::min(cores_, count);
  return true;
}

bool Room::Gives(const Slot& slot) const {
  if (!slot.usable || slot.kept) return false;
  return !slot.occupied || (slot.mode != ShareMode::kWhole && slot.asked < kWholeDevice);
}

bool Room::Takes(const Slot& slot, const Need& need) const {
  if (!Gives(slot) || (need.exclusive && !slot.bare)) return false;
  if (IsWhole(need)) return !slot.occupied && HasEnough(slot.memory, slot.to_give, need);
  if (slot.occupied && slot.mode != need.mode) return false;
  if (slot.asked + need.milli > kWholeDevice) return false;
  if (slot.memory == 0) return true;
  return slot.taken + MemoryOfNeed(need, slot.to_give) <= slot.to_give;
}

int Room::Fitting(const Need& need, int enough) const {
  int count = 0;
  for (const Kind& kind : kinds_) {
    if (count >= enough) return count;
    if (HasEnough(kind.memory, kind.to_give, need) && (kind.bare || !need.exclusive)) count += kind.free;
  }
  if (IsWhole(need)) return count;
  const std::set<Part>& parts = parts_[static_cast<int>(need.mode)];
  for (auto part = parts.lower_bound({need.milli, 0, 0}); part != parts.end() && count < enough; ++part)
    count += Takes(slots_[part->device], need);
  return count;
}

bool Room::Fits(const Need& need) {
  if (giving_ == 0) return false;
  std::optional<Need>& too_much = too_much_[static_cast<int>(need.mode)];
  if (too_much && AsksNoLess(need, *too_much)) return false;
  if (Fitting(need, need.count) >= need.count) return true;
  if (!too_much || AsksNoLess(*too_much, need)) too_much = need;
  return false;
}

int Room::Serving(const Need& need) const {
  int count = 0;
  for (const Kind& kind : kinds_) {
    if (HasEnough(kind.memory, kind.to_give, need) && (kind.bare || !need.exclusive)) count += kind.usable;
  }
  return count;
}

// Counts the device in, or out, of what there is to give.
void Room::Count(int device, int sign) {
  const Slot& slot = slots_[device];
  if (!Gives(slot)) return;
  giving_ += sign;
  if (!slot.occupied) {
    kinds_[slot.kind].free += sign;
    return;
  }
  std::set<Part>& parts = parts_[static_cast<int>(slot.mode)];
  const Part part{kWholeDevice - slot.asked, slot.rank, device};
  sign > 0 ? static_cast<void>(parts.insert(part)) : static_cast<void>(parts.erase(part));
}

void Room::Change(int device, const Slot& slot) {
  Count(device, -1);
  slots_[device] = slot;
  Count(device, 1);
}

void Room::Occupy(int device, const Need& need) {
  Slot slot = slots_[device];
  slot.occupied = true;
  slot.mode = need.mode;
  slot.asked += need.milli;
  if (!IsWhole(need)) slot.taken += MemoryOfNeed(need, slot.to_give);
  Change(device, slot);
}

std::vector<int> Room::Take(const Need& need, int count) {
  std::vector<int> devices;
  devices.reserve(count);
  if (!IsWhole(need)) {
    const std::set<Part>& parts = parts_[static_cast<int>(need.mode)];
    for (auto part = parts.lower_bound({need.milli, 0, 0});
         part != parts.end() && static_cast<int>(devices.size()) < count; ++part) {
      if (Takes(slots_[part->device], need)) devices.push_back(part->device);
    }
  }
  auto is_free = [this](int device) { return Gives(slots_[device]) && !slots_[device].occupied; };
  while (first_free_ < ranking_.size() && !is_free(ranking_[first_free_])) ++first_free_;
  for (size_t i = first_free_; i < ranking_.size() && static_cast<int>(devices.size()) < count; ++i) {
    const int device = ranking_[i];
    if (is_free(device) && Takes(slots_[device], need)) devices.push_back(device);
  }
  TY_ASSERT(static_cast<int>(devices.size()) == count);
  for (int device : devices) Occupy(device, need);
  std::sort(devices.begin(), devices.end());
  return devices;
}

// Thousandths of the device, in part or in memory, that tenants must give back before the need fits: the
// nearest first, so that what is kept for a need only comes nearer.
int Room::StillToLeave(const Slot& slot, const Need& need) const {
  if (!slot.occupied || IsWhole(need) || slot.mode != need.mode) return slot.asked;
  const int part = std::max(0, slot.asked + need.milli - kWholeDevice);
  if (slot.memory == 0) return part;
  const int64_t missing = std::max<int64_t>(0, slot.taken + MemoryOfNeed(need, slot.to_give) - slot.to_give);
  return std::max(part, static_cast<int>(static_cast<double>(missing) * kWholeDevice /
                                         static_cast<double>(slot.to_give)));
}

bool Room::KeepFor(const Need& need) {
  if (Serving(need) < need.count) return false;
  struct Candidate {
    bool waits = false;
    int to_leave = 0, device = 0;
    auto operator<=>(const Candidate&) const = default;
  };
  std::vector<Candidate> candidates;
  for (int i = 0; i < static_cast<int>(slots_.size()); ++i) {
    const Slot& slot = slots_[i];
    if (slot.kept || !slot.usable || !HasEnough(slot.memory, slot.to_give, need) ||
        (need.exclusive && !slot.bare))
      continue;
    candidates.push_back({!Takes(slot, need), StillToLeave(slot, need), i});
  }
  const auto count = std::min<size_t>(need.count, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count),
                    candidates.end());
  candidates.resize(count);
  for (const Candidate& candidate : candidates) {
    Slot slot = slots_[candidate.device];
    slot.kept = true;
    Change(candidate.device, slot);
  }
  return true;
}

}  // namespace ty
