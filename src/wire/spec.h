// ShimSpec is everything a supervisor needs to run its attempt with nobody else around: the file `spec`, one
// line of JSON and a line with its CRC-32C in hex. It never changes once written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ty::wire {

// Whom a stop signal is sent to: the first process of each rank alone, its group, or every process.
enum class Target : uint8_t { kLeader, kGroup, kAll };
std::string_view Name(Target target);  // "leader", "group", "all"
std::optional<Target> ParseTarget(std::string_view name);

inline constexpr int kSpecFormat = 1;
inline constexpr size_t kMostRanks = 128;  // what a slot has room for
// Host leases are handed down open: descriptors 10, 11, … of the supervisor, whose third argument is their
// number, and of every process it starts.
inline constexpr int kFirstLease = 10;

struct ShimSpec {
  std::string attempt;  // ULID
  int64_t task = 0;
  int number = 1;
  int64_t uid = 0;                // whom it must run as
  std::string boot;               // for the decision's text
  std::vector<std::string> argv;  // argv[0] has a slash
  std::string workdir;
  std::vector<std::string> environment;  // "K=V"
  std::vector<int> cpus;                 // affinity; empty: as inherited
  // Ids of the devices it was given; nothing in an older spec, which does not say.
  std::optional<std::vector<std::string>> devices;
  // One process each, with variables instead of or besides those above and CPUs of its own where it names
  // any; empty: one process.
  struct Rank {
    std::vector<std::string> environment;
    std::vector<int> cpus;
    bool operator==(const Rank&) const = default;
  };
  std::vector<Rank> ranks;
  int umask = 022;
  std::optional<int64_t> time_limit_ms, idle_limit_ms;
  std::optional<int64_t> log_limit;  // bytes of each log
  int stop_signal = 15;              // for the limits
  Target stop_target = Target::kGroup;
  int64_t grace_ms = 60'000;
  int64_t unkillable_ms = 30'000;  // after KILL, until UNKILLABLE is told
  std::string containment;         // "cgroup2", "freezer", "subreaper"
  std::string cgroup;              // folder of the leaf to make; empty at the subreaper level
  // Where nobody counts OOM kills of the leaf alone: the counter of the memory cgroup around it, and what it
  // said at the launch.
  std::string oom_counter;
  int oom_kills_before = 0;
  bool operator==(const ShimSpec&) const = default;
};

std::string EncodeSpec(const ShimSpec& spec);
std::optional<ShimSpec> DecodeSpec(std::string_view text);

}  // namespace ty::wire
