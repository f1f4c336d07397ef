// trainyard priority: changes who goes first among open tasks.
#include "base/text.h"
#include "cli/act.h"
#include "cli/commands.h"
#include "model/spec.h"
#include "msg/act.h"
#include "msg/cli.h"

namespace ty {
namespace {

constexpr Option kOptions[] = {
    {"--first", Option::Takes::kNothing, "", "cli.option_first"},
    {"--before", Option::Takes::kValue, "ID", "cli.option_before"},
    {"--after", Option::Takes::kValue, "ID", "cli.option_behind"},
    kTagOption,
};

int First(Caller& caller, const Invocation& invocation) {
  for (const char* level : {"high", "normal", "low"})
    if (!invocation.words.empty() && invocation.words.front() == level)
      return caller.Complain({Code::kInvalid, msg::CliFirstAndLevel{.level = level}, {}});
  return Act(caller,
             {.route = "priority", .tasks = invocation.words, .tag = invocation.Value("tag"), .first = true},
             msg::CliDoneFirst::kId);
}

// Right beside another one. Its words are tasks alone.
int Beside(Caller& caller, const Invocation& invocation) {
  const std::string before = invocation.Value("before"), after = invocation.Value("after");
  const std::string& beside = before.empty() ? after : before;
  if ((!before.empty() && !after.empty()) || invocation.Has("first"))
    return caller.Complain({Code::kInvalid, msg::ActPlaceTwice{}, {}});
  if (ParseInt(beside).value_or(0) < 1)
    return caller.Complain({Code::kInvalid, msg::CliBesideWhom{.text = Printable(beside)}, {}});
  return Act(caller,
             {.route = "priority",
              .tasks = invocation.words,
              .tag = invocation.Value("tag"),
              .before = before,
              .after = after},
             msg::CliDoneMoved::kId);
}

int Priority(Caller& caller, const Invocation& invocation) {
  if (invocation.Has("before") || invocation.Has("after")) return Beside(caller, invocation);
  if (invocation.Has("first")) return First(caller, invocation);
  if (invocation.words.empty()) return caller.Complain({Code::kInvalid, msg::CliPriorityUsage{}, {}});
  const std::string& level = invocation.words.front();
  auto priority = ParsePriority(level);
  if (!priority) return caller.Complain(priority.error());
  ActRequest request{.route = "priority", .tag = invocation.Value("tag"), .priority = level};
  request.tasks.assign(invocation.words.begin() + 1, invocation.words.end());
  return Act(caller, request, msg::CliDonePriority::kId);
}

}  // namespace

const Command kPriorityCommand = {"priority", "high|normal|low|N|--first|--before|--after ID…",
                                  "cli.about_priority", kOptions, Priority};

}  // namespace ty
