// trainyard release: lets held tasks start.
#include "cli/act.h"
#include "cli/commands.h"
#include "msg/cli.h"

namespace ty {
namespace {

constexpr Option kOptions[] = {kTagOption};

int Release(Caller& caller, const Invocation& invocation) {
  return ActOnTasks(caller, invocation, "release", msg::CliDoneRelease::kId);
}

}  // namespace

const Command kReleaseCommand = {"release", "ID…", "cli.about_release", kOptions, Release};

}  // namespace ty
