// Names of the signals that people ask for: "TERM" or "SIGTERM", in any case.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ty {

std::optional<int> ParseSignal(std::string_view name);  // a name, or a number from 1 to 64
std::string SignalName(int signal);                     // "TERM"; the number when it has no name here

}  // namespace ty
