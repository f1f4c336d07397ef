// Room is what there is to give out in one pass. Decide and Explain share it, so that the reason given is the
// rule applied. It only ever shrinks: whoever does not fit once does not fit later in the pass.
// "Does it fit" is asked once for each of many needs, so free devices are counted by what they are, and
// shared ones lie ordered by what is left of them; the devices themselves are looked at only for those who
// start.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "sched/sched.h"
#include "sched/shares.h"

namespace ty {

constexpr Duration kPassedLongest = minutes(10);
constexpr int64_t kPassedMost = 50;
// Needs that get something kept in one pass: those behind so many others that are owed are not looked at.
constexpr int kKeptMost = 100;

// Whether freed devices are to be kept for the head of a line.
inline bool IsOwed(const PassedBy& passed, Time now) {
  return passed.since && (passed.starts >= kPassedMost || now - *passed.since >= kPassedLongest);
}
// False when the line need not be asked.
inline bool MayBeOwed(const LineFace& face, Time now) {
  return IsOwed({face.passed_starts, face.passed_since}, now);
}

// Bytes that a part takes of a device.
inline int64_t MemoryOfNeed(const Need& need, int64_t device_memory) {
  return need.memory > 0 ? need.memory : MemoryOfPart(need.milli, device_memory);
}

inline bool IsWhole(const Need& need) {
  return need.mode == ShareMode::kWhole;
}
// `to_give` of `memory` can be given. A whole device need only be of the size asked for, as it is sold. Of
// one whose memory nobody knows (0), a part is not counted, and a floor is not met.
inline bool HasEnough(int64_t memory, int64_t to_give, const Need& need) {
  if (!IsWhole(need)) return memory == 0 || to_give >= need.memory;
  return memory >= need.memory || NominalMemory(memory) >= need.memory;
}

class Room {
 public:
  // `as_if_usable`: what there would be if no device were out of use.
  explicit Room(const View& view, bool as_if_usable = false);

  // Cores for tasks without a device.
  int cores() const { return cores_; }
  int all_cores() const { return all_cores_; }
  void TakeCores(int count) { cores_ -= count; }
  // As KeepFor below.
  bool KeepCores(int count);

  // Whether any device has anything left to give, to whomever.
  bool AnyDevice() const { return giving_ > 0; }
  // How many devices would take the need now, each on its own. It may stop counting at `enough`.
  int Fitting(const Need& need, int enough = std::numeric_limits<int>::max()) const;
  bool Fits(const Need& need);
  // How many could when their tenants have left; of those that are usable.
  int Serving(const Need& need) const;
  // Takes `count` devices that fit. A part goes where the least is left that still does, next to others of
  // its mode; else, as a whole does, to the best free device.
  std::vector<int> Take(const Need& need, int count);
  // Keeps for the need what it waits for: devices that fit it now, then those that soonest will. Not when the
  // need is more than works now: a broken device would hold up the whole yard. Returns whether it did.
  bool KeepFor(const Need& need);

 private:
  struct Slot {
    int64_t memory = 0, to_give = 0, taken = 0;  // taken by parts
    int asked = 0;                               // thousandths, of all tenants
    int rank = 0;                                // 0: the best
    int kind = 0;                                // index into kinds_
    ShareMode mode = ShareMode::kWhole;
    bool usable = false, bare = false, occupied = false, kept = false;
  };
  // Devices that are alike as long as they are free.
  struct Kind {
    int64_t memory = 0, to_give = 0;
    bool bare = false;
    int usable = 0, free = 0;
  };
  // A shared device that still gives.
  struct Part {
    int left = 0, rank = 0, device = 0;
    auto operator<=>(const Part&) const = default;
  };

  bool Gives(const Slot& slot) const;
  bool Takes(const Slot& slot, const Need& need) const;
  int StillToLeave(const Slot& slot, const Need& need) const;
  void Occupy(int device, const Need& need);
  void Count(int device, int sign);
  void Change(int device, const Slot& slot);

  int cores_ = 0, all_cores_ = 0, giving_ = 0;
  std::vector<Slot> slots_;
  std::vector<Kind> kinds_;                      // the most memory first
  std::vector<int> ranking_;                     // devices, best first
  size_t first_free_ = 0;                        // in ranking_: none before it is free
  std::array<std::set<Part>, 3> parts_;          // by mode
  std::array<std::optional<Need>, 3> too_much_;  // by mode: a need that did not fit, so none beyond it will
};

}  // namespace ty
