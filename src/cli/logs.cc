// trainyard logs: what a task wrote.
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/interrupt.h"
#include "cli/link.h"
#include "cli/select.h"
#include "model/spec.h"
#include "msg/cli.h"

namespace ty {
namespace {

constexpr Option kOptions[] = {
    {"-f,--follow", Option::Takes::kNothing, "", "cli.option_logs_follow"},
    {"--raw", Option::Takes::kNothing, "", "cli.option_raw"},
    {"--attempt", Option::Takes::kValue, "N", "cli.option_attempt"},
    {"--rank", Option::Takes::kValue, "N", "cli.option_rank"},
    {"--tail", Option::Takes::kValue, "N", "cli.option_tail"},
};

Result<LogChoice> ChoiceOf(const Invocation& invocation) {
  if (invocation.words.size() != 1) return Invalid(msg::CliNameOneTask{});
  AttemptChoice chosen = ChooseAttempt(invocation.words.front());
  LogChoice choice{.task = chosen.task,
                   .attempt = chosen.attempt,
                   .follow = invocation.Has("follow"),
                   .raw = invocation.Has("raw")};
  if (invocation.Has("attempt")) {
    auto number = ParseInt(invocation.Value("attempt"));
    if (!number || *number < 1 || *number > 1'000'000)
      return Invalid(msg::CliNumber{.option = "--attempt", .value = invocation.Value("attempt"), .least = 1});
    choice.attempt = static_cast<int>(*number);
  }
  if (invocation.Has("rank")) {
    auto rank = ParseInt(invocation.Value("rank"));
    if (!rank || *rank < 0 || *rank > 1'000'000)
      return Invalid(msg::CliNumber{.option = "--rank", .value = invocation.Value("rank"), .least = 0});
    choice.rank = static_cast<int>(*rank);
  }
  if (invocation.Has("tail")) {
    auto lines = ParseInt(invocation.Value("tail"));
    if (!lines || *lines < 0)
      return Invalid(msg::CliNumber{.option = "--tail", .value = invocation.Value("tail"), .least = 0});
    choice.tail = *lines;
  }
  return choice;
}

// The whole log as one JSON text; bytes that are no UTF-8 as base64.
int PrintJson(Caller& caller, Link& link, LogChoice choice) {
  std::string bytes;
  choice.into = &bytes;
  if (Status read = PrintLog(caller, link, choice); !read) return caller.Complain(read.error());
  boost::json::object answer{{"task", choice.task}, {"log", WordToJson(bytes)}};
  if (choice.rank) answer["rank"] = *choice.rank;
  caller.Print(boost::json::serialize(answer) + "\n");
  return kDone;
}

int Logs(Caller& caller, const Invocation& invocation) {
  auto choice = ChoiceOf(invocation);
  if (!choice) return caller.Complain(choice.error());
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  if (caller.json) return PrintJson(caller, *link, *choice);
  if (choice->follow) CatchInterrupts();
  Status printed = PrintLog(caller, *link, *choice);
  if (Interrupted()) return 130;
  return printed ? kDone : caller.Complain(printed.error());
}

}  // namespace

const Command kLogsCommand = {"logs", "ID", "cli.about_logs", kOptions, Logs};

}  // namespace ty
