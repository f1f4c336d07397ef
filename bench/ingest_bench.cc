// What following a log costs: bytes of a log through the terminal model and the line readers, per kind of
// line.
#include <benchmark/benchmark.h>

#include "wire/metric_line.h"
#include "wire/progress_line.h"
#include "wire/terminal.h"

namespace ty {
namespace {

constexpr const char* kKinds[] = {"bar", "epoch", "text"};

std::string LinesOf(int kind) {
  std::string bytes;
  for (int i = 0; bytes.size() < (1u << 20); ++i) {
    const std::string n = std::to_string(i);
    if (kind == 0) bytes += "\r 45%|████▌     | " + n + "/100000 [00:10<00:12, 4.4it/s, loss=0.53]";
    if (kind == 1) bytes += "Epoch [" + n + "/100000], Step [200/469], Loss: 0.3127, acc: 91.2%\n";
    if (kind == 2)
      bytes +=
          "INFO trainer: read shard " + n + " of the data set from the local folder, nothing to report\n";
  }
  return bytes;
}

void BM_Follow(benchmark::State& state) {
  const std::string bytes = LinesOf(static_cast<int>(state.range(0)));
  size_t found = 0;
  Terminal terminal([&](std::string_view line) {
    const auto reading = ReadProgress(line);
    found += reading.has_value() + ReadMetrics(line, reading.has_value()).size();
  });
  for (auto _ : state) terminal.Feed(bytes);
  benchmark::DoNotOptimize(found);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
  state.SetLabel(kKinds[state.range(0)]);
}
BENCHMARK(BM_Follow)->DenseRange(0, 2);

void BM_Terminal(benchmark::State& state) {
  const std::string bytes = LinesOf(static_cast<int>(state.range(0)));
  size_t found = 0;
  Terminal terminal([&](std::string_view line) { found += line.size(); });
  for (auto _ : state) terminal.Feed(bytes);
  benchmark::DoNotOptimize(found);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
  state.SetLabel(kKinds[state.range(0)]);
}
BENCHMARK(BM_Terminal)->DenseRange(0, 2);

}  // namespace
}  // namespace ty

BENCHMARK_MAIN();
