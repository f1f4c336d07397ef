// Why a task waits, in the words of the rules that Decide goes by, and what could never start here at all.
#include <algorithm>
#include <unordered_set>

#include "msg/submit.h"
#include "msg/why.h"
#include "sched/room.h"
#include "sched/sched.h"

namespace ty {

namespace {

// People read which tasks these are, not all that their names say: a place on the page has two lines.
constexpr size_t kNamesShown = 3;
constexpr size_t kLongestName = 28;  // in bytes, with the number before it

std::string NameOf(const View& view, TaskId id) {
  return view.name ? view.name(id) : std::to_string(id.value);
}

// The first of `all` names, cut to what a line can hold.
std::string Listed(const std::vector<std::string>& names, size_t all) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kNamesShown; ++i) {
    if (i > 0) text += ", ";
    std::string name = names[i];
    if (name.size() > kLongestName) {
      size_t end = kLongestName - 1;
      while ((static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // within a letter
      name = name.substr(0, end) + (name.back() == ')' ? "…)" : "…");
    }
    text += name;
  }
  if (all > kNamesShown) text += ", … +" + std::to_string(all - kNamesShown);
  return text;
}

std::string Names(const View& view, const std::vector<TaskId>& tasks) {
  std::vector<std::string> names;
  for (size_t i = 0; i < tasks.size() && i < kNamesShown; ++i) names.push_back(NameOf(view, tasks[i]));
  return Listed(names, tasks.size());
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

// Gives up what is kept for those before `place` that are owed, first come first, and names the first for
// whom that left `need` without.
std::optional<TaskId> KeptFor(const View& view, QueuePlace place, const Need& need, bool cores, Room& room,
                              Time now) {
  std::vector<const LineFace*> owed;
  for (const LineFace& face : cores ? view.ready.core_lines() : view.ready.device_lines()) {
    if (!(face.head < place) || !MayBeOwed(face, now)) continue;
    const bool fits = cores ? face.need.count <= room.cores() : room.Fits(face.need);
    if (!fits && IsOwed(face.line->Passed(face.head), now)) owed.push_back(&face);
  }
  std::sort(owed.begin(), owed.end(), [](const LineFace* a, const LineFace* b) { return a->head < b->head; });
  int kept = 0;
  for (const LineFace* face : owed) {
    if (kept == kKeptMost) break;
    kept += cores ? room.KeepCores(face->need.count) : room.KeepFor(face->need);
    if (!(cores ? need.count <= room.cores() : room.Fits(need))) return face->head.id;
  }
  return std::nullopt;
}

Message NeedsCores(const View& view, QueuePlace place, const Need& need, Room& room, Time now) {
  const int want = need.count;
  if (want > room.all_cores()) return msg::WhyCoresFew{.want = want, .all = room.all_cores()};
  const int free = std::max(0, room.cores());
  if (want <= free) {
    if (auto other = KeptFor(view, place, need, true, room, now)) {
      return msg::WhyCoresKeptFor{.free = free, .task = NameOf(view, *other)};
    }
    return msg::WhyNext{};
  }
  const int64_t ahead = view.ready.CountAhead(place);
  if (ahead == 0) return msg::WhyCores{.want = want, .free = free, .all = room.all_cores()};
  return msg::WhyCoresBehind{.want = want, .free = free, .all = room.all_cores(), .ahead = ahead};
}

bool AnyGpu(const std::vector<DeviceRow>& devices) {
  return std::any_of(devices.begin(), devices.end(),
                     [](const DeviceRow& device) { return device.kind != Device::Kind::kCpuSlot; });
}

// What stands between a task and the devices that could ever be its: one count for each obstacle, and the
// tasks that are it.
struct Obstacles {
  int such = 0;                                   // devices with the memory, whatever their state
  int usable = 0;                                 // of them, and with nobody else on where that is asked for
  int out = 0;                                    // not usable
  int to_come = 0;                                // of these, those that come back by themselves
  int others = 0;                                 // usable, but for somebody who is not to be there
  int held = 0;                                   // by tenants, of the usable ones
  int whole = 0, mode = 0, room = 0, memory = 0;  // why a part does not fit
  int64_t part = 0;                               // bytes it is, where memory is what keeps it out
  std::vector<TaskId> tenants;                    // on what does not fit, in the order of the devices
  std::vector<std::string> out_names;             // labels of those not usable
  const DeviceRow* trouble = nullptr;             // one that is not usable and says why: the first back, else
                                                  // the first of all
};

Obstacles ObstaclesTo(const View& view, const Need& need) {
  Obstacles found;
  std::unordered_set<TaskId> seen;
  for (const DeviceRow& device : view.devices) {
    if (!HasEnough(device.memory, device.to_give(), need)) continue;
    ++found.such;
    if (!device.usable) {
      ++found.out;
      found.to_come += !device.for_good;
      found.out_names.push_back(device.label);
      const bool sooner = found.trouble != nullptr && device.soon && !found.trouble->soon;
      if (device.trouble && (found.trouble == nullptr || sooner)) found.trouble = &device;
      continue;
    }
    if (need.exclusive && !device.bare) {
      ++found.others;
      continue;
    }
    ++found.usable;
    if (device.tenants.empty()) continue;
    ++found.held;
    int asked = 0;
    int64_t taken = 0;
    for (const Tenant& tenant : device.tenants) {
      asked += tenant.asked_milli;
      taken += tenant.memory;
    }
    if (!IsWhole(need)) {
      const int64_t mine = MemoryOfNeed(need, device.to_give());
      if (device.mode == ShareMode::kWhole) {
        ++found.whole;
      } else if (device.mode != need.mode) {
        ++found.mode;
      } else if (asked + need.milli > kWholeDevice) {
        ++found.room;
      } else if (device.memory > 0 && taken + mine > device.to_give()) {
        ++found.memory;
        found.part = std::max(found.part, mine);
      } else {
        continue;  // it would fit here
      }
    }
    for (const Tenant& tenant : device.tenants) {
      if (seen.insert(tenant.task).second) found.tenants.push_back(tenant.task);
    }
  }
  return found;
}

// As typed: "8G", "1536M".
std::string BytesAsked(int64_t bytes) {
  constexpr int64_t kUnit = 1024;
  const char* units[] = {"", "K", "M", "G", "T"};
  int unit = 0;
  while (unit < 4 && bytes % kUnit == 0) {
    bytes /= kUnit;
    ++unit;
  }
  return std::to_string(bytes) + units[unit];
}

// What an exclusive device is asked to be, as on the command line.
std::string Asked(const Need& need) {
  if (need.memory == 0) return "--exclusive";
  return "--exclusive --gpu-memory " + BytesAsked(need.memory);
}

Message NeedsWhole(const View& view, const Need& need, int free, int64_t ahead, const Obstacles& found) {
  auto fill = [&](auto message) -> Message {
    message.want = need.count;
    message.free = free;
    message.held = found.held;
    message.holders = static_cast<int64_t>(found.tenants.size());
    message.names = Names(view, found.tenants);
    message.missing = need.count - free;
    if constexpr (requires { message.memory; }) message.memory = need.memory;
    if constexpr (requires { message.asked; }) message.asked = Asked(need);
    if constexpr (requires { message.ahead; }) message.ahead = ahead;
    if constexpr (requires { message.out; }) message.out = Listed(found.out_names, found.out_names.size());
    return message;
  };
  if (found.out > 0) {
    if (!AnyGpu(view.devices)) return fill(msg::WhySlotsSomeOut{});
    if (need.exclusive) return fill(msg::WhyGpusAskedSomeOut{});
    return need.memory > 0 ? fill(msg::WhyGpusMemorySomeOut{}) : fill(msg::WhyGpusSomeOut{});
  }
  if (!AnyGpu(view.devices)) return ahead == 0 ? fill(msg::WhySlots{}) : fill(msg::WhySlotsBehind{});
  if (need.exclusive) return ahead == 0 ? fill(msg::WhyGpusAsked{}) : fill(msg::WhyGpusAskedBehind{});
  if (need.memory > 0) return ahead == 0 ? fill(msg::WhyGpusMemory{}) : fill(msg::WhyGpusMemoryBehind{});
  return ahead == 0 ? fill(msg::WhyGpus{}) : fill(msg::WhyGpusBehind{});
}

Message NeedsPart(const View& view, const Need& need, const Share& share, int free, int64_t ahead,
                  const Obstacles& found) {
  auto fill = [&](auto message, int blocked) -> Message {
    message.share = share.Text();
    message.want = need.count;
    message.free = free;
    message.blocked = blocked;
    message.names = Names(view, found.tenants);
    message.ahead = ahead;
    if constexpr (requires { message.whole; }) message.whole = found.whole;
    if constexpr (requires { message.other; }) message.other = found.mode;
    if constexpr (requires { message.memory; }) message.memory = found.part;
    if constexpr (requires { message.out; }) message.out = Listed(found.out_names, found.out_names.size());
    return message;
  };
  if (found.out > 0) return fill(msg::WhyShareSomeOut{}, found.room + found.memory);
  const int all = found.whole + found.mode + found.room + found.memory;
  if (all == found.room) return fill(msg::WhyShareRoom{}, all);
  if (all == found.memory) return fill(msg::WhyShareMemory{}, all);
  if (all == found.mode) return fill(msg::WhyShareMode{}, all);
  if (all == found.whole) return fill(msg::WhyShareWhole{}, all);
  return fill(msg::WhyShare{}, found.room + found.memory);
}

// Why not enough could serve it, whoever leaves.
Message TooFew(const View& view, const Need& need, const Obstacles& found) {
  if (view.trouble && need.count > found.such) return *view.trouble;
  if (found.others > 0)
    return msg::WhyNotAlone{.want = need.count, .usable = found.usable, .all = found.such};
  if (need.memory > 0 && AnyGpu(view.devices)) {
    return msg::WhyGpusMemoryOut{
        .want = need.count, .memory = need.memory, .usable = found.usable, .all = found.such};
  }
  return msg::WhyDevicesOut{.want = need.count, .usable = found.usable, .all = found.such};
}

Message NeedsDevices(const View& view, const ReadyTask& task, const Need& need, Room& room, Time now) {
  const QueuePlace place = PlaceOf(task);
  const int want = need.count;
  const int free = room.Fitting(need);
  if (want <= free) {
    if (auto other = KeptFor(view, place, need, false, room, now)) {
      return msg::WhyKeptFor{.free = free, .task = NameOf(view, *other)};
    }
    return msg::WhyNext{};
  }
  const Obstacles found = ObstaclesTo(view, need);
  // Nothing but their being out of use keeps enough devices from it: that is the reason, unless it starts as
  // well when tasks end. What is back in a moment comes before any end.
  const bool tasks_free_enough = want <= found.usable && !(found.trouble != nullptr && found.trouble->soon);
  if (found.out > 0 && !tasks_free_enough && Room(view, /*as_if_usable=*/true).Fitting(need) >= want)
    return found.trouble != nullptr ? *found.trouble->trouble : TooFew(view, need, found);
  if (want > found.usable + found.to_come) return TooFew(view, need, found);
  const int64_t ahead = view.ready.CountAhead(place);
  if (IsWhole(need)) return NeedsWhole(view, need, free, ahead, found);
  return NeedsPart(view, need, task.wish.share, free, ahead, found);
}

}  // namespace

Message Explain(const View& view, const Task& task, const std::vector<OpenDependency>& open, Time now) {
  if (task.held) {
    if (task.held_reason) return *task.held_reason;
    return msg::WhyHeld{.task = std::to_string(task.id.value)};
  }
  if (!open.empty()) return WaitsFor(view, open);
  const Time wall = now + view.wall_ahead;
  if (task.begin && *task.begin > wall && (!task.not_before || *task.not_before <= *task.begin)) {
    return msg::WhyBegin{.at = *task.begin};
  }
  if (task.not_before && *task.not_before > wall) return msg::WhyRetryAt{.at = *task.not_before};
  if (view.paused) return msg::WhyPaused{};
  const ReadyTask ready = ReadyOf(task);
  const Need need = NeedOf(ready);
  Room room(view);
  if (!TakesDevices(ready)) return NeedsCores(view, PlaceOf(ready), need, room, now);
  return NeedsDevices(view, ready, need, room, now);
}

namespace {

Status CheckCount(const std::vector<DeviceRow>& devices, int want) {
  const int have = static_cast<int>(devices.size());
  if (want <= have) return {};
  Message why = have == 0         ? Message(msg::SubmitNoDevices{.want = want})
                : AnyGpu(devices) ? Message(msg::SubmitTooManyGpus{.want = want, .have = have})
                                  : Message(msg::SubmitTooManySlots{.want = want, .have = have});
  return Invalid(std::move(why), "/resources/gpus");
}

// Figures that differ must not read alike: 23.98 GiB is 23.9 beside 24.
int64_t Beside(int64_t want, int64_t most) {
  constexpr int64_t kShown = (int64_t{1} << 30) / 10;
  return most < want && want - most < kShown ? most / kShown * kShown : most;
}

// A device whose memory nobody knows now may turn out to have enough.
Status CheckDeviceMemory(const std::vector<DeviceRow>& devices, int want, const DeviceWish& wish) {
  const int64_t memory = wish.memory;
  const Need need{.mode = wish.share.mode, .memory = memory};
  int have = 0;
  int64_t most = 0;
  for (const DeviceRow& device : devices) {
    have += device.memory == 0 || HasEnough(device.memory, device.to_give(), need);
    most = std::max(most, IsWhole(need) ? device.memory : device.to_give());
  }
  if (want <= have) return {};
  most = Beside(memory, most);
  Message why = msg::SubmitGpuMemoryTooLarge{.want = memory, .most = most};
  if (!AnyGpu(devices)) {
    why = msg::SubmitSlotMemoryTooLarge{.want = memory, .most = most};
  } else if (have > 0) {
    why = msg::SubmitGpuMemoryTooFew{.want = want,
                                     .memory = memory,
                                     .have = have,
                                     .all = static_cast<int64_t>(devices.size()),
                                     .most = most};
  }
  return Invalid(std::move(why), "/resources/gpu_memory");
}

}  // namespace

std::vector<Error> FindMisfits(const std::vector<DeviceRow>& devices, int cores, int64_t memory,
                               const TaskSpec& spec, bool complete) {
  std::vector<Error> misfits;
  auto note = [&](const Status& fits) {
    if (!fits) misfits.push_back(fits.error());
  };
  const int want = spec.gpus.Least();
  if (want > 0 && complete) {
    const Status count = CheckCount(devices, want);
    note(count);
    // Of too many at least one should be large enough.
    if (!devices.empty()) note(CheckDeviceMemory(devices, count ? want : 1, spec.wish));
  }
  if (spec.cpus && *spec.cpus > cores)
    note(Invalid(msg::SubmitTooManyCores{.want = *spec.cpus, .have = cores}, "/resources/cpus"));
  if (spec.memory && memory > 0 && *spec.memory > memory)
    note(Invalid(msg::SubmitTooMuchMemory{.want = *spec.memory, .have = memory}, "/resources/memory"));
  return misfits;
}

}  // namespace ty
