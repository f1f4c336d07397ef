#include "testing/scenario.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "base/text.h"
#include "sched/shares.h"

namespace ty {

namespace {

[[noreturn]] void Wrong(std::string_view what, std::string_view text) {
  std::fprintf(stderr, "scenario: %.*s: “%.*s”\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(text.size()), text.data());
  std::abort();
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Splits at commas (or what else separates) that are not inside {1,2,4}.
std::vector<std::string_view> Parts(std::string_view text, std::string_view separators = ",") {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (depth == 0 && separators.find(text[i]) != std::string_view::npos)) {
      if (std::string_view part = Trim(text.substr(begin, i - begin)); !part.empty()) parts.push_back(part);
      begin = i + 1;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}') {
      --depth;
    }
  }
  return parts;
}

bool TakeSuffix(std::string_view& text, std::string_view suffix) {
  if (text.size() < suffix.size() || text.substr(text.size() - suffix.size()) != suffix) return false;
  text = Trim(text.substr(0, text.size() - suffix.size()));
  return true;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text = Trim(text.substr(prefix.size()));
  return true;
}

int Number(std::string_view text) {
  std::optional<int64_t> number = ParseInt(text);
  if (!number) Wrong("not a number", text);
  return static_cast<int>(*number);
}

int64_t Bytes(std::string_view text) {
  std::optional<int64_t> bytes = ParseBytes(text);
  if (!bytes) Wrong("not a size", text);
  return *bytes;
}

double StrengthOf(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"t4", "a10", "a100", "h200"};
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kKinds[i] == kind) return static_cast<double>(i + 1);
  }
  return 0;
}

}  // namespace

Scenario::Scenario(std::string_view machine, const std::vector<std::string>& tasks) {
  for (std::string_view part : Parts(machine, ",+")) {
    if (TakeSuffix(part, "cores")) {
      cores_ = Number(part);
      continue;
    }
    const size_t times = part.find('x');
    if (times == std::string_view::npos) Wrong("not a machine", part);
    const std::string_view what = part.substr(times + 1);
    const std::string_view kind = what.substr(0, what.find(' '));
    for (int i = Number(part.substr(0, times)); i > 0; --i) {
      DeviceRow device;
      device.id = (kind == "cpu" ? "cpu:" : "GPU") + std::to_string(devices_.size());
      device.label = device.id;
      device.kind = kind == "cpu" ? Device::Kind::kCpuSlot : Device::Kind::kGpu;
      device.strength = StrengthOf(kind);
      if (kind.size() < what.size()) device.memory = Bytes(Trim(what.substr(kind.size())));
      devices_.push_back(device);
    }
  }
  for (const std::string& task : tasks) Add(task);
}

TaskId Scenario::Add(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) Wrong("not a task", text);
  const TaskId id{static_cast<int64_t>(rows_.size()) + 1};
  Row& row = rows_[id];
  row.task.id = id;
  row.task.name = std::string(Trim(text.substr(0, colon)));
  ids_[row.task.name] = id;
  bool running = false;
  for (std::string_view part : Parts(text.substr(colon + 1))) {
    if (TakeSuffix(part, "gpu")) {
      Result<DeviceCounts> counts = DeviceCounts::Parse(part);
      if (!counts) Wrong("not a count", part);
      row.task.gpus = *counts;
    } else if (TakeSuffix(part, "cpus")) {
      row.task.cpus = Number(part);
    } else if (TakePrefix(part, "priority")) {
      Result<int> priority = ParsePriority(part);
      if (!priority) Wrong("not a priority", part);
      row.task.priority = *priority;
    } else if (TakePrefix(part, "after")) {
      Dependency dependency;
      if (TakeSuffix(part, ":any")) dependency.on = Dependency::On::kAny;
      if (TakeSuffix(part, ":fail")) dependency.on = Dependency::On::kFail;
      TakeSuffix(part, ":ok");
      dependency.task = Id(part);
      row.task.after.push_back(dependency);
    } else if (TakePrefix(part, "share")) {
      Result<Share> share = Share::Parse(part);
      if (!share) Wrong("not a share", part);
      row.task.wish.share = *share;
    } else if (ParseBytes(part)) {
      row.task.wish.memory = Bytes(part);
    } else if (part == "exclusive") {
      row.task.wish.exclusive = true;
    } else if (part == "alone") {
      row.task.alone = true;
    } else if (part == "running") {
      running = true;
    } else if (part == "held") {
      row.task.held = true;
    } else {
      Wrong("not understood", part);
    }
  }
  if (!running) {
    Place(row);
    return id;
  }
  // By the scheduler itself, as if nobody else were there.
  ReadyQueue only;
  only.Insert(ReadyOf(row.task));
  const Decisions decisions = Decide(View{only, devices_, cores_, cores_used_}, now_);
  if (decisions.starts.empty()) Wrong("no room to be running", text);
  Start(row, decisions.starts[0].devices, decisions.starts[0].share);
  return id;
}

View Scenario::MakeView() const {
  auto name = [this](TaskId id) { return std::to_string(id.value) + " (" + rows_.at(id).task.name + ")"; };
  return View{ready_, devices_, cores_, cores_used_, paused_, name};
}

std::vector<OpenDependency> Scenario::Open(const Row& row) const {
  std::vector<OpenDependency> open;
  for (const Dependency& dependency : row.task.after) {
    const Row& other = rows_.at(dependency.task);
    if (!IsEnded(other.task)) open.push_back({dependency, other.running ? "running" : "waiting"});
  }
  return open;
}

