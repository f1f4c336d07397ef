// trainyard status: whether the yard runs, and how busy it is.
#include <boost/json.hpp>

#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/link.h"
#include "msg/cli.h"

namespace ty {
namespace {

namespace json = boost::json;

int ShowStatus(Caller& caller, const Invocation&) {
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  auto status = link->Get("/api/v1/status");
  if (!status) return caller.Complain(status.error());
  if (caller.json) {
    caller.Print(json::serialize(*status) + "\n");
    return kDone;
  }
  json::value none = json::object();
  const json::value* counts = At(*status, "counts");
  const json::value* queue = At(*status, "queue");
  if (!counts) counts = &none;
  auto count = [&](const char* key) { return IntAt(*counts, key).value_or(0); };
  caller.Say(msg::CliStatusHead{.owner = TextAt(*status, "owner"),
                                .pid = std::to_string(IntAt(*status, "pid").value_or(0)),
                                .version = TextAt(*status, "version")});
  PrintFacts(caller, *status);
  caller.Say(msg::CliStatusCounts{.running = count("running"),
                                  .waiting = count("waiting"),
                                  .held = count("held"),
                                  .free = count("devices_free"),
                                  .devices = count("devices")});
  if (queue && FlagAt(*queue, "paused")) caller.Say(msg::CliStatusPaused{});
  if (FlagAt(*status, "adopting")) caller.Say(msg::CliStatusAdopting{});
  SayTroubleOfState(caller, *status);
  return kDone;
}

}  // namespace

const Command kStatusCommand = {"status", "", "cli.about_status", {}, ShowStatus};

}  // namespace ty
