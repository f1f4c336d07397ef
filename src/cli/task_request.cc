#include "cli/task_request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/text.h"
#include "cli/begin.h"
#include "cli/caller.h"
#include "cli/code.h"
#include "cli/files.h"
#include "cli/select.h"
#include "model/spec.h"
#include "msg/cli.h"
#include "posix/files.h"

namespace ty {
namespace {

namespace json = boost::json;

// The object that stands at `key`, made where it is missing.
json::object& Part(json::object& object, const char* key) {
  json::value& value = object[key];
  return value.is_object() ? value.get_object() : value.emplace_object();
}

json::array& List(json::object& object, const char* key) {
  json::value& value = object[key];
  return value.is_array() ? value.get_array() : value.emplace_array();
}

Result<int64_t> NumberOf(const Invocation& invocation, const char* option, int64_t least) {
  std::string text = invocation.Value(option);
  auto number = ParseInt(text);
  if (!number || *number < least || *number > 1'000'000'000)
    return Invalid(msg::CliNumber{.option = std::string("--") + option, .value = text, .least = least});
  return *number;
}

Status ApplyLength(const Invocation& invocation, const char* option, json::object& task, const char* part,
                   const char* name) {
  if (!invocation.Has(option)) return {};
  std::string text = invocation.Value(option);
  auto length = ParseDuration(text);
  if (!length || length->count() <= 0)
    return Invalid(msg::CliLength{.option = std::string("--") + option, .value = text});
  Part(task, part)[name] = text;
  return {};
}

Status ApplyVariables(const Invocation& invocation, json::object& task) {
  for (const std::string& pair : invocation.Values("env")) {
    size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos || !IsUtf8(pair.substr(0, equals)))
      return Invalid(msg::CliEnv{.value = pair});
    Part(task, "variables")[pair.substr(0, equals)] = WordToJson(std::string_view(pair).substr(equals + 1));
  }
  return {};
}

Status ApplyAfter(const Invocation& invocation, json::object& task) {
  for (const std::string& text : invocation.Values("after")) {
    auto after = ParseAfter(text);
    if (!after) return Forward(after.error());
    auto number = ParseInt(after->task);
    json::value named = number ? json::value(*number) : json::value(after->task);
    List(task, "after").push_back({{"task", named}, {"on", after->on}});
  }
  return {};
}

Status ApplyDeviceWish(const Invocation& invocation, json::object& task) {
  if (invocation.Has("share")) {
    auto share = Share::Parse(invocation.Value("share"));
    if (!share) return Invalid(share.error().message, "/resources/share");
    Part(task, "resources")["share"] = invocation.Value("share");
  }
  if (invocation.Has("gpu-memory")) {
    auto bytes = ParseBytes(invocation.Value("gpu-memory"));
    if (!bytes || *bytes <= 0) return Invalid(msg::CliGpuMemory{.value = invocation.Value("gpu-memory")});
    Part(task, "resources")["gpu_memory"] = *bytes;
  }
  if (invocation.Has("gpu-ids")) {
    std::string ids = invocation.Value("gpu-ids");
    if (ids != "uuid" && ids != "index") return Invalid(msg::CliGpuIds{.value = ids});
    Part(task, "resources")["gpu_ids"] = ids;
  }
  if (invocation.Has("exclusive")) Part(task, "resources")["exclusive"] = true;
  if (invocation.Has("ranks")) task["ranks"] = true;
  return {};
}

Status ApplyResources(const Invocation& invocation, json::object& task) {
  if (invocation.Has("gpus")) {
    auto counts = DeviceCounts::Parse(invocation.Value("gpus"));
    if (!counts) return Invalid(counts.error().message, "/resources/gpus");
    Part(task, "resources")["gpus"] = invocation.Value("gpus");
  }
  if (invocation.Has("cpus")) {
    auto cpus = NumberOf(invocation, "cpus", 1);
    if (!cpus) return Forward(cpus.error());
    Part(task, "resources")["cpus"] = *cpus;
  }
  if (invocation.Has("mem")) {
    auto bytes = ParseBytes(invocation.Value("mem"));
    if (!bytes || *bytes <= 0) return Invalid(msg::CliMemory{.value = invocation.Value("mem")});
    Part(task, "resources")["memory"] = *bytes;
  }
  return ApplyDeviceWish(invocation, task);
}

bool AllDigits(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

// What files made here may be to others; a shared lab folder depends on it.
std::string CurrentUmask() {
  const mode_t mask = umask(0);  // there is no way to read it alone
  umask(mask);
  char text[8];
  snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mask));
  return text;
}

}  // namespace

