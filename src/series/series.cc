// Two locks: one for what is written and loaded, never held while chunks are read, and one for the curves
// that are derived from it, so that a long look at ten million points holds up no writer.
#include "series/series.h"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "base/paths.h"
#include "base/text.h"
#include "posix/files.h"
#include "series/attempt_series.h"
#include "series/thin.h"

namespace ty {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr auto kKept = seconds(60);  // what nobody asked for as long leaves the memory
constexpr auto kTidy = seconds(20);
constexpr size_t kMostLoaded = 32 << 20;   // bytes of tasks that are not running
constexpr size_t kMostDerived = 48 << 20;  // bytes of derived curves; the newest stays whatever its size
constexpr size_t kMostAverages = 4;        // of one curve
constexpr size_t kMostVersions = 50'000;

class DiskSeries final : public SeriesStore {
 public:
  explicit DiskSeries(std::string home) : paths_{std::move(home)} {}
  ~DiskSeries() override {
    {
      std::lock_guard lock(acts_mutex_);
      closed_ = true;
    }
    acted_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  SourcePlace Begin(AttemptKey key, Time started) override;
  void Append(AttemptKey key, std::vector<FoundPoint> points, SourcePlace upto) override;
  void End(AttemptKey key) override;
  int64_t Version(TaskId task) const override;
  SeriesList List(TaskId task) override;
  PointsAnswer Points(TaskId task, const PointsQuery& query) override;
  void Post(std::function<void()> act) override;

 private:
  struct LoadedTask {
    std::map<int, AttemptSeries> attempts;
    SteadyTime asked{};  // last by a reader
  };
  // Curves derived from one series along one axis.
  using CurveKey = std::tuple<TaskId, int, uint32_t, Axis>;
  struct Derived {
    CurveKey key;
    SteadyTime asked{};
    std::optional<SortedCurve> sorted;
    std::list<AverageRun> averages;  // the newest first
    size_t memory() const;
  };

  LoadedTask& Load(TaskId task);
  void Count(TaskId task, const LoadedTask& loaded);
  bool Open(TaskId task) const;
  std::vector<Snapshot> Copy(TaskId task, const PointsQuery& query, int64_t& version);
  Derived& Derive(const CurveKey& key);
  AverageRun& FindAverage(Derived& derived, double weight);
  void Work();
  bool Tidy();  // whether there is more to be done later

  StatePaths paths_;

  std::mutex mutex_;
  std::map<TaskId, LoadedTask> tasks_;
  std::set<AttemptKey> open_;  // begun and not ended

  mutable std::mutex versions_mutex_;
  std::map<TaskId, int64_t> versions_;

  std::mutex derived_mutex_;
  std::list<Derived> derived_;  // the newest first

  std::mutex acts_mutex_;
  std::condition_variable acted_;
  std::deque<std::function<void()>> acts_;
  bool closed_ = false;
  std::thread thread_;  // from the first act on
};

// ---- Writing

DiskSeries::LoadedTask& DiskSeries::Load(TaskId task) {
  if (auto found = tasks_.find(task); found != tasks_.end()) return found->second;
  LoadedTask& loaded = tasks_[task];
  const std::string folder = paths_.Series(task);
  const SysResult<std::vector<std::string>> names = ListFolder(folder);
  if (!names) return loaded;
  constexpr std::string_view kEnd = SeriesPaths::kJournal;
  for (const std::string& name : *names) {
    if (name.size() <= kEnd.size() || name.substr(name.size() - kEnd.size()) != kEnd) continue;
    const auto number = ParseInt(name.substr(0, name.size() - kEnd.size()));
    if (!number || *number < 1 || *number > std::numeric_limits<int>::max()) continue;
    const int attempt = static_cast<int>(*number);
    loaded.attempts.try_emplace(attempt, SeriesPaths{folder, attempt});
  }
  Count(task, loaded);
  return loaded;
}

void DiskSeries::Count(TaskId task, const LoadedTask& loaded) {
  int64_t points = 0;
  for (const auto& [number, attempt] : loaded.attempts) points += attempt.points();
  std::lock_guard lock(versions_mutex_);
  if (points == 0) {
    versions_.erase(task);
    return;
  }
  versions_[task] = points;
  if (versions_.size() > kMostVersions) versions_.erase(versions_.begin());
}

bool DiskSeries::Open(TaskId task) const {
  const auto found = open_.lower_bound({task, 0});
  return found != open_.end() && found->task == task;
}

SourcePlace DiskSeries::Begin(AttemptKey key, Time started) {
  std::lock_guard lock(mutex_);
  open_.insert(key);
  auto [attempt, fresh] =
      Load(key.task).attempts.try_emplace(key.attempt, SeriesPaths{paths_.Series(key.task), key.attempt});
  attempt->second.Start(ToMillis(started.time_since_epoch()));
  return attempt->second.place();
}

void DiskSeries::Append(AttemptKey key, std::vector<FoundPoint> points, SourcePlace upto) {
  std::lock_guard lock(mutex_);
  LoadedTask& loaded = Load(key.task);
  auto attempt = loaded.attempts.find(key.attempt);
  if (attempt == loaded.attempts.end()) return;
  attempt->second.Append(std::move(points), upto);
  Count(key.task, loaded);
}

void DiskSeries::End(AttemptKey key) {
  std::lock_guard lock(mutex_);
  open_.erase(key);
  auto task = tasks_.find(key.task);
  if (task == tasks_.end()) return;
  auto attempt = task->second.attempts.find(key.attempt);
  if (attempt == task->second.attempts.end()) return;
  attempt->second.Flush();
  Count(key.task, task->second);
  const bool wrote = attempt->second.points() > 0;
  if (wrote) Post([paths = attempt->second.paths()] { SyncSeries(paths); });
  if (!wrote) task->second.attempts.erase(attempt);
  if (!Open(key.task) && std::chrono::steady_clock::now() - task->second.asked > kKept) tasks_.erase(task);
}

int64_t DiskSeries::Version(TaskId task) const {
  std::lock_guard lock(versions_mutex_);
  const auto found = versions_.find(task);
  return found == versions_.end() ? 0 : found->second;
}

// ---- Reading

SeriesPart PartOf(int attempt, const Series& series) {
  SeriesPart part;
  part.attempt = attempt;
  part.points = series.points();
  part.last = series.last->value;
  bool any = false;
  auto take = [&](const Head& head) {
    part.first_step = any ? std::min(part.first_step, head.low_step) : head.low_step;
    part.last_step = any ? std::max(part.last_step, head.high_step) : head.high_step;
    any = true;
    part.nan += head.nan;
    part.infinite += head.plus + head.minus;
    if (std::isnan(head.least)) return;
    part.least = std::min(part.least.value_or(head.least), head.least);
    part.most = std::max(part.most.value_or(head.most), head.most);
  };
  for (const Head& head : series.heads) take(head);
  const std::span<const Sample> tail(series.tail);
  for (size_t at = 0; at < tail.size(); at += kChunk)
    take(Summarise(tail.subspan(at, std::min(kChunk, tail.size() - at))));
  return part;
}

SeriesList DiskSeries::List(TaskId task) {
  std::lock_guard lock(mutex_);
  LoadedTask& loaded = Load(task);
  loaded.asked = std::chrono::steady_clock::now();
  std::map<std::string, SeriesFacts> by_tag;
  for (const auto& [number, attempt] : loaded.attempts) {
    for (const Series& series : attempt.series()) {
      if (!attempt.Shows(series) || series.points() == 0) continue;
      by_tag[series.tag].parts.push_back(PartOf(number, series));
    }
  }
  SeriesList list;
  list.version = Version(task);
  for (auto& [tag, facts] : by_tag) {
    facts.tag = tag;
    list.items.push_back(std::move(facts));
  }
  return list;
}

std::vector<Snapshot> DiskSeries::Copy(TaskId task, const PointsQuery& query, int64_t& version) {
  std::vector<Snapshot> copies;
  std::lock_guard lock(mutex_);
  LoadedTask& loaded = Load(task);
  loaded.asked = std::chrono::steady_clock::now();
  version = Version(task);
  for (const auto& [number, attempt] : loaded.attempts) {
    for (uint32_t id = 0; id < attempt.series().size(); ++id) {
      const Series& series = attempt.series()[id];
      if (series.tag != query.tag || !attempt.Shows(series) || series.points() == 0) continue;
      copies.push_back({number, id, attempt.paths().Chunks(), series.heads, series.places, series.tail,
                        series.ordered[static_cast<int>(query.axis)]});
    }
  }
  return copies;
}

PointsAnswer DiskSeries::Points(TaskId task, const PointsQuery& query) {
  PointsAnswer answer;
  std::vector<Snapshot> copies = Copy(task, query, answer.version);
  answer.known = !copies.empty();

  std::lock_guard lock(derived_mutex_);
  struct Part {
    int attempt;
    std::unique_ptr<RawCurve> raw;
    Curve* curve;
    Derived* derived;
  };
  std::vector<Part> parts;
  Grid grid{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), query.pixels};
  for (Snapshot& copy : copies) {
    const CurveKey key{task, copy.attempt, copy.series, query.axis};
    const bool ordered = copy.ordered;
    Part part{copy.attempt, std::make_unique<RawCurve>(std::move(copy), query.axis), nullptr, nullptr};
    part.curve = part.raw.get();
    if (!ordered || query.smooth > 0) part.derived = &Derive(key);
    if (!ordered) {
      if (!part.derived->sorted) {
        part.derived->sorted.emplace();
        part.derived->averages.clear();
      }
      if (!part.derived->sorted->Extend(*part.raw, query.axis)) part.derived->averages.clear();
      part.curve = &*part.derived->sorted;
    }
    if (part.curve->size() == 0) continue;
    grid.low = std::min(grid.low, part.curve->pieces().front().first.x);
    grid.high = std::max(grid.high, part.curve->pieces().back().last.x);
    parts.push_back(std::move(part));
  }
  if (query.from) grid.low = *query.from;
  if (query.to) grid.high = *query.to;

