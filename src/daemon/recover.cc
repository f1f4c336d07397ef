#include "daemon/recover.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/log.h"
#include "base/paths.h"
#include "daemon/host.h"
#include "engine/local/devices_told.h"
#include "msg/head.h"
#include "os/clock.h"
#include "posix/files.h"
#include "store/recover.h"
#include "wire/spec.h"

namespace ty {
namespace {

constexpr size_t kLongestSpec = 64 << 20;

// The head of the log names the task; the spec of the supervisor does not.
std::string NameInHead(const AttemptPaths& files) {
  const auto text = ReadFile(files.Head(), 1 << 20);
  boost::json::error_code bad;
  const boost::json::value head = boost::json::parse(text.value_or(""), bad);
  if (bad || !head.is_array()) return {};
  for (const boost::json::value& item : head.get_array()) {
    const Result<Message> message = ParseMessage(item);
    if (!message || message->id != msg::HeadTask::kId) continue;
    for (const auto& [name, value] : message->args)
      if (const auto* word = std::get_if<std::string>(&value); word && name == "name" && CheckName(*word))
        return *word;
  }
  return {};
}

std::optional<Duration> LengthOf(const std::optional<int64_t>& ms) {
  if (!ms) return std::nullopt;
  return Duration(milliseconds(*ms));
}

StopTarget TargetOf(wire::Target target) {
  return target == wire::Target::kLeader ? StopTarget::kLeader
         : target == wire::Target::kAll  ? StopTarget::kAll
                                         : StopTarget::kGroup;
}

Time CreatedAt(const Ulid& uid) {
  int64_t ms = 0;
  for (int i = 0; i < 6; ++i) ms = ms << 8 | uid.bytes[static_cast<size_t>(i)];
  return FromNanos(ms * 1'000'000);
}

std::optional<FoundRun> ReadRun(const AttemptPaths& files, const Ulid& uid) {
  const auto text = ReadFile(files.Spec(), kLongestSpec);
  const std::optional<wire::ShimSpec> told = text ? wire::DecodeSpec(*text) : std::nullopt;
  if (!told || told->attempt != uid.Text() || told->argv.empty() || told->task < 1) {
    Log("recover: the spec of run " + uid.Text() + " cannot be read; it is left out");
    return std::nullopt;
  }
  FoundRun run;
  run.uid = uid;
  run.task = TaskId{told->task};
  run.number = std::max(1, told->number);
  run.name = NameInHead(files);
  run.boot = told->boot;
  run.open = Exists(files.Slot());
  run.created = CreatedAt(uid);
  const std::optional<std::vector<std::string>> devices = DevicesTold(*told, files);
  if (devices) run.devices = *devices;
  TaskSpec& spec = run.spec;
  spec.name = run.name;
  spec.argv = told->argv;
  spec.workdir = told->workdir;
  spec.umask = told->umask;
  spec.time_limit = LengthOf(told->time_limit_ms);
  spec.idle_limit = LengthOf(told->idle_limit_ms);
  spec.log_limit = told->log_limit;
  spec.stop_signal = told->stop_signal;
  spec.stop_target = TargetOf(told->stop_target);
  spec.grace = milliseconds(told->grace_ms);
  for (const std::string& variable : told->environment) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = variable.substr(0, equals), value = variable.substr(equals + 1);
    if (!IsScrubbed(name)) spec.environment.emplace_back(name, value);
  }
  spec.wish.ranks = !told->ranks.empty();
  const int count = static_cast<int>(std::max(told->ranks.size(), run.devices.size()));
  if (count > 0 || devices) spec.gpus.counts = {count};
  return run;
}

}  // namespace

Result<Recovery> RecoverHome(const std::string& home) {
  if (Status prepared = PrepareHome(home); !prepared) return Forward(prepared.error());
  const Result<HomeLock> lock = LockHome(home);
  if (!lock) return Forward(lock.error());
  std::vector<FoundRun> runs;
  const StatePaths paths{home};
  for (const std::string& name : ListFolder(paths.Attempts()).value_or(std::vector<std::string>())) {
    const std::optional<Ulid> uid = Ulid::Parse(name);
    if (!uid) continue;
    if (std::optional<FoundRun> run = ReadRun({paths.Attempt(*uid)}, *uid)) runs.push_back(std::move(*run));
  }
  std::sort(runs.begin(), runs.end(), [](const FoundRun& a, const FoundRun& b) {
    return std::pair(a.task, a.number) < std::pair(b.task, b.number);
  });
  return RecoverStore(home, runs, SystemClock().Now());
}

}  // namespace ty