Status CheckBraces(const Invocation& invocation, const std::vector<std::string>& left) {
  std::vector<std::string> counts = invocation.Values("gpus");  // --gpus={1,2} comes as --gpus=1 --gpus=2
  if (!std::all_of(counts.begin(), counts.end(), AllDigits)) return {};
  if (counts.size() == 1 && !left.empty() &&
      FindProgram(left.front(), Environment("PATH"), CurrentFolder()).empty()) {
    auto digits = std::find_if_not(left.begin(), left.end(), AllDigits);
    counts.insert(counts.end(), left.begin(), digits);
  }
  if (counts.size() < 2) return {};
  std::string words, choice;
  for (const std::string& count : counts) {
    words += (words.empty() ? "" : " ") + count;
    choice += (choice.empty() ? "" : ",") + count;
  }
  return Invalid(msg::CliGpusSpread{.values = words, .choice = choice});
}

Status ApplyTaskOptions(const Invocation& invocation, Time now, json::object& task) {
  if (!task.contains("umask")) task["umask"] = CurrentUmask();
  if (invocation.Has("name")) {
    std::string name = invocation.Value("name");
    if (Status good = CheckName(name); !good) return Invalid(good.error().message, "/name");
    task["name"] = name;
  }
  if (Status done = ApplyResources(invocation, task); !done) return done;
  if (Status done = ApplyVariables(invocation, task); !done) return done;
  if (Status done = ApplyAfter(invocation, task); !done) return done;
  if (Status done = ApplyLength(invocation, "time", task, "limits", "time"); !done) return done;
  if (Status done = ApplyLength(invocation, "idle", task, "limits", "idle"); !done) return done;
  if (invocation.Has("log-limit")) {
    auto bytes = ParseBytes(invocation.Value("log-limit"));
    if (!bytes || *bytes <= 0) return Invalid(msg::CliLogLimit{.value = invocation.Value("log-limit")});
    Part(task, "limits")["log"] = *bytes;
  }
  if (Status done = ApplyLength(invocation, "stop-grace", task, "checkpoint", "grace"); !done) return done;
  // The yard knows which signals and targets there are.
  if (invocation.Has("stop-signal")) Part(task, "checkpoint")["signal"] = invocation.Value("stop-signal");
  if (invocation.Has("stop-target")) Part(task, "checkpoint")["target"] = invocation.Value("stop-target");
  if (invocation.Has("begin")) {
    auto begin = ParseBegin(invocation.Value("begin"), now);
    if (!begin) return Forward(begin.error());
    task["begin"] = FormatIso(*begin);
  }
  if (invocation.Has("priority")) {
    auto priority = ParsePriority(invocation.Value("priority"));
    if (!priority) return Invalid(priority.error().message, "/priority");
    task["priority"] = *priority;
  }
  if (invocation.Has("retry")) {
    auto most = NumberOf(invocation, "retry", 0);
    if (!most) return Forward(most.error());
    Part(task, "retry")["max"] = *most;
  }
  if (invocation.Has("hold")) task["hold"] = true;
  for (const std::string& tag : invocation.Values("tag")) List(task, "tags").emplace_back(tag);
  return {};
}

