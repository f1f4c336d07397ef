// trainyard cancel: ends tasks. --all ends every open one, with the queue paused first.
#include "cli/act.h"
#include "cli/commands.h"
#include "msg/cli.h"

namespace ty {
namespace {

constexpr Option kOptions[] = {
    kTagOption,
    {"--all", Option::Takes::kNothing, "", "cli.option_cancel_all"},
};

int Cancel(Caller& caller, const Invocation& invocation) {
  bool all = invocation.Has("all");
  if (all && (!invocation.words.empty() || invocation.Has("tag")))
    return caller.Complain({Code::kInvalid, msg::CliAllAlone{}, {}});
  int code =
      Act(caller, {.route = "cancel", .tasks = invocation.words, .tag = invocation.Value("tag"), .all = all},
          msg::CliDoneCancel::kId);
  if (all && code == kDone) caller.Note(msg::CliQueuePausedByAll{});
  return code;
}

}  // namespace

const Command kCancelCommand = {"cancel", "ID…", "cli.about_cancel", kOptions, Cancel};

}  // namespace ty
