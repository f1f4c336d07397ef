// trainyard version.
#include <boost/json.hpp>

#include "cli/caller.h"
#include "cli/commands.h"

namespace ty {
namespace {

int Version(Caller& caller, const Invocation&) {
  if (caller.json)
    caller.Print(boost::json::serialize(boost::json::object{{"version", TRAINYARD_VERSION}}) + "\n");
  else
    caller.Print("trainyard " TRAINYARD_VERSION "\n");
  return kDone;
}

}  // namespace

const Command kVersionCommand = {"version", "", "cli.about_version", {}, Version};

}  // namespace ty
