// What questions get: copies small enough to carry to another thread and put into JSON there.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/lease.h"
#include "model/task.h"
#include "os/device_watch.h"
#include "store/store.h"

namespace ty {

struct TaskView {
  Task task;
  std::optional<Attempt> attempt;  // the current one, when there is
  Message reason;                  // why it waits; empty otherwise
  std::optional<Progress> progress;
  std::vector<std::pair<std::string, double>> metrics;  // newest values
  std::optional<Duration> time_left;                    // estimated from the progress of this attempt
  bool frozen = false;                                  // it is another sharer's turn
};

struct OpenFilter {
  // Empty: any; state "waiting", "held", "running" (with starting and stopping).
  std::string tag, state;
  int64_t after = 0;  // what follows this task in the order of the list: the last one of the page before
  int limit = 1000;
};

struct LeaseView {
  TaskId task;
  std::string task_name;
  int attempt = 0;
  Time since;
  int share_milli = kWholeDevice, asked_milli = kWholeDevice;
  ShareMode mode = ShareMode::kWhole;
  int64_t memory = 0;           // of its share, 0: not counted
  std::optional<int64_t> used;  // measured, bytes
  bool frozen = false;
  Ulid uid;  // of the attempt, by which its processes in a reading are known
};

struct DeviceView {
  Device device;
  std::string state;   // "free", "leased", "shared", "held", "foreign", "elsewhere", "settling", "unknown",
                       // "lost", "quarantined"
  bool usable = true;  // tasks may be given it, now or when its tenants leave
  Message trouble;     // why not; empty when usable
  std::optional<Time> held_until;
  std::optional<Time> out_since;  // lost, quarantined, unknown
  std::vector<LeaseView> leases;
  std::optional<DeviceReading> reading;  // of a GPU, the newest
  std::optional<Time> read_at;
  std::vector<DeviceProcess> foreign;          // processes without a lease that keep it from being given out
  std::vector<std::pair<Ulid, TaskId>> tasks;  // of attempts among its processes
  std::optional<HostHolder> elsewhere;         // another yard of this host has it
};

// A run that lives and that no row tells of.
struct StrayView {
  Ulid uid;
  TaskId task;  // as its folder says; 0 where that cannot be read
  int number = 0;
  int supervisor = 0;  // pid
  std::string command;
  std::vector<std::string> devices;  // labels of those kept from others for it
};

struct YardView {
  int waiting = 0, held = 0, running = 0, devices = 0, devices_free = 0;
  bool paused = false;
  bool adopting = false;
  std::vector<StrayView> strays;
  std::vector<std::string> put_aside;  // runs without a row that had died, in attempts/.quarantine
  StoreHealth store;
  ProbeState probe = ProbeState::kNone;  // how NVML is
  Message probe_trouble;                 // empty when it is good or there are no GPUs
  std::string driver, cuda;              // "550.54.14", "12.4"; empty without GPUs
  int cores = 1;
  std::string containment;
};

}  // namespace ty
