// Builders and a waiting front for tests of the store.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <limits>

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace ty::store_testing {

inline const Time kNoon = FromNanos(1'796'040'000'123'456'789);

inline Ulid UidOf(int number) {
  Ulid uid;
  for (size_t i = 0; i < 16; ++i) uid.bytes[i] = static_cast<uint8_t>(number >> (8 * (i % 4)));
  return uid;
}

inline Task WaitingTask(int id) {
  Task task;
  task.id = TaskId{id};
  task.uid = UidOf(id);
  task.name = "task-" + std::to_string(id);
  task.submitted = kNoon;
  return task;
}

inline Task NamedTask(int id, std::string name) {
  Task task = WaitingTask(id);
  task.name = std::move(name);
  return task;
}

inline Outcome FullOutcome() {
  return {.kind = OutcomeKind::kFailed,
          .failure = FailureClass::kDataLoading,
          .exit_code = 7,
          .reason = {"outcome.test",
                     {{"count", int64_t{3}}, {"part", 0.5}, {"word", std::string("显存 \"x\"\n")}}},
          .evidence = "OSError: [Errno 5]"};
}

inline Task EndedTask(int id) {
  Task task = WaitingTask(id);
  task.state = Ended{};
  task.ended = kNoon + hours(1) + Duration(1);
  task.outcome = Outcome{.kind = OutcomeKind::kSucceeded, .exit_code = 0};
  return task;
}

// Every field differs from its default.
inline Task FullTask(int id) {
  Task task = WaitingTask(id);
  task.state = Stopping{};
  task.priority = -100;
  task.place = (int64_t{1} << 40) + 1;
  task.held = true;
  task.held_reason = Message{"why.test", {{"word", std::string("a")}, {"number", int64_t{-1}}}};
  task.gpus.counts = {1, 2, 4};
  task.cpus = 3;
  task.memory = int64_t{1} << 40;
  task.wish = {.share = {125, ShareMode::kTurns, Duration(1'500'000'001)},
               .memory = int64_t{3} << 33,
               .exclusive = true,
               .ranks = true};
  task.alone = true;
  task.after = {{TaskId{3}, Dependency::On::kOk},
                {TaskId{4}, Dependency::On::kFail},
                {TaskId{5}, Dependency::On::kAny}};
  task.begin = kNoon + Duration(1);
  task.not_before = kNoon + Duration(2);
  task.tags = {"night", "中文", ""};
  task.retry = {.max = 2, .on = RetryPolicy::On::kAny, .delay = Duration(1'500'000'001)};
  task.attempts = 4;
  task.retries = 2;
  task.began_progress = true;
  task.checkpoint = {.path = "/out/step 40.pt", .step = 40, .bytes = int64_t{5} << 30, .attempt = 3};
  task.outcome = FullOutcome();
  task.ended = kNoon + Duration(3);
  return task;
}

inline Attempt StartingAttempt(int task, int number) {
  Attempt attempt;
  attempt.uid = UidOf(task * 1000 + number);
  attempt.task = TaskId{task};
  attempt.number = number;
  attempt.boot = "boot";
  attempt.created = kNoon;
  return attempt;
}

inline Attempt FullAttempt(int task, int number) {
  Attempt attempt = StartingAttempt(task, number);
  attempt.state = AttemptState::kStopping;
  attempt.devices = {"cpu:0", "GPU-4d0a"};
  attempt.resume = "/out/step 20.pt";
  attempt.started = kNoon + Duration(1);
  attempt.ended = kNoon + Duration(2);
  attempt.outcome = FullOutcome();
  attempt.outcome->exit_code.reset();
  attempt.outcome->signal = 9;
  attempt.stop_reason = Message{"stop.test", {{"who", std::string("ada")}}};
  attempt.stop_kind = OutcomeKind::kPreempted;
  attempt.changed_code = {"/home/ada/train.py", "/caf\xe9.sh"};
  attempt.processes = 3;
  attempt.ranks = {{.exit_code = 0, .signal = {}}, {.exit_code = {}, .signal = 9}, {}};
  attempt.progress = Progress{3, 20, "epoch", "training"};
  attempt.metrics = {{"loss", 0.1}, {"best", -std::numeric_limits<double>::infinity()}};
  return attempt;
}

inline Lease LeaseOf(const Attempt& attempt, std::string device, int asked_milli, ShareMode mode) {
  return {.attempt = attempt.uid,
          .device = std::move(device),
          .share_milli = asked_milli,
          .asked_milli = asked_milli,
          .mode = mode};
}

inline TaskSpec PlainSpec() {
  TaskSpec spec;
  spec.argv = {"true"};
  spec.workdir = "/";
  return spec;
}

inline TaskSpec FullSpec() {
  TaskSpec spec;
  spec.name = "full";
  spec.argv = {"python3", "train.py", "--lr", "1e-4", "", "a b", "\xff"};
  spec.workdir = "/home/ada/work";
  spec.gpus.counts = {1, 2, 3};
  spec.cpus = 2;
  spec.memory = int64_t{3} << 30;
  spec.wish = {.share = {250, ShareMode::kTogether}, .memory = int64_t{8} << 30, .ranks = true};
  spec.gpu_ids = TaskSpec::GpuIds::kIndex;
  spec.priority = 100;
  spec.after = {{TaskId{3}, Dependency::On::kAny}};
  spec.hold = true;
  spec.begin = FromNanos(1'796'040'000'123'000'000);
  spec.time_limit = hours(2);
  spec.idle_limit = minutes(5);
  spec.retry = {.max = 3, .on = RetryPolicy::On::kAny, .delay = seconds(1)};
  spec.resume_path = "/out/last.pt";
  spec.stop_signal = 10;
  spec.grace = seconds(90);
  spec.tags = {"night", "small"};
  spec.variables = {{"API_KEY", "secret"}, {"LR", "0.1"}};
  spec.environment = {{"PATH", "/usr/bin"}, {"HOME", "/home/ada"}};
  spec.code.files = {{"/home/ada/work/train.py", std::string(64, 'a')}};
  spec.code.repository = "/home/ada/work";
  spec.code.commit = std::string(40, 'b');
  return spec;
}

inline Event EventOf(int64_t seq) {
  return {.seq = seq,
          .at = kNoon + Duration(seq),
          .kind = "attempt.started",
          .task = seq % 2 ? std::optional(TaskId{12}) : std::nullopt,
          .attempt = static_cast<int>(seq % 2),
          .data = R"({"path":"/a"})"};
}

template <class... Each>
std::vector<Change> Changes(Each... changes) {
  std::vector<Change> all;
  all.reserve(sizeof...(changes));
  (all.emplace_back(std::move(changes)), ...);
  return all;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ty-store-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Asks the store and waits for its answer.
class Desk {
 public:
  void Take(std::unique_ptr<Store> store) { store_ = std::move(store); }
  void Close() { store_.reset(); }
  Store& store() { return *store_; }

  Receipt CommitFully(Batch batch) {
    std::promise<Receipt> answer;
    store_->Commit(std::move(batch), [&](Receipt receipt) { answer.set_value(std::move(receipt)); });
    return answer.get_future().get();
  }
  Status CommitAll(std::vector<Change> changes) {
    return CommitFully({.number = 0, .changes = std::move(changes), .specs_wanted = {}}).committed;
  }
  template <class... Each>
  Status Commit(Each... changes) {
    return CommitAll(Changes(std::move(changes)...));
  }
  template <class Question>
  auto Ask(Question question) {
    std::promise<decltype(question(std::declval<Rows&>()))> answer;
    store_->Read([&](Rows& rows) { answer.set_value(question(rows)); });
    return answer.get_future().get();
  }
  OpenState LoadOpen() {
    return Ask([](Rows& rows) { return rows.LoadOpen().value(); });
  }
  TaskRecord Find(int id) {
    return Ask([id](Rows& rows) { return rows.FindTask(TaskId{id}).value(); });
  }

  // Keeps the store's thread from its work until the answer is destroyed.
  class Gate {
   public:
    explicit Gate(std::shared_ptr<std::promise<void>> open) : open_(std::move(open)) {}
    Gate(Gate&&) = default;
    ~Gate() {
      if (open_) open_->set_value();
    }

   private:
    std::shared_ptr<std::promise<void>> open_;
  };
  Gate Block() {
    auto open = std::make_shared<std::promise<void>>();
    std::promise<void> reached;
    store_->Read([&, open](Rows&) {
      reached.set_value();
      open->get_future().wait();
    });
    reached.get_future().wait();
    return Gate(open);
  }

 private:
  std::unique_ptr<Store> store_;
};

}  // namespace ty::store_testing
