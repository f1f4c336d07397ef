// The scheduler: a view in, decisions out, reasons on request. Pure: no clock, no file, no thread.
// First policy: priority, then place; strict gang; what cannot start neither blocks nor is starved: a task
// passed over for 10 minutes or 50 starts has freed devices kept for it (contracts C16), against all that
// stand behind it and never against those before it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/message.h"
#include "base/result.h"
#include "base/time.h"
#include "model/device.h"
#include "model/task.h"
#include "sched/queue.h"

namespace ty {

// One lease on a device, as far as it matters here.
struct Tenant {
  TaskId task;
  int asked_milli = kWholeDevice;
  int64_t memory = 0;  // bytes of device memory of its share; 0: not counted
};

struct DeviceRow {
  std::string id, label;  // label: what people read, "GPU0"
  Device::Kind kind = Device::Kind::kCpuSlot;
  int64_t memory = 0;    // bytes in all; 0: unknown
  int64_t reserved = 0;  // of them, by the driver
  int64_t to_give() const { return memory - reserved; }
  double strength = 0;  // larger is better; among equals the first in order
  // May be given out, as far as others than our own tenants are concerned. If not, `trouble` says why: out of
  // service, held, used from outside, another yard's.
  bool usable = true;
  bool for_good = false;  // not usable, and only a person can change that: it does not count as to come
  bool soon = false;      // not usable, and back by itself within moments
  bool bare = true;       // nobody else is on it, not even a desktop: what `exclusive` asks for
  std::optional<Message> trouble;
  std::vector<Tenant> tenants;
  ShareMode mode = ShareMode::kWhole;  // of the tenants
};

// Borrowed from the Yard for one call; nothing is copied.
struct View {
  const ReadyQueue& ready;                // tasks that may start now, kept in order by the Yard
  const std::vector<DeviceRow>& devices;  // in the order people know them
  int cores = 1;                          // CPUs counted for tasks without a device
  int cores_used = 0;
  bool paused = false;                      // the queue gives out nothing
  std::function<std::string(TaskId)> name;  // "12 (seven)", for reasons; empty: the number alone
  // Why nobody knows how many GPUs there are: the reason for tasks that need more than the rows there are.
  std::optional<Message> trouble = {};
  Duration wall_ahead{};  // of the wall clock, on which people name times, before `now`
};

struct Decision {
  TaskId task;
  std::vector<int> devices;  // indices into View::devices; empty for a task without a device
  Share share;               // of each of them: what the task asked for, or whole when it must be alone
  Message reason;
};

// Ready, could not start while `starts` others behind it did. Only the first of each need is named: those
// behind it in the same need cannot start before it, and ReadyQueue hands its wait on to them.
struct PassedOver {
  TaskId task;
  int starts = 0;
};

struct Decisions {
  std::vector<Decision> starts;         // in order
  std::vector<PassedOver> passed_over;  // the Yard marks them in the queue
  std::optional<Time> next_wakeup;      // when time alone could start something; never in this policy
};
Decisions Decide(const View& view, Time now);

// Why a waiting task waits, by the same rules. `task` is not in view.ready when it is held, early or has open
// dependencies; `open` says which dependencies are open and what each does.
struct OpenDependency {
  Dependency dependency;
  std::string state;  // "waiting", "running", …
};
Message Explain(const View& view, const Task& task, const std::vector<OpenDependency>& open, Time now);

// Why the request could never be met here, each with its field as in the API; nothing when it could be.
// `complete` false: nobody knows how many GPUs there are, so none is too many.
std::vector<Error> FindMisfits(const std::vector<DeviceRow>& devices, int cores, int64_t memory,
                               const TaskSpec& spec, bool complete = true);

}  // namespace ty
