// trainyard resume: starts tasks again after pause.
#include <boost/json.hpp>

#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/link.h"
#include "msg/cli.h"

namespace ty {
namespace {

int Resume(Caller& caller, const Invocation&) {
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  auto answer = link->Post("/api/v1/queue/resume", boost::json::object());
  if (!answer) return caller.Complain(answer.error());
  if (caller.json) {
    caller.Print(boost::json::serialize(*answer) + "\n");
  } else {
    caller.Say(msg::CliQueueResumed{});
  }
  return kDone;
}

}  // namespace

const Command kResumeCommand = {"resume", "", "cli.about_resume", {}, Resume};

}  // namespace ty
