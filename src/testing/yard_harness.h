// YardHarness is the real Yard with a memory store, fake engine and a clock the test turns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "testing/fake_devices.h"
#include "testing/fakes.h"
#include "yard/yard.h"

namespace ty {

class YardHarness {
 public:
  explicit YardHarness(int slots = 2, int cores = 4);
  // A yard of so many GPUs of 24 GiB, the first report taken in.
  struct Gpus {
    int count = 2;
  };
  explicit YardHarness(Gpus gpus);

  // Turns until nothing is left to do.
  void Settle();
  void Pass(Duration time);  // moves the clock, then settles

  Result<std::vector<SubmitReceipt>> SubmitAll(std::vector<SubmitItem> items);
  Result<SubmitReceipt> Submit(TaskSpec spec, std::string key = {}, std::string hash = {});
  TaskId MustSubmit(TaskSpec spec);
  std::vector<ActAnswer> Do(Verb verb, std::vector<TaskId> tasks, int priority = 0);
  Status DoOne(Verb verb, TaskId task, int priority = 0);

  // What happens to the newest attempt of a task.
  Ulid AttemptOf(TaskId task) const;
  bool Launched(TaskId task) const;
  void Begin(TaskId task);
  void Exit(TaskId task, int code, bool stopped = false);
  void Die(TaskId task, int signal);
  void News(TaskId task, decltype(AttemptNews::what) what);
  void See(TaskId task, Progress progress, std::optional<Pace> pace = std::nullopt);
  void SaveCheckpoint(TaskId task, std::string path, int64_t step);

  std::string StateOf(TaskId task);  // of open and ended ones
  std::optional<Outcome> OutcomeOf(TaskId task);
  TaskRecord RecordOf(TaskId task);
  std::string WhyId(TaskId task);  // message id
  std::vector<std::string> EventKinds(TaskId task);

  // What the watch sees: the test changes `report`, then lets the Yard have it.
  void Look();
  DeviceReading& Gpu(int index) { return report.devices.at(index); }
  DeviceView DeviceOf(const std::string& label) const;
  // Supervisors do as they are told: every freeze and thaw that was ordered is confirmed, until none is new.
  void Obey();
  bool IsFrozen(const Ulid& attempt) const { return frozen_.count(attempt) != 0 && frozen_.at(attempt); }
  // Leases of a device as the store has them: "1 500/500 turns, 2 500/500 turns" (task, granted/asked, mode).
  std::string LeasesOn(const std::string& label);
  std::vector<Event> Events();

  // A new daemon on the same store: attempts that were open are adopted when the test calls FinishAdoption.
  void Restart();
  void FinishAdoption();

  Time now = FromNanos(1'790'000'000'000'000'000);
  std::shared_ptr<PatientStore> store;
  std::unique_ptr<FakeEngine> engine;
  std::unique_ptr<FakeIngest> ingest;
  std::unique_ptr<Inbox> inbox;
  std::unique_ptr<FakeWatch> watch;
  std::unique_ptr<FakeHost> host;
  DeviceReport report;
  std::unique_ptr<Yard> yard;

 private:
  void Open();
  int slots_, cores_;
  bool gpus_ = false;
  std::map<Ulid, bool> frozen_;  // as the supervisors have it
  size_t freezes_heard_ = 0, thaws_heard_ = 0, stops_heard_ = 0;
};

TaskSpec Spec(std::vector<std::string> argv, std::string gpus = "1");

}  // namespace ty
