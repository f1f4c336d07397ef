// trainyard priority: changes who goes first among open tasks.
#include "cli/act.h"
#include "cli/commands.h"
#include "model/spec.h"
#include "msg/cli.h"

namespace ty {
namespace {

constexpr Option kOptions[] = {kTagOption};

int Priority(Caller& caller, const Invocation& invocation) {
  if (invocation.words.empty()) return caller.Complain({Code::kInvalid, msg::CliPriorityUsage{}, {}});
  const std::string& level = invocation.words.front();
  auto priority = ParsePriority(level);
  if (!priority) return caller.Complain(priority.error());
  ActRequest request{.route = "priority", .tag = invocation.Value("tag"), .priority = level};
  request.tasks.assign(invocation.words.begin() + 1, invocation.words.end());
  return Act(caller, request, msg::CliDonePriority::kId);
}

}  // namespace

const Command kPriorityCommand = {"priority", "high|normal|low|N ID…", "cli.about_priority", kOptions,
                                  Priority};

}  // namespace ty
