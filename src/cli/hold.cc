// trainyard hold: keeps waiting tasks from starting.
#include "cli/act.h"
#include "cli/commands.h"
#include "msg/cli.h"

namespace ty {
namespace {

constexpr Option kOptions[] = {kTagOption};

int Hold(Caller& caller, const Invocation& invocation) {
  return ActOnTasks(caller, invocation, "hold", msg::CliDoneHold::kId);
}

}  // namespace

const Command kHoldCommand = {"hold", "ID…", "cli.about_hold", kOptions, Hold};

}  // namespace ty
