// trainyard run: queues a command with the shell's own interpreter and variables.
#include <boost/json.hpp>

#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/cut.h"
#include "cli/files.h"
#include "cli/submit_task.h"
#include "cli/task_request.h"
#include "model/spec.h"
#include "msg/cli.h"
#include "posix/files.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr Option kOwn[] = {
    {"--clean-env", Option::Takes::kNothing, "", "cli.option_clean_env"},
    {"--shell", Option::Takes::kNothing, "", "cli.option_shell"},
};
constexpr auto kOptions = WithTaskOptions(kOwn);

Result<std::vector<std::string>> CommandOf(const Invocation& invocation) {
  if (invocation.words.empty()) return Invalid(msg::CliNoCommand{}, "/command");
  if (!invocation.Has("shell")) return invocation.words;
  if (invocation.words.size() > 1) return Invalid(msg::CliShellOneWord{}, "/command");
  return std::vector<std::string>{"sh", "-c", invocation.words.front()};
}

Result<std::string> WorkdirOf(const Invocation& invocation) {
  std::string here = CurrentFolder();
  std::string workdir = AbsolutePath(invocation.Value("workdir"), here);
  if (workdir.empty() || workdir[0] != '/') return Invalid(msg::CliFolderGone{}, "/workdir");
  if (Status good = CheckWorkdir(workdir); !good) return Forward(good.error());
  return workdir;
}

// PATH as the task will see it: -e wins over the shell's; empty when the yard's own will be used.
std::string PathOf(const Invocation& invocation) {
  std::string path = invocation.Has("clean-env") ? "" : Environment("PATH");
  for (const std::string& pair : invocation.Values("env"))
    if (pair.rfind("PATH=", 0) == 0) path = pair.substr(5);
  return path;
}

size_t BytesOf(const json::object& task, const char* key) {
  const json::value* part = task.if_contains(key);
  return part ? json::serialize(*part).size() : 0;
}

Result<json::object> TaskOf(const Invocation& invocation, const std::vector<std::string>& argv,
                            const std::string& workdir) {
  json::object task;
  json::array& words = task["command"].emplace_array();
  for (const std::string& word : argv) words.push_back(WordToJson(word));
  task["workdir"] = WordToJson(workdir);
  if (Status applied = ApplyTaskOptions(invocation, WallClock(), task); !applied)
    return Forward(applied.error());
  if (!invocation.Has("clean-env")) RecordShell(task);
  size_t environment = BytesOf(task, "environment") + BytesOf(task, "variables");
  if (Status good = CheckCommand(argv, workdir, PathOf(invocation), environment); !good)
    return Forward(good.error());
  RecordCode(argv, workdir, task);
  return task;
}

int Run(Caller& caller, const Invocation& invocation) {
  auto refuse = [&](const Error& error) { return TroubleCode(invocation, caller.Complain(error)); };
  if (Status fine = CheckBraces(invocation, invocation.words); !fine) return refuse(fine.error());
  auto argv = CommandOf(invocation);
  if (!argv) return refuse(argv.error());
  auto workdir = WorkdirOf(invocation);
  if (!workdir) return refuse(workdir.error());
  auto task = TaskOf(invocation, *argv, *workdir);
  if (!task) return refuse(task.error());
  if (!invocation.Has("quiet") && !caller.json && Exists(*workdir + "/requirements.txt"))
    caller.Note(msg::CliRequirements{.folder = *workdir});
  return SubmitTask(caller, invocation, *task);
}

}  // namespace

const Command kRunCommand = {"run", "[--] COMMAND…", "cli.about_run", kOptions, Run, true};

}  // namespace ty
