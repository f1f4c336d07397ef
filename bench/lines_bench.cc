// What reading a log by lines costs: counting it, drawing from it, searching in it, per kind of line.
#include <benchmark/benchmark.h>

#include <cstring>

#include "ingest/log_lines.h"
#include "ingest/log_shelf.h"

namespace ty {
namespace {

constexpr const char* kKinds[] = {"text", "bars", "one bar", "nested bars", "colours"};

std::string LogOf(int kind) {
  std::string bytes;
  for (int i = 0; bytes.size() < (64u << 20); ++i) {
    const std::string n = std::to_string(i % 1000);
    const std::string bar = "\r 45%|████▌     | " + n + "/1000 [00:10<00:12, 4.4it/s, loss=0.53]";
    if (kind == 0) bytes += "INFO trainer: read shard " + n + " of the data set from the local folder\n";
    if (kind == 1) bytes += bar + (i % 1000 == 999 ? "\n" : "");
    if (kind == 2) bytes += bar;
    if (kind == 3) bytes += (i % 1000 == 999 ? "\n\n" : bar + "\n" + bar + "\x1b[A");
    if (kind == 4) bytes += "\x1b[32mINFO\x1b[0m trainer: step \x1b[1m" + n + "\x1b[0m loss 0.3127\n";
  }
  return bytes;
}

LogBytes Of(const std::string& text) {
  return {static_cast<int64_t>(text.size()), {}, [&text](int64_t offset, char* buffer, size_t size) {
            const size_t got = std::min(size, text.size() - static_cast<size_t>(offset));
            std::memcpy(buffer, text.data() + offset, got);
            return got;
          }};
}

void BM_Count(benchmark::State& state) {
  const std::string text = LogOf(static_cast<int>(state.range(0)));
  size_t memory = 0;
  for (auto _ : state) {
    LogLines lines;
    lines.Extend(Of(text), INT64_MAX / 2);
    memory = lines.MemoryUse();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["memory"] = static_cast<double>(memory);
  state.SetLabel(kKinds[state.range(0)]);
}
BENCHMARK(BM_Count)->DenseRange(0, 4)->Unit(benchmark::kMillisecond);

// The last 500 lines, as somebody who follows asks for again and again.
void BM_LastLines(benchmark::State& state) {
  const std::string text = LogOf(static_cast<int>(state.range(0)));
  const LogBytes log = Of(text);
  LogLines lines;
  lines.Extend(log, INT64_MAX / 2);
  for (auto _ : state) {
    lines.Walk(log, std::max<int64_t>(0, lines.total() - 500), true, [](int64_t, LogLine) { return true; });
  }
  state.SetLabel(kKinds[state.range(0)]);
}
BENCHMARK(BM_LastLines)->DenseRange(0, 4)->Unit(benchmark::kMicrosecond);

void BM_Search(benchmark::State& state) {
  const std::string text = LogOf(static_cast<int>(state.range(0)));
  const LogBytes log = Of(text);
  LogLines lines;
  lines.Extend(log, INT64_MAX / 2);
  const LogPattern pattern = *LogPattern::Make("no such thing", false, false);
  int64_t found = 0;
  for (auto _ : state) {
    lines.Walk(log, 0, false, [&](int64_t, const LogLine& line) {
      found += pattern.Find(line.text).has_value();
      return true;
    });
  }
  benchmark::DoNotOptimize(found);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.SetLabel(kKinds[state.range(0)]);
}
BENCHMARK(BM_Search)->DenseRange(0, 4)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ty

BENCHMARK_MAIN();
