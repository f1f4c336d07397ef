#include "cli/act.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/link.h"
#include "msg/cli.h"
#include "msg/stop.h"

namespace ty {
namespace {

namespace json = boost::json;

std::string NameOf(const json::value& item) {
  const json::value* id = At(item, "id");
  if (!id) return {};
  return id->is_string() ? std::string(id->get_string()) : std::to_string(IntAt(item, "id").value_or(0));
}

// A running task is only asked to stop: its reason says how long it has.
Message Done(Link& link, const std::string& task, const char* done) {
  if (std::string_view(done) == msg::CliDoneCancel::kId) {
    const auto why = link.Get("/api/v1/tasks/" + task + "/why");
    if (why && TextAt(*why, "state") == "stopping")
      return msg::StopAsked{.task = task, .reason = WordsAt(*why, "reason")};
  }
  return Message{done, {{"task", task}}};
}

}  // namespace

int Act(Caller& caller, const ActRequest& request, const char* done) {
  if (request.tasks.empty() && request.tag.empty() && !request.all)
    return caller.Complain({Code::kInvalid, msg::CliNoTasks{}, {}});
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  json::object body;
  if (!request.tasks.empty()) body["tasks"] = json::array(request.tasks.begin(), request.tasks.end());
  if (!request.tag.empty()) body["tag"] = request.tag;
  if (request.all) body["all"] = true;
  if (!request.priority.empty()) body["priority"] = request.priority;
  if (request.first) body["first"] = true;
  if (!request.before.empty()) body["before"] = ParseInt(request.before).value_or(0);
  if (!request.after.empty()) body["after"] = ParseInt(request.after).value_or(0);
  auto answer = link->Post(std::string("/api/v1/tasks/") + request.route, body);
  if (!answer) return caller.Complain(answer.error());
  if (caller.json) caller.Print(json::serialize(*answer) + "\n");

  int code = kDone;
  std::string before;  // the one that was put right before it, by --first
  const json::array& items = ItemsAt(*answer, "items");
  for (const json::value& item : items) {
    if (FlagAt(item, "ok")) {
      const std::string task = NameOf(item);
      if (!caller.json && !before.empty()) {
        caller.Say(msg::CliDoneFirstNext{.task = task, .before = before});
      } else if (!caller.json) {
        caller.Say(Done(*link, task, done));
      }
      if (request.first) before = task;
      continue;
    }
    const json::value* problem = At(item, "problem");
    Error error = ErrorOfProblem(problem ? *problem : json::value());
    code = std::max(code, caller.Complain(error));
  }
  if (items.empty() && !caller.json) caller.Note(msg::CliNothingToDo{});
  return code;
}

int ActOnTasks(Caller& caller, const Invocation& invocation, const char* route, const char* done) {
  return Act(caller, {.route = route, .tasks = invocation.words, .tag = invocation.Value("tag")}, done);
}

}  // namespace ty
