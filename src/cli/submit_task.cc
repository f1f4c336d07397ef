#include "cli/submit_task.h"

#include <stdio.h>

#include <boost/json.hpp>

#include "base/ids.h"
#include "cli/answer.h"
#include "cli/follow.h"
#include "cli/link.h"
#include "cli/receipt.h"
#include "model/spec.h"

namespace ty {
namespace {

namespace json = boost::json;

void MaskSecrets(json::object& variables) {
  for (auto& entry : variables)
    if (LooksSecret(std::string_view(entry.key().data(), entry.key().size()))) entry.value() = "***";
}

// What would be sent, for people and scripts, without secrets.
int PrintDryRun(const Caller& caller, json::object task) {
  if (json::value* variables = task.if_contains("variables"); variables && variables->is_object())
    MaskSecrets(variables->get_object());
  if (json::value* shell = task.if_contains("environment"); shell && shell->is_object())
    if (json::value* variables = shell->get_object().if_contains("variables");
        variables && variables->is_object())
      MaskSecrets(variables->get_object());
  caller.Print(json::serialize(task) + "\n");
  return kDone;
}

}  // namespace

int TroubleCode(const Invocation& invocation, int code) {
  bool waits = invocation.Has("wait") || invocation.Has("follow");
  return waits && code != kDone ? kOurTrouble : code;
}

int SubmitTask(Caller& caller, const Invocation& invocation, const json::object& task) {
  if (invocation.Has("dry-run")) return PrintDryRun(caller, task);
  bool wait = invocation.Has("wait"), follow = invocation.Has("follow") && !caller.json;
  wait = wait || invocation.Has("follow");

  auto link = Link::Open(caller, Link::Need::kStart);
  if (!link) return TroubleCode(invocation, caller.Complain(link.error()));
  std::string body = json::serialize(task);
  HttpRequest request;
  request.method = "POST";
  request.target = "/api/v1/tasks?looked=yes";  // at the folder and the program, with the words read
  request.body = body;
  // A daemon that dies between its commit and its answer must not get the task twice.
  request.headers.emplace_back("Idempotency-Key", Ulid::Make(WallClock()).Text());
  auto reply = link->Ask(std::move(request));
  if (!reply) return TroubleCode(invocation, caller.Complain(reply.error()));
  auto receipt = ParseAnswer(reply->body);
  if (!receipt) return TroubleCode(invocation, caller.Complain(receipt.error()));

  std::string id = std::to_string(IntAt(*receipt, "id").value_or(0));
  if (invocation.Has("quiet")) {
    caller.Print(id + "\n");
  } else if (caller.json) {
    if (!wait) caller.Print(reply->body + "\n");
  } else {
    PrintReceipt(caller, *receipt, follow);
  }
  fflush(stdout);
  return wait ? WaitForEnd(caller, *link, id, follow) : kDone;
}

}  // namespace ty