  for (Part& part : parts) {
    PointsPart& told = answer.parts.emplace_back();
    const Span span = Find(*part.curve, grid.low, grid.high);
    told.attempt = part.attempt;
    told.points = static_cast<int64_t>(span.size());
    told.exact = AllFit(span, grid);
    told.dots = Thin(*part.curve, span, grid);
    told.marks = FindMarks(*part.curve, span, grid);
    if (query.smooth <= 0) continue;
    SmoothCurve smooth(*part.curve, FindAverage(*part.derived, query.smooth));
    told.smooth = Thin(smooth, span, grid);
    std::erase_if(told.smooth, [](const Dot& dot) { return std::isnan(dot.y); });
  }
  size_t bytes = 0;
  for (auto one = derived_.begin(); one != derived_.end();) {
    bytes += one->memory();
    one = bytes > kMostDerived && one != derived_.begin() ? derived_.erase(one) : std::next(one);
  }
  return answer;
}

size_t DiskSeries::Derived::memory() const {
  size_t bytes = sizeof *this + (sorted ? sorted->memory() : 0);
  for (const AverageRun& run : averages) bytes += run.memory();
  return bytes;
}

DiskSeries::Derived& DiskSeries::Derive(const CurveKey& key) {
  for (auto one = derived_.begin(); one != derived_.end(); ++one) {
    if (one->key == key) {
      derived_.splice(derived_.begin(), derived_, one);
      break;
    }
  }
  if (derived_.empty() || derived_.front().key != key) derived_.emplace_front().key = key;
  derived_.front().asked = std::chrono::steady_clock::now();
  return derived_.front();
}

AverageRun& DiskSeries::FindAverage(Derived& derived, double weight) {
  for (auto one = derived.averages.begin(); one != derived.averages.end(); ++one) {
    if (one->weight != weight) continue;
    derived.averages.splice(derived.averages.begin(), derived.averages, one);
    return derived.averages.front();
  }
  derived.averages.emplace_front().weight = weight;
  if (derived.averages.size() > kMostAverages) derived.averages.pop_back();
  return derived.averages.front();
}

// ---- The thread that may wait

void DiskSeries::Post(std::function<void()> act) {
  {
    std::lock_guard lock(acts_mutex_);
    if (closed_) return;
    acts_.push_back(std::move(act));
    if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
  }
  acted_.notify_one();
}

void DiskSeries::Work() {
  bool tidy = false;
  std::unique_lock lock(acts_mutex_);
  while (true) {
    const auto woken = [this] { return closed_ || !acts_.empty(); };
    if (!tidy) {
      acted_.wait(lock, woken);
    } else if (!acted_.wait_for(lock, kTidy, woken)) {
      lock.unlock();
      tidy = Tidy();
      lock.lock();
      continue;
    }
    if (closed_) return;
    std::function<void()> act = std::move(acts_.front());
    acts_.pop_front();
    lock.unlock();
    act();
    act = nullptr;
    lock.lock();
    tidy = true;
  }
}

bool DiskSeries::Tidy() {
  const SteadyTime now = std::chrono::steady_clock::now();
  std::lock_guard derived_lock(derived_mutex_);
  std::erase_if(derived_, [&](const Derived& one) { return now - one.asked > kKept; });
  std::lock_guard lock(mutex_);
  size_t loaded = 0, left = 0;
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    if (Open(task->first)) {
      ++task;
      continue;
    }
    for (const auto& [number, attempt] : task->second.attempts) loaded += attempt.memory();
    const bool goes = now - task->second.asked > kKept || loaded > kMostLoaded;
    left += goes ? 0 : 1;
    task = goes ? tasks_.erase(task) : std::next(task);
  }
  return left > 0 || !derived_.empty();
}

}  // namespace

std::unique_ptr<SeriesStore> OpenSeriesStore(std::string home) {
  return std::make_unique<DiskSeries>(std::move(home));
}

}  // namespace ty
