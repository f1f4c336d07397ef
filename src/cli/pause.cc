// trainyard pause: starts nothing more until resume; what runs goes on.
#include <boost/json.hpp>

#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/link.h"
#include "msg/cli.h"

namespace ty {
namespace {

int Pause(Caller& caller, const Invocation&) {
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  auto answer = link->Post("/api/v1/queue/pause", boost::json::object());
  if (!answer) return caller.Complain(answer.error());
  if (caller.json) {
    caller.Print(boost::json::serialize(*answer) + "\n");
  } else {
    caller.Say(msg::CliQueuePaused{});
  }
  return kDone;
}

}  // namespace

const Command kPauseCommand = {"pause", "", "cli.about_pause", {}, Pause};

}  // namespace ty
