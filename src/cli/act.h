// The verbs that act on many tasks: cancel, hold, release, retry, priority, rm.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/caller.h"
#include "cli/command.h"

namespace ty {

inline constexpr Option kTagOption = {"--tag", Option::Takes::kValue, "TAG", "cli.option_act_tag"};

struct ActRequest {
  const char* route;               // "cancel" of /api/v1/tasks/cancel
  std::vector<std::string> tasks;  // numbers, ranges, names, @last
  std::string tag;
  bool all = false;
  std::string priority;
  bool first = false;
  std::string before, after;  // numbers of tasks
};

// Sends it and tells about each task in the words of `done`, a message id with {task}.
// 0 when all went well; else the code of the worst answer.
int Act(Caller& caller, const ActRequest& request, const char* done);

// The usual case: tasks and --tag as typed.
int ActOnTasks(Caller& caller, const Invocation& invocation, const char* route, const char* done);

}  // namespace ty
