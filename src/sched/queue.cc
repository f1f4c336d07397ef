#include "sched/queue.h"

#include <algorithm>

#include "base/assert.h"

namespace ty {

namespace {

// The history of a line answers "since when" for tasks behind its head; ten seconds are fine enough for a bound of
// ten minutes, and older than that is all the same.
constexpr Duration kHistoryStep = seconds(10);
constexpr size_t kHistoryLength = 64;

}  // namespace

std::optional<int> LeastDevices(const DeviceCounts& counts) {
  if (counts.counts.empty()) return 1;
  for (int count : counts.counts) {
    if (count > 0) return count;
  }
  return std::nullopt;
}

bool RunsOnCores(const DeviceCounts& counts) { return counts.Least() == 0; }

template <class F>
void ReadyQueue::ForLines(Entry& entry, F act) {
  if (std::optional<int> devices = LeastDevices(entry.task.gpus)) act(device_lines_, *devices, entry.device_stamp);
  if (RunsOnCores(entry.task.gpus)) act(core_lines_, std::max(1, entry.task.cpus), entry.core_stamp);
}

void ReadyQueue::Insert(const ReadyTask& task) {
  auto [found, fresh] = entries_.try_emplace(task.id, Entry{task});
  TY_ASSERT(fresh);
  Entry& entry = found->second;
  const QueuePlace place = PlaceOf(task);
  order_.insert(place);
  ForLines(entry, [&](std::map<int, Line>& lines, int need, int64_t& stamp) {
    Line& line = lines[need];
    stamp = line.starts;
    line.tasks.emplace(place, &entry.task);
    if (task.passed_since) line.passed.insert(place);
  });
}

void ReadyQueue::Erase(TaskId id) {
  auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const QueuePlace place = PlaceOf(found->second.task);
  ForLines(found->second, [&](std::map<int, Line>& lines, int need, int64_t&) {
    auto at = lines.find(need);
    Line& line = at->second;
    const bool was_head = line.tasks.begin()->first == place;
    line.tasks.erase(place);
    line.passed.erase(place);
    if (line.tasks.empty()) {
      lines.erase(at);
      return;
    }
    if (!was_head || line.starts == 0) return;
    // What passed the head passed the next one too, if it was there: counted now, when it matters.
    Entry& next = entries_.at(line.tasks.begin()->first.id);
    const int64_t stamp = &lines == &device_lines_ ? next.device_stamp : next.core_stamp;
    auto first = std::find_if(line.history.begin(), line.history.end(),
                              [&](const auto& step) { return step.first > stamp; });
    if (first != line.history.end()) Mark(line, next, first->second, line.starts - stamp);
  });
  order_.erase(place);
  entries_.erase(found);
}

const ReadyTask* ReadyQueue::Find(TaskId id) const {
  auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.task;
}

void ReadyQueue::Mark(Line& line, Entry& entry, std::optional<Time> since, int64_t starts) {
  ReadyTask& task = entry.task;
  if (!task.passed_since || (since && *since < *task.passed_since)) task.passed_since = since;
  task.passed_starts = static_cast<int>(std::min<int64_t>(std::max<int64_t>(task.passed_starts, starts), 1 << 30));
  line.passed.insert(PlaceOf(task));
}

void ReadyQueue::MarkPassedOver(TaskId id, Time now, int starts) {
  auto found = entries_.find(id);
  if (found == entries_.end() || starts <= 0) return;
  Entry& entry = found->second;
  const int64_t total = entry.task.passed_starts + int64_t{starts};
  ForLines(entry, [&](std::map<int, Line>& lines, int need, int64_t&) {
    Line& line = lines.at(need);
    line.starts += starts;
    auto& history = line.history;
    if (history.empty() || now - history.back().second >= kHistoryStep) {
      history.emplace_back(line.starts, now);
    } else {
      history.back().first = line.starts;
    }
    if (history.size() > kHistoryLength) history.pop_front();
    Mark(line, entry, now, total);
  });
}

}  // namespace ty
