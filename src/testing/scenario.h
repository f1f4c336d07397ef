// Scenario reads a yard for the scheduler from text and plays it:
//   Scenario yard("1xh200 80G + 1xa10 24G, 4 cores", "small: 1 gpu, running", "big: 2 gpu",
//                 "prep: 0 gpu, 2 cpus, priority high", "half: share 0.5:turns, 8G");
// Devices are "N x KIND [MEMORY]": CPU slots for "cpu", else GPUs; a kind that stands first in
// h200, a100, a10, t4 is the better card. A task is "name: what, what, …": "N gpu" (also "1-4 gpu",
// "{1,2,4} gpu"), "N cpus", "share F[:mode]", a size for its device memory, "exclusive", "alone",
// "priority P", "running", "held", "after NAME[:ok|:fail|:any]". A mistake in the text ends the test program
// with a line that quotes it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sched/sched.h"

namespace ty {

class Scenario {
 public:
  template <class... Tasks>
  explicit Scenario(std::string_view machine, Tasks... tasks)
      : Scenario(machine, std::vector<std::string>{tasks...}) {}
  Scenario(std::string_view machine, const std::vector<std::string>& tasks);

  TaskId Add(std::string_view task);
  // One turn: decides, gives out, and names who started: "a, b".
  std::string Starts();
  // Devices a running task holds: "cpu:0 cpu:1"; "cores" for one without.
  std::string Holds(std::string_view name) const;
  // Who is on a device, in order of arrival: "a 500, b 250".
  std::string On(std::string_view device) const;

  void Finish(std::string_view name, bool ok = true);
  void Cancel(std::string_view name);
  void Hold(std::string_view name);
  void Release(std::string_view name);
  void Prioritise(std::string_view name, int priority);
  void Pass(Duration time) { now_ += time; }
  void Pause(bool paused) { paused_ = paused; }
  void Break(std::string_view device);  // out of service, and nobody says why
  void Mend(std::string_view device);
  // Not to be given out, with a message of this id for the reason: until a person acts, for a while, or for a
  // moment.
  void Trouble(std::string_view device, std::string_view message, bool for_good, bool soon = false);
  void PutDesktopOn(std::string_view device);

  // "why.slots(want=2, free=1, …)": a message with its arguments.
  std::string Why(std::string_view name);
  Message Explained(std::string_view name);
  void ExpectNothingElse();  // nothing starts any more

  Time now() const { return now_; }
  const ReadyQueue& ready() const { return ready_; }
  TaskId Id(std::string_view name) const;

 private:
  struct Row {
    Task task;
    bool running = false;
    std::vector<int> devices;
  };
  View MakeView() const;
  void Place(Row& row);
  void Start(Row& row, std::vector<int> devices, Share share);
  DeviceRow& Device(std::string_view name);
  std::vector<OpenDependency> Open(const Row& row) const;
  Row& Find(std::string_view name);
  const Row& Find(std::string_view name) const;

  std::vector<DeviceRow> devices_;
  int cores_ = 8, cores_used_ = 0;
  bool paused_ = false;
  Time now_ = FromNanos(1'800'000'000'000'000'000);
  std::map<TaskId, Row> rows_;
  std::map<std::string, TaskId, std::less<>> ids_;
  ReadyQueue ready_;
};

std::string Describe(const Message& message);

}  // namespace ty
