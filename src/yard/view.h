// What questions get: copies small enough to carry to another thread and put into JSON there.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/task.h"

namespace ty {

struct TaskView {
  Task task;
  std::optional<Attempt> attempt;  // the current one, when there is
  Message reason;                  // why it waits; empty otherwise
  std::optional<Progress> progress;
  std::vector<std::pair<std::string, double>> metrics;  // newest values
  std::optional<Duration> time_left;                    // estimated from the progress of this attempt
};

struct OpenFilter {
  // Empty: any; state "waiting", "held", "running" (with starting and stopping).
  std::string tag, state;
  int64_t after = 0;  // what follows this task in the order of the list: the last one of the page before
  int limit = 1000;
};

struct DeviceView {
  Device device;
  std::optional<TaskId> task;
  std::string task_name;
  int attempt = 0;
  std::optional<Time> since;
};

struct YardView {
  int waiting = 0, held = 0, running = 0, devices = 0, devices_free = 0;
  bool paused = false;
  bool adopting = false;
  int cores = 1;
  std::string containment;
};

}  // namespace ty
