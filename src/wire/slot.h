// The slot is where an attempt's supervisor leaves its state: 2 x 4,096 bytes, zero-written before GO. A
// record goes into the half that does not hold the newest one, so a torn write leaves the one before:
//
//   {"format":1,"seq":2,"attempt":"01JD…","state":"exited","pid":4242,…}   padded with spaces
//   bytes 4087 to 4094: CRC-32C of the 4,087 bytes before, in hex;   byte 4095: a newline
//
// docs/formats/attempt.md describes it for others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json.h"

namespace ty::wire {

inline constexpr int kSlotFormat = 1;
inline constexpr size_t kSlotHalf = 4096;
inline constexpr size_t kSlotSize = 2 * kSlotHalf;

enum class SlotState : uint8_t {
  kRunning,
  kExited,  // the tree is gone and this is its end
  kLost,    // written by the daemon once it has proved that all is dead and nobody can tell the end any more
};
enum class StoppedBy : uint8_t { kNobody, kOrder, kTimeLimit, kIdleLimit };

// How one rank ended; neither is set when it was never started.
struct RankEnd {
  std::optional<int> exit_code, signal;
  bool operator==(const RankEnd&) const = default;
};
// The first process of a rank: its number and its start time in ticks.
struct RankProcess {
  int64_t pid = 0, start = 0;
  bool operator==(const RankProcess&) const = default;
};

struct SlotRecord {
  int64_t sequence = 0;
  std::string attempt;  // ULID
  SlotState state = SlotState::kRunning;
  int64_t pid = 0, start = 0;       // of the task's first process, with its start time in ticks
  std::vector<RankProcess> others;  // with ranks and while it runs: the same of ranks 1, 2, …
  int64_t began_ns = 0;             // wall clock
  // With kExited:
  int64_t ended_ns = 0;  // began + what the boot clock counted: never before it, whatever the wall clock does
  std::optional<int> exit_code, signal;
  bool core_dumped = false;  // by whom it ended with; `core_file` where that could be found
  std::string core_file;
  int exec_errno = 0;  // not 0: the program never began; `exec_step` says what failed
  std::string exec_step;
  StoppedBy stopped_by = StoppedBy::kNobody;
  bool killed = false;  // by our KILL
  int oom_kills = 0,
      oom_kills_nearby = 0;  // of its own leaf, and of the cgroup around where only that counts
  bool oom_counted = false;  // one of the two was read: then 0 says that there was none
  int64_t cpu_ms = 0;
  // With ranks. `exit_code` and `signal` are those of the first that failed by time; `failed_rank` names it
  // where it failed by itself (or could not be started), not because everything was being stopped.
  std::vector<RankEnd> ranks;
  std::optional<int> failed_rank;
  bool operator==(const SlotRecord&) const = default;
};

Json ToJson(const SlotRecord& record);
std::optional<SlotRecord> SlotRecordFrom(const Json& json);

std::string EncodeSlotHalf(const SlotRecord& record);             // 4,096 bytes
std::optional<SlotRecord> DecodeSlotHalf(std::string_view half);  // nothing for zeros, torn or foreign bytes
inline int64_t SlotOffset(int64_t sequence) {
  return (sequence & 1) * static_cast<int64_t>(kSlotHalf);
}

struct SlotReading {
  std::optional<SlotRecord> newest;
  bool damaged = false;  // wrong size, or a half that is neither zeros nor a record
};
SlotReading ReadSlot(std::string_view content);

}  // namespace ty::wire
