// A decision becomes an attempt: its row is committed, then the engine gets the order.
#include <signal.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/fail_point.h"
#include "base/paths.h"
#include "msg/head.h"
#include "msg/outcome.h"
#include "os/ports.h"
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

constexpr int kFirstPort = 20000, kPorts = 8000;  // contracts C16

// One process per device under the env:// contract (knowledge: elastic-scheduling 4.6): what torchrun would
// set. Rank 0 keeps the store itself, so TORCHELASTIC_USE_AGENT_STORE stays away. On one machine the
// rendezvous need not look for a network.
void AddRanks(LaunchOrder& order, Variables& variables, const Attempt& attempt, int port) {
  const std::string world = std::to_string(attempt.devices.size());
  for (const auto& [name, value] : Variables{{"WORLD_SIZE", world},
                                             {"LOCAL_WORLD_SIZE", world},
                                             {"ROLE_WORLD_SIZE", world},
                                             {"GROUP_RANK", "0"},
                                             {"GROUP_WORLD_SIZE", "1"},
                                             {"ROLE_NAME", "default"},
                                             {"MASTER_ADDR", "127.0.0.1"},
                                             {"MASTER_PORT", std::to_string(port)},
                                             {"TORCHELASTIC_RESTART_COUNT", "0"},
                                             {"TORCHELASTIC_MAX_RESTARTS", "0"},
                                             {"TORCHELASTIC_RUN_ID", attempt.uid.Text()}}) {
    Set(variables, name, value);
  }
  SetUnless(variables, "GLOO_SOCKET_IFNAME", "lo");
  for (size_t i = 0; i < attempt.devices.size(); i++) {
    const std::string rank = std::to_string(i);
    order.ranks.push_back({{"RANK=" + rank, "LOCAL_RANK=" + rank, "ROLE_RANK=" + rank}, {}});
  }
}

boost::json::array Strings(const std::vector<std::string>& values) {
  boost::json::array array;
  for (const std::string& value : values) array.emplace_back(value);
  return array;
}

}  // namespace

void Yard::Record(const Decision& decision, std::vector<std::shared_ptr<const UniqueFd>> locks) {
  Task& task = *FindTask(decision.task);
  order_.erase(KeyOf(task));
  Unplace(task.id);

  Live live;
  live.locks = std::move(locks);
  Attempt& attempt = live.attempt;
  attempt.uid = Ulid::Make(Wall());
  attempt.task = task.id;
  attempt.number = task.attempts + 1;
  attempt.boot = settings_.boot;
  attempt.resume = task.checkpoint.path;
  attempt.created = Wall();
  for (int index : decision.devices) attempt.devices.push_back(ledger_.rows()[index].id);
  if (task.wish.ranks && !attempt.devices.empty())
    attempt.processes = static_cast<int>(attempt.devices.size());
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
  if (!decision.devices.empty()) Grant(live, task, decision);
  FAIL_POINT("prepare.written");
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
  FAIL_POINT("prepare.durable");
  live->launched = true;
  if (FindTask(live->attempt.task)->wish.ranks && live->leased) live->port = FindPort();
  engine_.Launch(OrderFor(*FindTask(live->attempt.task), *live, *spec));
  FAIL_POINT("launch.ordered");
  if (!spec->code.files.empty()) CompareCode(*live, std::move(spec));
}

namespace {

// What the stop file holds (docs/guide/scripts.md): scripts compare it, so it never changes.
const char* StopWord(const std::optional<Message>& reason) {
  const std::string id = reason ? reason->id : "";
  if (id == msg::OutcomeCancelledByUser::kId) return "cancelled";
  if (id == msg::OutcomeDeviceLost::kId) return "device lost";
  if (id == msg::OutcomeShareMemory::kId) return "device memory";
  return "stop";
}

constexpr Duration kTermGrace = seconds(5);  // contracts C16

// The shim's ladder: the signal, its grace, TERM where that was another, a moment, KILL.
Duration UntilKill(const StopOrder& order, Duration grace) {
  const Duration moment = order.signal == SIGTERM ? Duration{} : std::min<Duration>(grace, kTermGrace);
  return order.grace + moment;
}

}  // namespace

