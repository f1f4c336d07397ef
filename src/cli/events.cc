// trainyard events: the yard's own record, one fact a line.
#include <stdio.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/link.h"
#include "msg/cli.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr int kWait_s = 30;

constexpr Option kOptions[] = {
    {"--since", Option::Takes::kValue, "N", "cli.option_since"},
    {"-f,--follow", Option::Takes::kNothing, "", "cli.option_events_follow"},
};

void PrintEvent(const Caller& caller, const json::value& event) {
  if (caller.json) {
    caller.Print(json::serialize(event) + "\n");
    return;
  }
  std::string line = std::to_string(IntAt(event, "seq").value_or(0)) + "  " + TextAt(event, "at") + "  " +
                     TextAt(event, "kind");
  if (auto task = IntAt(event, "task")) {
    line += "  " + std::to_string(*task);
    if (auto attempt = IntAt(event, "attempt"); attempt && *attempt > 0)
      line += "." + std::to_string(*attempt);
  }
  const json::value* data = At(event, "data");
  if (data && data->is_object() && !data->get_object().empty()) line += "  " + json::serialize(*data);
  caller.Print(Printable(line) + "\n");
}

int Events(Caller& caller, const Invocation& invocation) {
  int64_t since = 0;
  if (invocation.Has("since")) {
    auto number = ParseInt(invocation.Value("since"));
    if (!number || *number < 0)
      return caller.Complain(
          {Code::kInvalid, msg::CliNumber{.option = "--since", .value = invocation.Value("since")}, {}});
    since = *number;
  }
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  bool follow = invocation.Has("follow");
  if (follow) CatchInterrupts();
  while (!Interrupted()) {
    int wait = follow ? kWait_s : 0;
    auto page = link->Get(
        "/api/v1/events?since=" + std::to_string(since) + "&limit=1000&wait=" + std::to_string(wait), wait);
    if (!page) return Interrupted() ? 130 : caller.Complain(page.error());
    const json::array& items = ItemsAt(*page, "items");
    for (const json::value& event : items) PrintEvent(caller, event);
    fflush(stdout);
    if (items.empty() && !follow) return kDone;
    since = IntAt(*page, "next").value_or(since);
  }
  return 130;
}

}  // namespace

const Command kEventsCommand = {"events", "", "cli.about_events", kOptions, Events};

}  // namespace ty
