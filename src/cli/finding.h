// Finding is one thing that `trainyard doctor` looked at.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "base/message.h"

namespace ty {

struct Finding {
  enum class Level : unsigned char { kGood, kNote, kBad };
  const char* check;  // its name in JSON
  Level level;
  Message text;
  std::string mend = {};  // a command, where one helps
};

// The GPUs: as the yard reads them (its answer on devices), or, without a yard, what the bus and /dev show.
void LookAtGpus(const boost::json::value* devices, std::vector<Finding>& findings);

// The command that mends a probe state of the API; empty where none is known. Exposed for tests.
std::string MendOfProbe(std::string_view state, const std::string& distribution,
                        const std::string& group_of_nodes);

}  // namespace ty
