// Names of the signals that people ask for: "TERM" or "SIGTERM", in any case, and who is to get one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ty {

// Whom a stop signal is sent to; KILL ends the whole tree whatever was said.
enum class StopTarget : uint8_t {
  kLeader,  // the first process (of each rank) alone
  kGroup,   // its process group, as Ctrl-C on a terminal would
  kAll,     // every process of the attempt
};

std::optional<int> ParseSignal(std::string_view name);  // a name, or a number from 1 to 64
std::string SignalName(int signal);                     // "TERM"; the number when it has no name here

}  // namespace ty
