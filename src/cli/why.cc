// trainyard why: why a task waits, or why it ended so.
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/link.h"
#include "msg/cli.h"

namespace ty {
namespace {

namespace json = boost::json;

int Why(Caller& caller, const Invocation& invocation) {
  if (invocation.words.empty()) return caller.Complain({Code::kInvalid, msg::CliNameOneTask{}, {}});
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  int code = kDone;
  for (const std::string& task : invocation.words) {
    auto why = link->Get("/api/v1/tasks/" + PercentEncode(task) + "/why");
    if (!why) {
      code = std::max(code, caller.Complain(why.error()));
      continue;
    }
    if (caller.json) {
      caller.Print(json::serialize(*why) + "\n");
      continue;
    }
    std::string id = std::to_string(IntAt(*why, "id").value_or(0)), reason = WordsAt(*why, "reason");
    if (reason.empty())
      caller.Say(msg::CliNoReason{.task = id});
    else
      caller.Say(msg::CliWhy{.task = id, .reason = reason});
  }
  return code;
}

}  // namespace

const Command kWhyCommand = {"why", "ID…", "cli.about_why", {}, Why};

}  // namespace ty
