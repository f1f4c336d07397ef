// ShimSpec is everything a supervisor needs to run its attempt with nobody else around: the file `spec`, one
// line of JSON and a line with its CRC-32C in hex. It never changes once written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ty::wire {

inline constexpr int kSpecFormat = 1;

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
  int umask = 022;
  std::optional<int64_t> time_limit_ms, idle_limit_ms;
  int stop_signal = 15;  // for the limits
  int64_t grace_ms = 60'000;
  std::string containment;  // "cgroup2", "freezer", "subreaper"
  std::string cgroup;       // folder of the leaf to make; empty at the subreaper level
  bool operator==(const ShimSpec&) const = default;
};

std::string EncodeSpec(const ShimSpec& spec);
std::optional<ShimSpec> DecodeSpec(std::string_view text);

}  // namespace ty::wire
