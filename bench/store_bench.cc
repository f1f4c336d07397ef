// What the store on disk costs: durable commits, loading a long queue, the memory of both.
// TY_BENCH_FOLDER names a folder on the disk to be measured; else the current one is used.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>

#include "store/store.h"

namespace ty {
namespace {

class Folder {
 public:
  Folder() {
    const char* place = std::getenv("TY_BENCH_FOLDER");
    path_ = std::string(place ? place : ".") + "/ty-store-bench-XXXXXX";
    if (!::mkdtemp(path_.data())) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

double ResidentMegabytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// About 400 bytes, or 3 KB with the variables of a whole shell.
TaskSpec SpecOf(bool whole_shell) {
  TaskSpec spec;
  spec.argv = {"python3", "train.py", "--lr", "1e-4", "--epochs", "20", "--data", "/data/imagenet"};
  spec.workdir = "/home/ada/projects/resnet";
  spec.gpus.counts = {1, 2};
  spec.tags = {"night"};
  spec.variables = {{"WANDB_MODE", "offline"}};
  const int variables = whole_shell ? 40 : 3;
  for (int i = 0; i < variables; ++i)
    spec.environment.emplace_back("VARIABLE_" + std::to_string(i),
                                  std::string(50, static_cast<char>('a' + i % 26)));
  return spec;
}

TaskAdded Submit(int64_t id, const TaskSpec& spec) {
  TaskAdded added{.task = {}, .spec = spec};
  added.task.id = TaskId{id};
  __builtin_memcpy(added.task.uid.bytes.data(), &id, sizeof id);
  added.task.name = "resnet-" + std::to_string(id);
  added.task.gpus = spec.gpus;
  added.task.tags = spec.tags;
  added.task.submitted = FromNanos(1'796'040'000'000'000'000 + id);
  added.idempotency_key = "01KB0000000000000" + std::to_string(100'000'000 + id);
  added.request_hash = std::string(64, 'f');
  return added;
}

EventAdded Submitted(int64_t id) {
  EventAdded added;
  added.event = {.seq = id, .at = FromNanos(id), .kind = "task.submitted", .task = TaskId{id}};
  return added;
}

std::unique_ptr<Store> OpenIn(const Folder& folder) {
  auto store = OpenSqliteStore(folder.path());
  if (!store) std::abort();
  return std::move(*store);
}

template <class Question>
auto Ask(Store& store, Question question) {
  std::promise<decltype(question(std::declval<Rows&>()))> answer;
  store.Read([&](Rows& rows) { answer.set_value(question(rows)); });
  return answer.get_future().get();
}

// Writers hand over one submit each and wait for its receipt before the next: as many clients as `range(0)`.
// With one that is the price of a lone submit; with many the store makes its groups by itself.
void Commits(benchmark::State& state) {
  const int64_t clients = state.range(0);
  const TaskSpec spec = SpecOf(state.range(1) != 0);
  Folder folder;
  auto store = OpenIn(folder);
  int64_t id = 0;
  for (auto _ : state) {
    std::promise<void> all;
    int64_t left = clients;
    for (int64_t i = 0; i < clients; ++i) {
      Batch batch;
      ++id;
      batch.changes.reserve(2);
      batch.changes.emplace_back(Submit(id, spec));
      batch.changes.emplace_back(Submitted(id));
      store->Commit(std::move(batch), [&](Receipt receipt) {
        if (!receipt.committed) std::abort();
        if (--left == 0) all.set_value();
      });
    }
    all.get_future().wait();
  }
  state.SetItemsProcessed(state.iterations() * clients);
}
BENCHMARK(Commits)
    ->ArgNames({"submits", "shell"})
    ->ArgsProduct({{1, 64, 512}, {0, 1}})
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// One batch of many submits, as `submit --bulk` makes it.
void Bulk(benchmark::State& state) {
  const TaskSpec spec = SpecOf(false);
  Folder folder;
  auto store = OpenIn(folder);
  int64_t id = 0;
  for (auto _ : state) {
    Batch batch;
    batch.changes.reserve(static_cast<size_t>(2 * state.range(0)));
    for (int64_t i = 0; i < state.range(0); ++i) {
      ++id;
      batch.changes.emplace_back(Submit(id, spec));
      batch.changes.emplace_back(Submitted(id));
    }
    std::promise<bool> committed;
    store->Commit(std::move(batch),
                  [&](Receipt receipt) { committed.set_value(receipt.committed.has_value()); });
    if (!committed.get_future().get()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Bulk)->Arg(512)->Arg(10'000)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

constexpr int64_t kLongQueue = 100'000;

// Open, load, close with a long queue; and what that leaves in memory.
void LoadOpen(benchmark::State& state) {
  Folder folder;
  {
    auto store = OpenIn(folder);
    const TaskSpec spec = SpecOf(true);
    for (int64_t id = 1; id <= kLongQueue;) {
      Batch batch;
      for (int i = 0; i < 1000; ++i, ++id) batch.changes.emplace_back(Submit(id, spec));
      store->Commit(std::move(batch), [](Receipt receipt) {
        if (!receipt.committed) std::abort();
      });
    }
  }
  ::malloc_trim(0);
  const double empty = ResidentMegabytes();
  double store_alone = 0, with_tasks = 0;
  for (auto _ : state) {
    auto store = OpenIn(folder);
    OpenState open = Ask(*store, [](Rows& rows) { return rows.LoadOpen().value(); });
    if (open.tasks.size() != kLongQueue) std::abort();
    state.PauseTiming();
    with_tasks = ResidentMegabytes();
    open = {};
    ::malloc_trim(0);
    store_alone = ResidentMegabytes();
    store.reset();
    state.ResumeTiming();
  }
  state.counters["before_MB"] = empty;
  state.counters["store_MB"] = store_alone - empty;
  state.counters["tasks_MB"] = with_tasks - store_alone;
}
BENCHMARK(LoadOpen)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

void FindTask(benchmark::State& state) {
  Folder folder;
  auto store = OpenIn(folder);
  Batch batch;
  for (int64_t id = 1; id <= 1000; ++id) batch.changes.emplace_back(Submit(id, SpecOf(true)));
  store->Commit(std::move(batch), [](Receipt) {});
  int64_t id = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        Ask(*store, [&](Rows& rows) { return rows.FindTask(TaskId{++id % 900 + 1}).has_value(); }));
}
BENCHMARK(FindTask)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ty

BENCHMARK_MAIN();
