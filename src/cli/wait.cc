// trainyard wait: waits until tasks have ended; for one task its own exit code comes out.
#include <algorithm>
#include <boost/json.hpp>

#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/interrupt.h"
#include "cli/link.h"
#include "cli/select.h"
#include "cli/task_text.h"
#include "msg/cli.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr int kStep_s = 30;

Result<json::value> EndOf(Link& link, const std::string& task) {
  while (true) {
    auto answer = link.Get(
        "/api/v1/tasks/" + PercentEncode(task) + "?wait=ended&timeout=" + std::to_string(kStep_s), kStep_s);
    if (!answer || TextAt(*answer, "state") == "ended") return answer;
  }
}

// Many tasks: 0 when all succeeded, else 1; what cannot be waited for has its own code.
int WaitForAll(Caller& caller, Link& link, const std::vector<std::string>& tasks) {
  int code = kDone;
  json::array ended;
  for (const std::string& task : tasks) {
    auto end = EndOf(link, task);
    if (!end) {
      if (Interrupted()) return 130;
      code = std::max(code, caller.Complain(end.error()));
      continue;
    }
    if (ExitCodeOfTask(*end) != kDone) code = std::max(code, kFailed);
    if (caller.json)
      ended.push_back(*end);
    else
      caller.Print(EndText(caller, *end) + "\n");
  }
  if (caller.json) caller.Print(json::serialize(json::object{{"items", ended}, {"next", nullptr}}) + "\n");
  return code;
}

int Wait(Caller& caller, const Invocation& invocation) {
  if (invocation.words.empty()) return caller.Complain({Code::kInvalid, msg::CliNameOneTask{}, {}});
  auto tasks = SpreadRanges(invocation.words);
  if (!tasks) return caller.Complain(tasks.error());
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  if (tasks->size() > 1) {
    CatchInterrupts();
    return WaitForAll(caller, *link, *tasks);
  }
  // A task that is not there is told as such, before the codes of the task itself begin to count.
  auto known = link->Get("/api/v1/tasks/" + PercentEncode(tasks->front()));
  if (!known) return caller.Complain(known.error());
  return WaitForEnd(caller, *link, std::to_string(IntAt(*known, "id").value_or(0)), false);
}

}  // namespace

const Command kWaitCommand = {"wait", "ID…", "cli.about_wait", {}, Wait};

}  // namespace ty
