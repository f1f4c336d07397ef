// YardHarness is the real Yard with a memory store, fake engine and a clock the test turns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "testing/fakes.h"
#include "yard/yard.h"

namespace ty {

class YardHarness {
 public:
  explicit YardHarness(int slots = 2, int cores = 4);

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
  void See(TaskId task, Progress progress);
  void SaveCheckpoint(TaskId task, std::string path, int64_t step);

  std::string StateOf(TaskId task);  // of open and ended ones
  std::optional<Outcome> OutcomeOf(TaskId task);
  TaskRecord RecordOf(TaskId task);
  std::string WhyId(TaskId task);  // message id
  std::vector<std::string> EventKinds(TaskId task);

  // A new daemon on the same store: attempts that were open are adopted when the test calls FinishAdoption.
  void Restart();
  void FinishAdoption();

  Time now = FromNanos(1'790'000'000'000'000'000);
  std::shared_ptr<PatientStore> store;
  std::unique_ptr<FakeEngine> engine;
  std::unique_ptr<FakeIngest> ingest;
  std::unique_ptr<Inbox> inbox;
  std::unique_ptr<Yard> yard;

 private:
  void Open();
  int slots_, cores_;
};

TaskSpec Spec(std::vector<std::string> argv, std::string gpus = "1");

}  // namespace ty