void Scenario::Place(Row& row) {
  ready_.Erase(row.task.id);
  if (row.running || !IsWaiting(row.task) || row.task.held || !Open(row).empty()) return;
  ready_.Insert(ReadyOf(row.task));
}

void Scenario::Start(Row& row, std::vector<int> devices, Share share) {
  ready_.Erase(row.task.id);
  row.running = true;
  row.task.state = Running{};
  const DeviceWish wish{share, row.task.wish.memory};
  for (int index : devices) {
    DeviceRow& device = devices_[index];
    EXPECT_TRUE(device.tenants.empty() || (device.mode == share.mode && share.mode != ShareMode::kWhole))
        << device.id << " was given out twice";
    device.mode = share.mode;
    device.tenants.push_back({row.task.id, share.milli, MemoryOfLease(wish, device.to_give())});
  }
  if (devices.empty()) cores_used_ += row.task.cpus;
  row.devices = std::move(devices);
}

std::string Scenario::Starts() {
  const Decisions decisions = Decide(MakeView(), now_);
  for (const PassedOver& passed : decisions.passed_over)
    ready_.MarkPassedOver(passed.task, now_, passed.starts);
  std::string names;
  for (const Decision& decision : decisions.starts) {
    Row& row = rows_.at(decision.task);
    EXPECT_FALSE(decision.reason.empty());
    if (!names.empty()) names += ", ";
    names += row.task.name;
    Start(row, decision.devices, decision.share);
  }
  return names;
}

std::string Scenario::Holds(std::string_view name) const {
  const Row& row = Find(name);
  if (!row.running) return "";
  if (row.devices.empty()) return "cores";
  std::string text;
  for (int device : row.devices) text += (text.empty() ? "" : " ") + devices_[device].id;
  return text;
}

std::string Scenario::On(std::string_view device) const {
  std::string text;
  for (const DeviceRow& row : devices_) {
    if (row.id != device) continue;
    for (const Tenant& tenant : row.tenants) {
      if (!text.empty()) text += ", ";
      text += rows_.at(tenant.task).task.name + " " + std::to_string(tenant.asked_milli);
    }
  }
  return text;
}

void Scenario::Finish(std::string_view name, bool ok) {
  Row& row = Find(name);
  if (!row.running) Wrong("not running", name);
  for (int device : row.devices) {
    std::erase_if(devices_[device].tenants, [&](const Tenant& one) { return one.task == row.task.id; });
  }
  if (row.devices.empty()) cores_used_ -= row.task.cpus;
  row.running = false;
  row.task.state = Ended{};
  for (auto& [id, other] : rows_) {
    for (const Dependency& dependency : other.task.after) {
      if (dependency.task != row.task.id) continue;
      const bool fits = dependency.on == Dependency::On::kAny || (dependency.on == Dependency::On::kOk) == ok;
      if (!fits) other.task.state = Ended{};
      Place(other);
    }
  }
}

void Scenario::Cancel(std::string_view name) {
  Row& row = Find(name);
  if (row.running) return Finish(name, false);
  row.task.state = Ended{};
  Place(row);
}

void Scenario::Hold(std::string_view name) {
  Find(name).task.held = true;
  Place(Find(name));
}

void Scenario::Release(std::string_view name) {
  Find(name).task.held = false;
  Place(Find(name));
}

void Scenario::Prioritise(std::string_view name, int priority) {
  Row& row = Find(name);
  ready_.Erase(row.task.id);
  row.task.priority = priority;
  Place(row);
}

DeviceRow& Scenario::Device(std::string_view name) {
  for (DeviceRow& row : devices_) {
    if (row.id == name) return row;
  }
  Wrong("no such device", name);
}

void Scenario::Break(std::string_view device) {
  Device(device).usable = false;
  Device(device).for_good = true;
}

void Scenario::Mend(std::string_view device) {
  DeviceRow& row = Device(device);
  row.usable = true;
  row.for_good = false;
  row.trouble.reset();
}

void Scenario::Trouble(std::string_view device, std::string_view message, bool for_good, bool soon) {
  DeviceRow& row = Device(device);
  row.usable = false;
  row.for_good = for_good;
  row.soon = soon;
  row.trouble = Message{std::string(message), {}};
}

void Scenario::PutDesktopOn(std::string_view device) {
  Device(device).bare = false;
}

Message Scenario::Explained(std::string_view name) {
  const Row& row = Find(name);
  return Explain(MakeView(), row.task, Open(row), now_);
}

std::string Scenario::Why(std::string_view name) {
  return Describe(Explained(name));
}

void Scenario::ExpectNothingElse() {
  EXPECT_EQ(Starts(), "");
}

TaskId Scenario::Id(std::string_view name) const {
  auto found = ids_.find(name);
  if (found == ids_.end()) Wrong("no such task", name);
  return found->second;
}

Scenario::Row& Scenario::Find(std::string_view name) {
  return rows_.at(Id(name));
}
const Scenario::Row& Scenario::Find(std::string_view name) const {
  return rows_.at(Id(name));
}

std::string Describe(const Message& message) {
  std::string text = message.id + "(";
  for (const auto& [name, value] : message.args) {
    if (text.back() != '(') text += ", ";
    text += name + "=";
    if (auto* number = std::get_if<int64_t>(&value)) text += std::to_string(*number);
    if (auto* real = std::get_if<double>(&value)) text += std::to_string(*real);
    if (auto* words = std::get_if<std::string>(&value)) text += *words;
  }
  return text + ")";
}

}  // namespace ty