void RecordShell(json::object& task) {
  json::object& variables = Part(Part(task, "environment"), "variables");
  for (char** entry = environ; *entry; ++entry) {
    std::string_view pair(*entry);
    size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    std::string_view name = pair.substr(0, equals);
    // A name that is no text (bash's exported functions are) cannot be a key of JSON.
    if (IsScrubbed(name) || !IsUtf8(name)) continue;
    variables[json::string_view(name.data(), name.size())] = WordToJson(pair.substr(equals + 1));
  }
}

void RecordCode(const std::vector<std::string>& argv, const std::string& workdir, json::object& task) {
  json::array files;
  for (const std::string& path : ScriptsIn(argv, workdir))
    if (auto hash = Sha256OfFile(path)) files.push_back({{"path", WordToJson(path)}, {"sha256", *hash}});
  Repository repository = FindRepository(workdir);
  if (files.empty() && repository.folder.empty()) return;
  json::object& code = Part(task, "code");
  if (!files.empty()) code["files"] = std::move(files);
  if (repository.folder.empty() || !IsUtf8(repository.folder)) return;
  code["repository"] = repository.folder;
  if (!repository.commit.empty()) code["commit"] = repository.commit;
}

Status CheckWorkdir(const std::string& workdir) {
  struct stat seen;
  if (stat(workdir.c_str(), &seen) != 0)
    return Invalid(msg::CliNoFolder{.folder = workdir, .why = strerror(errno)}, "/workdir");
  if (!S_ISDIR(seen.st_mode)) return Invalid(msg::CliNotFolder{.folder = workdir}, "/workdir");
  if (access(workdir.c_str(), X_OK) != 0)
    return Invalid(msg::CliNoFolder{.folder = workdir, .why = strerror(errno)}, "/workdir");
  return {};
}

Status CheckCommand(const std::vector<std::string>& argv, const std::string& workdir, const std::string& path,
                    size_t environment_bytes) {
  constexpr size_t kLongestWord = 131071;  // MAX_ARG_STRLEN of the kernel, less its zero
  size_t total = environment_bytes;
  for (size_t i = 0; i < argv.size(); ++i) {
    if (argv[i].size() > kLongestWord)
      return Invalid(msg::CliWordTooLong{.number = static_cast<int64_t>(i + 1),
                                         .size = static_cast<int64_t>(argv[i].size()),
                                         .most = int64_t{kLongestWord}},
                     "/command");
    if (argv[i].find('\0') != std::string::npos)
      return Invalid(msg::CliWordWithZero{.number = static_cast<int64_t>(i + 1)}, "/command");
    total += argv[i].size() + 1 + sizeof(char*);
  }
  // The task also gets a few variables of the yard's.
  long most = sysconf(_SC_ARG_MAX) - 16384;
  if (most > 0 && total > static_cast<size_t>(most))
    return Invalid(msg::CliCommandTooLong{.size = static_cast<int64_t>(total), .most = int64_t{most}},
                   "/command");

  const std::string& program = argv.front();
  if (program.empty()) return Invalid(msg::CliEmptyProgram{}, "/command");
  if (program.find('/') != std::string::npos) {
    std::string file = AbsolutePath(program, workdir);
    if (IsProgram(file)) return {};
    if (IsFolder(file)) return Invalid(msg::CliProgramIsFolder{.program = program}, "/command");
    if (Exists(file)) return Invalid(msg::CliProgramNotExecutable{.program = program}, "/command");
    return Invalid(msg::CliNoProgramFile{.program = program, .folder = workdir}, "/command");
  }
  if (path.empty() || !FindProgram(program, path, workdir).empty()) return {};
  if (Exists(AbsolutePath(program, workdir)))
    return Invalid(msg::CliProgramHere{.program = program}, "/command");
  if (program == "python" && !FindProgram("python3", path, workdir).empty())
    return Invalid(msg::CliNoPython{}, "/command");
  return Invalid(msg::CliNoProgram{.program = program}, "/command");
}

}  // namespace ty
