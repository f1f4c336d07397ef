// trainyard rm: forgets ended tasks with their logs and output folders.
#include "cli/act.h"
#include "cli/commands.h"
#include "msg/cli.h"

namespace ty {
namespace {

constexpr Option kOptions[] = {kTagOption};

int Rm(Caller& caller, const Invocation& invocation) {
  return ActOnTasks(caller, invocation, "remove", msg::CliDoneRm::kId);
}

}  // namespace

const Command kRmCommand = {"rm", "ID…", "cli.about_rm", kOptions, Rm};

}  // namespace ty
