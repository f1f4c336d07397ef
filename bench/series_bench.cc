// What metrics cost: taking points in, and ranges of ten million of them at several zooms, as a chart asks
// for them. TY_BENCH_FOLDER names a folder on the disk to be measured; else the current one is used.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "series/series.h"

namespace ty {
namespace {

constexpr int64_t kMany = 10'000'000;
constexpr int64_t kBatch = 4096;  // about what one read of a file holds

class Home {
 public:
  Home() {
    const char* place = std::getenv("TY_BENCH_FOLDER");
    path_ = std::string(place ? place : ".") + "/ty-series-bench-XXXXXX";
    if (!::mkdtemp(path_.data())) std::abort();
  }
  ~Home() { std::filesystem::remove_all(path_); }
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

std::vector<FoundPoint> Batch(int64_t begin, int64_t count, int64_t tags, bool backwards = false) {
  std::vector<FoundPoint> points;
  points.reserve(static_cast<size_t>(count));
  for (int64_t i = begin; i < begin + count; ++i) {
    // Half-way a training that goes back to its last checkpoint within one run.
    const int64_t step = backwards && i > kMany / 2 ? i - 100'000 : i;
    points.push_back({"loss" + std::to_string(i % tags), static_cast<double>(step / tags),
                      1'796'040'000'000 + i, std::sin(static_cast<double>(i) / 1e5), true});
  }
  return points;
}

// Points in batches; all go to the disk, as they do in a yard.
void Append(benchmark::State& state) {
  const int64_t tags = state.range(0), batch = state.range(1);
  Home home;
  auto store = OpenSeriesStore(home.path());
  store->Begin({TaskId{1}, 1}, FromNanos(0));
  int64_t count = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<FoundPoint> points = Batch(count, batch, tags);
    state.ResumeTiming();
    store->Append({TaskId{1}, 1}, std::move(points), {count += batch, 0, 0});
  }
  state.SetItemsProcessed(state.iterations() * batch);
}
BENCHMARK(Append)
    ->ArgNames({"tags", "batch"})
    ->Args({1, 25})
    ->Args({1, kBatch})
    ->Args({100, kBatch})
    ->UseRealTime();

// Ten million points, made once for all that follow.
const std::string& HomeOf(bool backwards) {
  static Home homes[2];
  return homes[backwards ? 1 : 0].path();
}
SeriesStore& Filled(bool backwards) {
  static std::unique_ptr<SeriesStore> stores[2];
  std::unique_ptr<SeriesStore>& store = stores[backwards ? 1 : 0];
  if (store) return *store;
  store = OpenSeriesStore(HomeOf(backwards));
  store->Begin({TaskId{1}, 1}, FromNanos(0));
  for (int64_t at = 0; at < kMany; at += kBatch)
    store->Append({TaskId{1}, 1}, Batch(at, kBatch, 1, backwards), {at + kBatch, 0, 0});
  store->End({TaskId{1}, 1});
  return *store;
}

PointsQuery QueryOf(const benchmark::State& state) {
  PointsQuery query;
  query.tag = "loss0";
  query.pixels = static_cast<int>(state.range(0));
  const double part = std::pow(10, -static_cast<double>(state.range(1)));  // 0: all of it
  if (part < 1) {
    query.from = 0.37 * kMany;
    query.to = (0.37 + part) * kMany;
  }
  return query;
}

const std::vector<std::vector<int64_t>> kZooms = {{800, 8000}, {0, 1, 2, 4}};

void Range(benchmark::State& state) {
  SeriesStore& store = Filled(false);
  const PointsQuery query = QueryOf(state);
  for (auto _ : state) benchmark::DoNotOptimize(store.Points(TaskId{1}, query));
}
BENCHMARK(Range)->ArgNames({"px", "zoom"})->ArgsProduct(kZooms)->UseRealTime()->Unit(benchmark::kMillisecond);

// The first time a weight is asked for, all points are read.
void FirstAverage(benchmark::State& state) {
  SeriesStore& store = Filled(false);
  PointsQuery query = QueryOf(state);
  query.smooth = 0.5;
  for (auto _ : state) {
    query.smooth += 1e-6;
    benchmark::DoNotOptimize(store.Points(TaskId{1}, query));
  }
}
BENCHMARK(FirstAverage)
    ->ArgNames({"px", "zoom"})
    ->Args({800, 0})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void Average(benchmark::State& state) {
  SeriesStore& store = Filled(false);
  PointsQuery query = QueryOf(state);
  query.smooth = 0.9;
  store.Points(TaskId{1}, query);
  for (auto _ : state) benchmark::DoNotOptimize(store.Points(TaskId{1}, query));
}
BENCHMARK(Average)
    ->ArgNames({"px", "zoom"})
    ->ArgsProduct(kZooms)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// Steps that went back: put in order once, then kept.
void RangeInOrder(benchmark::State& state) {
  SeriesStore& store = Filled(true);
  const PointsQuery query = QueryOf(state);
  store.Points(TaskId{1}, query);
  for (auto _ : state) benchmark::DoNotOptimize(store.Points(TaskId{1}, query));
}
BENCHMARK(RangeInOrder)
    ->ArgNames({"px", "zoom"})
    ->Args({800, 0})
    ->Args({800, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// A store that knows nothing yet, as after a restart.
void FirstLook(benchmark::State& state) {
  Filled(false);
  const PointsQuery query = QueryOf(state);
  double bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    ::malloc_trim(0);
    const double before = ResidentMegabytes();
    auto store = OpenSeriesStore(HomeOf(false));
    state.ResumeTiming();
    benchmark::DoNotOptimize(store->Points(TaskId{1}, query));
    state.PauseTiming();
    bytes = ResidentMegabytes() - before;
    store.reset();
    state.ResumeTiming();
  }
  state.counters["MB"] = bytes;
}
BENCHMARK(FirstLook)->ArgNames({"px", "zoom"})->Args({800, 0})->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ty

BENCHMARK_MAIN();
