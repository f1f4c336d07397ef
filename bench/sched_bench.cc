// The scheduling turn at 100,000 queued tasks and 1,000 devices (design section 8: at most 5 ms whatever the
// shapes), what a question "why" costs there, and how fast tasks come and go.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "sched/sched.h"

namespace ty {
namespace {

constexpr int kTasks = 100'000;
constexpr int kDevices = 1'000;

enum Shape : int { kOneShape, kAllShapes, kAllPriorities, kMixed, kHalves, kAllFloors, kAllParts };
enum Load : int { kAllFree, kAllBusy, kHalfFree };
constexpr const char* kShapeNames[] = {"one_shape", "all_shapes_differ", "all_priorities_differ", "mixed",
                                       "halves",    "all_floors_differ", "all_parts_differ"};
constexpr const char* kLoadNames[] = {"all_free", "all_busy", "half_free"};

ReadyTask TaskOf(int shape, int i, std::mt19937& random) {
  ReadyTask task;
  task.id = TaskId{i + 1};
  switch (shape) {
    case kAllShapes:
      task.gpus.counts = {1 + i % kDevices};
      if (i / kDevices > 0) task.gpus.counts.push_back(1 + i % kDevices + i / kDevices);
      task.cpus = 1 + i % 64;
      task.memory = i;
      break;
    case kAllPriorities:
      task.priority = static_cast<int>((static_cast<int64_t>(i) * 7919) % 100'003);
      break;
    case kMixed:
      task.priority = static_cast<int>(random() % 7) * 50 - 150;
      task.gpus.counts = {static_cast<int>(random() % 5 == 0 ? 0 : 1 << random() % 4)};
      task.cpus = 1 + static_cast<int>(random() % 16);
      break;
    case kHalves:
      task.wish.share = {500, ShareMode::kTogether};
      break;
    case kAllFloors:
      task.wish.memory = (kTasks - i) * (int64_t{90} << 30) / kTasks;
      break;
    case kAllParts:
      task.wish.share = {1 + i % 999, ShareMode::kTogether};
      task.wish.memory = i;
      break;
    default:
      break;
  }
  return task;
}

struct Yard {
  ReadyQueue ready;
  std::vector<DeviceRow> devices;
  int cores_used = 0;

  Yard(int shape, int load) : devices(kDevices) {
    std::mt19937 random(1);
    for (int i = 0; i < kTasks; ++i) ready.Insert(TaskOf(shape, i, random));
    for (int i = 0; i < kDevices; ++i) {
      devices[i].id = "cpu:" + std::to_string(i);
      devices[i].memory = int64_t{i % 3 == 0 ? 80 : 24} << 30;
      devices[i].strength = i % 3 == 0 ? 2 : 1;
      if (load == kAllBusy || (load == kHalfFree && i % 2 == 0))
        devices[i].tenants = {{TaskId{1'000'000 + i}}};
    }
    if (load == kAllBusy) cores_used = 64;
  }
  View view() const { return {ready, devices, 64, cores_used, false, {}}; }
};

void BM_Decide(benchmark::State& state) {
  const int shape = static_cast<int>(state.range(0)), load = static_cast<int>(state.range(1));
  const Yard yard(shape, load);
  size_t starts = 0;
  for (auto _ : state) {
    Decisions decisions = Decide(yard.view(), FromNanos(0));
    starts = decisions.starts.size();
    benchmark::DoNotOptimize(decisions);
  }
  state.SetLabel(std::string(kShapeNames[shape]) + ", " + kLoadNames[load]);
  state.counters["starts"] = static_cast<double>(starts);
}
BENCHMARK(BM_Decide)
    ->ArgsProduct({{kOneShape, kAllShapes, kAllPriorities, kMixed, kHalves, kAllFloors, kAllParts},
                   {kAllFree, kAllBusy, kHalfFree}})
    ->Unit(benchmark::kMillisecond);

void BM_Explain(benchmark::State& state) {
  const Yard yard(kMixed, kAllBusy);
  Task task;
  task.id = TaskId{kTasks / 2};
  for (auto _ : state) benchmark::DoNotOptimize(Explain(yard.view(), task, {}, FromNanos(0)));
}
BENCHMARK(BM_Explain)->Unit(benchmark::kMicrosecond);

void BM_InsertAll(benchmark::State& state) {
  for (auto _ : state) {
    const Yard yard(static_cast<int>(state.range(0)), kAllFree);
    benchmark::DoNotOptimize(yard.ready.size());
  }
  state.SetLabel(kShapeNames[state.range(0)]);
}
BENCHMARK(BM_InsertAll)->Arg(kOneShape)->Arg(kAllShapes)->Arg(kAllPriorities)->Unit(benchmark::kMillisecond);

void BM_EraseAll(benchmark::State& state) {
  std::vector<int> order(kTasks);
  for (int i = 0; i < kTasks; ++i) order[i] = i + 1;
  std::shuffle(order.begin(), order.end(), std::mt19937(2));
  for (auto _ : state) {
    state.PauseTiming();
    Yard yard(static_cast<int>(state.range(0)), kAllFree);
    state.ResumeTiming();
    for (int id : order) yard.ready.Erase(TaskId{id});
  }
  state.SetLabel(kShapeNames[state.range(0)]);
}
BENCHMARK(BM_EraseAll)->Arg(kOneShape)->Arg(kAllShapes)->Arg(kAllPriorities)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ty

BENCHMARK_MAIN();
