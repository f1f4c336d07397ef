// The decision of an attempt is the target text of the symlink `decision`, made once, exclusively:
//   GO boot=4b1c… pid=4242 start=918273      by the supervisor: from here on the task may have run
//   VOID cancelled                           by the daemon: it never will
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ty::wire {

struct Decision {
  bool go = false;
  std::string boot;  // GO: who said it
  int64_t pid = 0, start = 0;
  std::string reason;  // VOID
  bool operator==(const Decision&) const = default;
};

std::string EncodeDecision(const Decision& decision);
std::optional<Decision> DecodeDecision(std::string_view text);

}  // namespace ty::wire
