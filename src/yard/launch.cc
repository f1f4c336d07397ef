// A decision becomes an attempt: its row is committed, then the engine gets the order.
#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/paths.h"
#include "msg/head.h"
#include "msg/outcome.h"
#include "yard/yard.h"

namespace ty {

namespace {

const std::string* Find(const Variables& variables, std::string_view name) {
  for (const auto& [key, value] : variables) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Set(Variables& variables, std::string_view name, std::string value) {
  for (auto& [key, old] : variables) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  variables.emplace_back(std::string(name), std::move(value));
}

void SetUnless(Variables& variables, std::string_view name, std::string value) {
  if (Find(variables, name) == nullptr) variables.emplace_back(std::string(name), std::move(value));
}

boost::json::array Strings(const std::vector<std::string>& values) {
  boost::json::array array;
  for (const std::string& value : values) array.emplace_back(value);
  return array;
}

}  // namespace

void Yard::Record(const Decision& decision) {
  Task& task = *FindTask(decision.task);
  order_.erase(OrderKey{task.priority, task.id});
  Unplace(task.id);

  Live live;
  live.leases = decision.devices;
  Attempt& attempt = live.attempt;
  attempt.uid = Ulid::Make(now_);
  attempt.task = task.id;
  attempt.number = task.attempts + 1;
  attempt.boot = settings_.boot;
  attempt.resume = task.checkpoint.path;
  attempt.created = now_;
  for (int index : decision.devices) {
    devices_[index].holder = task.id;
    attempt.devices.push_back(devices_[index].id);
  }
  if (decision.devices.empty()) {
    live.cores = task.cpus;
    cores_used_ += live.cores;
  }
  if (task.outcome) live.previous = task.outcome->failure;

  Change(task, [&](Task& t) {
    t.state = Starting{};
    t.attempts = attempt.number;
    t.not_before.reset();
    t.began_progress = false;
    t.outcome.reset();
  });
  journal_.Write(AttemptAdded{attempt});
  Emit("attempt.planned", task.id, attempt.number,
       {{"devices", Strings(attempt.devices)}, {"reason", ToJson(decision.reason)}});
  for (const std::string& device : attempt.devices) {
    journal_.Write(LeaseGranted{attempt.uid, device, 1000});
    Emit("lease.granted", task.id, attempt.number,
         {{"device", device}, {"share_milli", 1000}, {"mode", "whole"}});
  }
  journal_.WantSpec(task.id);
  journal_.Then([this, id = task.id, uid = attempt.uid](const Receipt& receipt) {
    if (receipt.committed) Launch(uid, SpecIn(receipt, id));
  });
  current_[task.id] = attempt.uid;
  lives_.emplace(attempt.uid, std::move(live));
}

void Yard::Launch(Ulid uid, std::shared_ptr<const TaskSpec> spec) {
  Live* live = FindLive(uid);
  if (live == nullptr) return;
  if (!spec) return GoBack(*live, msg::OutcomeSpecUnreadable{}, /*hold=*/true);
  if (live->attempt.stop_reason) {  // cancelled before the order went out: nothing has run
    Outcome outcome;
    outcome.kind = live->attempt.stop_kind;
    outcome.reason = *live->attempt.stop_reason;
    return Conclude(*live, outcome, RetryAdvice{});
  }
  live->launched = true;
  engine_.Launch(OrderFor(*FindTask(live->attempt.task), *live, *spec));
  if (!spec->code.files.empty()) CompareCode(*live, std::move(spec));
}

void Yard::SendStop(Ulid uid, std::shared_ptr<const TaskSpec> spec, bool at_once) {
  const Live* live = FindLive(uid);
  if (live == nullptr || !live->launched || live->exit) return;
  StopOrder order;
  order.reason = live->attempt.stop_reason ? live->attempt.stop_reason->id : "stop";
  order.signal = spec ? spec->stop_signal : 15;
  order.grace = at_once ? Duration{} : spec ? spec->grace : Duration(seconds(60));
  engine_.Stop(uid, std::move(order));
}

// The variables of contracts C3 and C7, in this order: the recorded shell (or the yard's basics), defaults
// unless set, the task's own variables, then ours, which nobody overrides.
LaunchOrder Yard::OrderFor(const Task& task, const Live& live, const TaskSpec& spec) const {
  const Attempt& attempt = live.attempt;
  const AttemptPaths files{StatePaths{settings_.home}.Attempt(attempt.uid)};

  Variables variables = spec.environment.empty() ? settings_.basics : spec.environment;
  for (const auto& [name, value] : spec.variables) Set(variables, name, value);
  SetUnless(variables, "PYTHONUNBUFFERED", "1");
  SetUnless(variables, "PYTHONIOENCODING", "utf-8");
  SetUnless(variables, "PYTHONFAULTHANDLER", "1");
  SetUnless(variables, "TTY_COMPATIBLE", "1");
  SetUnless(variables, "COLUMNS", "120");

  LaunchOrder order;
  bool has_gpu = false;
  for (int index : live.leases) {
    const Device& device = machine_.devices[index];
    has_gpu = has_gpu || device.kind == Device::Kind::kGpu;
    order.cpus.insert(order.cpus.end(), device.cpus.begin(), device.cpus.end());
  }
  std::sort(order.cpus.begin(), order.cpus.end());
  order.cpus.erase(std::unique(order.cpus.begin(), order.cpus.end()), order.cpus.end());
  if (!has_gpu) Set(variables, "CUDA_VISIBLE_DEVICES", "");
  const int granted =
      live.leases.empty() ? (spec.cpus ? *spec.cpus : 0) : static_cast<int>(order.cpus.size());
  if (granted > 0) SetUnless(variables, "OMP_NUM_THREADS", std::to_string(granted));
  if (static_cast<int>(order.cpus.size()) == machine_.cores)
    order.cpus.clear();  // all of them: nothing to pin

  order.out_folder = StatePaths{settings_.home}.Out(task.id);
  Set(variables, "TRAINYARD_TASK", std::to_string(task.id.value));
  Set(variables, "TRAINYARD_ATTEMPT", std::to_string(attempt.number));
  Set(variables, "TRAINYARD_ID", attempt.uid.Text());
  Set(variables, "TRAINYARD_OUT", order.out_folder);
  Set(variables, "TRAINYARD_STOP", files.Stop());
  Set(variables, "TRAINYARD_RESUME", attempt.resume);
  if (!settings_.python_folder.empty()) {
    const std::string* path = Find(variables, "PYTHONPATH");
    Set(variables, "PYTHONPATH",
        path == nullptr || path->empty() ? settings_.python_folder : *path + ":" + settings_.python_folder);
  }

  order.attempt = attempt.uid;
  order.task = task.id;
  order.number = attempt.number;
  order.argv = spec.argv;
  order.workdir = spec.workdir;
  order.umask = spec.umask;
  order.environment.reserve(variables.size());
  for (const auto& [name, value] : variables) order.environment.push_back(name + "=" + value);
  order.time_limit = spec.time_limit;
  order.idle_limit = spec.idle_limit;
  order.stop_signal = spec.stop_signal;
  order.grace = spec.grace;
  order.head = LogHead(task, live, spec);
  return order;
}

std::string Yard::LogHead(const Task& task, const Live& live, const TaskSpec& spec) const {
  const Attempt& attempt = live.attempt;
  boost::json::array items;
  std::string devices;
  for (const std::string& id : attempt.devices) devices += (devices.empty() ? "" : ", ") + id;
  items.push_back(ToJson(Message(
      msg::HeadTask{.task = std::to_string(task.id.value), .name = task.name, .attempt = attempt.number})));
  items.push_back(ToJson(devices.empty()
                             ? Message(msg::HeadCores{.cores = live.cores})
                             : Message(msg::HeadDevices{.count = static_cast<int64_t>(attempt.devices.size()),
                                                        .devices = devices})));
  if (!attempt.resume.empty()) items.push_back(ToJson(Message(msg::HeadResume{.path = attempt.resume})));
  if (!spec.code.commit.empty())
    items.push_back(ToJson(Message(msg::HeadCommit{.commit = spec.code.commit.substr(0, 12)})));
  return boost::json::serialize(items);
}

// Reads the scripts again, off this thread: an edit between submit and launch is said, not hidden.
void Yard::CompareCode(const Live& live, std::shared_ptr<const TaskSpec> spec) {
  errands_([this, spec = std::move(spec), task = live.attempt.task, number = live.attempt.number] {
    CodeSeen seen{task, number, {}};
    for (const auto& [path, digest] : spec->code.files) {
      std::optional<std::string> now = Sha256OfFile(path);
      if (!now || *now != digest) seen.changed.push_back(path);
    }
    if (!seen.changed.empty()) inbox_.Post(std::move(seen));
  });
}

}  // namespace ty
