// trainyard retry: queues ended tasks again, from their last checkpoint.
#include "cli/act.h"
#include "cli/commands.h"
#include "msg/cli.h"

namespace ty {
namespace {

constexpr Option kOptions[] = {kTagOption};

int Retry(Caller& caller, const Invocation& invocation) {
  return ActOnTasks(caller, invocation, "retry", msg::CliDoneRetry::kId);
}

}  // namespace

const Command kRetryCommand = {"retry", "ID…", "cli.about_retry", kOptions, Retry};

}  // namespace ty