void Yard::SendStop(Ulid uid, std::shared_ptr<const TaskSpec> spec, bool at_once) {
  Live* live = FindLive(uid);
  if (live == nullptr || !live->launched || live->exit) return;
  FAIL_POINT("stop.durable");
  StopOrder order;
  order.reason = StopWord(live->attempt.stop_reason);
  order.signal = spec ? spec->stop_signal : 15;
  order.target = spec ? spec->stop_target : StopTarget::kGroup;
  const Duration grace = spec ? spec->grace : Duration(seconds(60));
  order.grace = at_once ? Duration{} : grace;
  const Time kill_at = now_ + UntilKill(order, grace);
  live->kill_at = std::min(live->kill_at.value_or(kill_at), kill_at);
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
  order.leases = live.locks;
  std::string visible;  // for CUDA
  const bool by_index = spec.gpu_ids == TaskSpec::GpuIds::kIndex;
  for (const std::string& id : attempt.devices) {
    const Device& device = ledger_.Find(id)->device;
    order.cpus.insert(order.cpus.end(), device.cpus.begin(), device.cpus.end());
    if (!IsGpu(device)) continue;
    // A MIG slice has no number that CUDA knows.
    const bool number = by_index && device.kind == Device::Kind::kGpu;
    if (!visible.empty()) visible += ",";
    visible += number ? std::to_string(device.index) : device.id;
  }
  std::sort(order.cpus.begin(), order.cpus.end());
  order.cpus.erase(std::unique(order.cpus.begin(), order.cpus.end()), order.cpus.end());
  Set(variables, "CUDA_VISIBLE_DEVICES", visible);
  if (!visible.empty()) Set(variables, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  if (live.port > 0) AddRanks(order, variables, attempt, live.port);
  const int granted =
      attempt.devices.empty() ? (spec.cpus ? *spec.cpus : 0) : static_cast<int>(order.cpus.size());
  if (!order.ranks.empty()) {
    int threads = machine_.cores / std::max<int>(1, static_cast<int>(ledger_.rows().size()));
    for (size_t i = 0; i < order.ranks.size(); i++) {
      order.ranks[i].cpus = ledger_.Find(attempt.devices[i])->device.cpus;
      if (!order.ranks[i].cpus.empty()) threads = static_cast<int>(order.ranks[i].cpus.size());
    }
    SetUnless(variables, "OMP_NUM_THREADS", std::to_string(std::max(1, threads)));
  } else if (granted > 0) {
    SetUnless(variables, "OMP_NUM_THREADS", std::to_string(granted));
  }
  if (static_cast<int>(order.cpus.size()) == machine_.cores && order.ranks.empty())
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
  order.devices = attempt.devices;
  order.task = task.id;
  order.number = attempt.number;
  order.argv = spec.argv;
  order.workdir = spec.workdir;
  order.umask = spec.umask;
  order.environment.reserve(variables.size());
  for (const auto& [name, value] : variables) order.environment.push_back(name + "=" + value);
  order.time_limit = spec.time_limit;
  order.idle_limit = spec.idle_limit;
  order.log_limit = spec.log_limit;
  order.stop_signal = spec.stop_signal;
  order.stop_target = spec.stop_target;
  order.grace = spec.grace;
  order.head = LogHead(task, live, spec);
  return order;
}

std::string Yard::LogHead(const Task& task, const Live& live, const TaskSpec& spec) const {
  const Attempt& attempt = live.attempt;
  boost::json::array items;
  const std::string labels = ledger_.Labels(attempt.devices);
  items.push_back(ToJson(Message(
      msg::HeadTask{.task = std::to_string(task.id.value), .name = task.name, .attempt = attempt.number})));
  const int64_t count = static_cast<int64_t>(attempt.devices.size());
  const Entry* first = attempt.devices.empty() ? nullptr : ledger_.Find(attempt.devices.front());
  items.push_back(
      ToJson(first == nullptr ? Message(msg::HeadCores{.cores = live.cores})
             : IsGpu(first->device)
                 ? Message(msg::HeadGpus{.count = count, .names = NamesOf(attempt), .labels = labels})
                 : Message(msg::HeadDevices{.count = count, .devices = labels})));
  const Entry::Tenancy* tenancy = first == nullptr ? nullptr : first->Of(attempt.uid);
  if (tenancy != nullptr && tenancy->lease.mode != ShareMode::kWhole) {
    items.push_back(ToJson(Message(msg::HeadShare{.percent = tenancy->lease.asked_milli / 10.0,
                                                  .mode = std::string(Name(tenancy->lease.mode))})));
  }
  if (live.port > 0) {
    items.push_back(ToJson(Message(msg::HeadRanks{.count = count, .last = count - 1, .port = live.port})));
  }
  if (!attempt.resume.empty()) items.push_back(ToJson(Message(msg::HeadResume{.path = attempt.resume})));
  if (!spec.code.commit.empty())
    items.push_back(ToJson(Message(msg::HeadCommit{.commit = spec.code.commit.substr(0, 12)})));
  return boost::json::serialize(items);
}

// "NVIDIA GeForce RTX 3080 ×2, NVIDIA A10".
std::string Yard::NamesOf(const Attempt& attempt) const {
  std::vector<std::pair<std::string, int>> names;
  for (const std::string& id : attempt.devices) {
    const std::string& name = ledger_.Find(id)->device.name;
    auto known = std::find_if(names.begin(), names.end(), [&](const auto& one) { return one.first == name; });
    if (known != names.end()) {
      known->second++;
    } else {
      names.emplace_back(name, 1);
    }
  }
  std::string text;
  for (const auto& [name, count] : names) {
    if (!text.empty()) text += ", ";
    text += count > 1 ? name + " ×" + std::to_string(count) : name;
  }
  return text;
}

// A port for the ranks of one attempt: no other attempt of ours has it and nobody listens. The first one
// differs from yard to yard, so that two of them seldom meet.
int Yard::FindPort() {
  if (next_port_ == 0) next_port_ = static_cast<int>(std::hash<std::string>()(settings_.instance) % kPorts);
  for (int tries = 0; tries < kPorts; tries++) {
    const int port = kFirstPort + next_port_++ % kPorts;
    const bool taken =
        std::any_of(lives_.begin(), lives_.end(), [&](const auto& live) { return live.second.port == port; });
    if (!taken && PortIsFree(port)) return port;
  }
  return kFirstPort;
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
