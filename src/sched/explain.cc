// Why a task waits, in the words of the rules that Decide goes by, and what could never start here at all.
#include <algorithm>
#include <unordered_set>

#include "msg/submit.h"
#include "msg/why.h"
#include "sched/pass.h"
#include "sched/sched.h"

namespace ty {

namespace {

constexpr size_t kNamesShown = 4;

std::string NameOf(const View& view, TaskId id) {
  return view.name ? view.name(id) : std::to_string(id.value);
}

std::string Names(const View& view, const std::vector<TaskId>& tasks) {
  std::string text;
  for (size_t i = 0; i < tasks.size() && i < kNamesShown; ++i) {
    if (i > 0) text += ", ";
    text += NameOf(view, tasks[i]);
  }
  if (tasks.size() > kNamesShown) text += ", …";
  return text;
}

Message WaitsFor(const View& view, const std::vector<OpenDependency>& open) {
  if (open.size() > 1) {
    std::vector<TaskId> tasks;
    for (const OpenDependency& one : open) tasks.push_back(one.dependency.task);
    return msg::WhyAfterMany{.count = static_cast<int64_t>(open.size()), .tasks = Names(view, tasks)};
  }
  std::string task = NameOf(view, open[0].dependency.task);
  const bool waiting = open[0].state == "waiting";
  switch (open[0].dependency.on) {
    case Dependency::On::kOk:
      if (waiting) return msg::WhyAfterOkWaiting{.task = std::move(task)};
      return msg::WhyAfterOkRunning{.task = std::move(task)};
    case Dependency::On::kFail:
      if (waiting) return msg::WhyAfterFailWaiting{.task = std::move(task)};
      return msg::WhyAfterFailRunning{.task = std::move(task)};
    case Dependency::On::kAny:
      break;
  }
  if (waiting) return msg::WhyAfterAnyWaiting{.task = std::move(task)};
  return msg::WhyAfterAnyRunning{.task = std::move(task)};
}

// Who before `place` has devices (or cores) kept for it, if any: the first of them.
std::optional<TaskId> KeptFor(const View& view, QueuePlace place, bool cores, const Room& room, Time now) {
  std::optional<QueuePlace> first;
  for (const auto& [need, line] : cores ? view.ready.core_lines() : view.ready.device_lines()) {
    if (need <= (cores ? room.cores : room.devices)) continue;
    const auto& [head, waiting] = *line.tasks().begin();
    if (!(head < place) || (first && *first < head) || !IsOwed(line.Passed(head), now)) continue;
    Room copy = room;
    if (KeepFor(*waiting.task, copy)) first = head;
  }
  if (!first) return std::nullopt;
  return first->id;
}

Message NeedsCores(const View& view, const ReadyTask& task, const Room& room, Time now) {
  const int want = NeedOf(task);
  if (want > room.all_cores) return msg::WhyCoresFew{.want = want, .all = room.all_cores};
  if (want <= room.cores) {
    if (auto other = KeptFor(view, PlaceOf(task), true, room, now)) {
      return msg::WhyCoresKeptFor{.free = room.cores, .task = NameOf(view, *other)};
    }
    return msg::WhyNext{};
  }
  const int64_t ahead = view.ready.CountAhead(PlaceOf(task));
  const int free = std::max(0, room.cores);
  if (ahead == 0) return msg::WhyCores{.want = want, .free = free, .all = room.all_cores};
  return msg::WhyCoresBehind{.want = want, .free = free, .all = room.all_cores, .ahead = ahead};
}

Message NeedsDevices(const View& view, const ReadyTask& task, const Room& room, Time now) {
  const int want = NeedOf(task);
  if (want > room.usable) {
    return msg::WhyDevicesOut{
        .want = want, .usable = room.usable, .all = static_cast<int64_t>(view.devices.size())};
  }
  if (want <= room.devices) {
    if (auto other = KeptFor(view, PlaceOf(task), false, room, now)) {
      return msg::WhyKeptFor{.free = room.devices, .task = NameOf(view, *other)};
    }
    return msg::WhyNext{};
  }
  std::vector<TaskId> holders;  // in the order of the devices
  std::unordered_set<TaskId> seen;
  int held = 0;
  bool gpus = false;
  for (const DeviceRow& device : view.devices) {
    gpus |= device.kind == Device::Kind::kGpu;
    if (!device.holder) continue;
    ++held;
    if (seen.insert(*device.holder).second) holders.push_back(*device.holder);
  }
  const int64_t ahead = view.ready.CountAhead(PlaceOf(task));
  auto fill = [&](auto message) -> Message {
    message.want = want;
    message.free = room.devices;
    message.held = held;
    message.holders = static_cast<int64_t>(holders.size());
    message.names = Names(view, holders);
    message.missing = want - room.devices;
    if constexpr (requires { message.ahead; }) message.ahead = ahead;
    return message;
  };
  if (ahead == 0) return gpus ? fill(msg::WhyGpus{}) : fill(msg::WhySlots{});
  return gpus ? fill(msg::WhyGpusBehind{}) : fill(msg::WhySlotsBehind{});
}

}  // namespace

Message Explain(const View& view, const Task& task, const std::vector<OpenDependency>& open, Time now) {
  if (task.held) {
    if (task.held_reason) return *task.held_reason;
    return msg::WhyHeld{.task = std::to_string(task.id.value)};
  }
  if (!open.empty()) return WaitsFor(view, open);
  if (task.begin && *task.begin > now && (!task.not_before || *task.not_before <= *task.begin)) {
    return msg::WhyBegin{.at = *task.begin};
  }
  if (task.not_before && *task.not_before > now) return msg::WhyRetryAt{.at = *task.not_before};
  if (view.paused) return msg::WhyPaused{};
  ReadyTask ready{task.id, task.priority, task.gpus, task.cpus, task.memory};
  const Room room = RoomIn(view);
  if (!TakesDevices(ready)) return NeedsCores(view, ready, room, now);
  return NeedsDevices(view, ready, room, now);
}

Status CheckFits(const std::vector<DeviceRow>& devices, int cores, int64_t memory, const TaskSpec& spec) {
  const int want = spec.gpus.Least();
  const int have = static_cast<int>(devices.size());
  if (want > have) {
    const bool gpus = std::any_of(devices.begin(), devices.end(),
                                  [](const DeviceRow& device) { return device.kind == Device::Kind::kGpu; });
    Message why = have == 0 ? Message(msg::SubmitNoDevices{.want = want})
                  : gpus    ? Message(msg::SubmitTooManyGpus{.want = want, .have = have})
                            : Message(msg::SubmitTooManySlots{.want = want, .have = have});
    return Invalid(std::move(why), "/resources/gpus");
  }
  if (spec.cpus && *spec.cpus > cores) {
    return Invalid(msg::SubmitTooManyCores{.want = *spec.cpus, .have = cores}, "/resources/cpus");
  }
  if (spec.memory && memory > 0 && *spec.memory > memory) {
    return Invalid(msg::SubmitTooMuchMemory{.want = *spec.memory, .have = memory}, "/resources/memory");
  }
  return {};
}

}  // namespace ty
