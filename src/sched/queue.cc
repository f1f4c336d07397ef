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

std::map<int, Line>& ReadyQueue::LinesOf(const ReadyTask& task) {
  return TakesDevices(task) ? device_lines_ : core_lines_;
}

void ReadyQueue::Insert(const ReadyTask& task) {
  auto [found, fresh] = entries_.try_emplace(task.id, Entry{task});
  TY_ASSERT(fresh);
  Entry& entry = found->second;
  const QueuePlace place = PlaceOf(task);
  Line& line = LinesOf(task)[NeedOf(task)];
  entry.stamp = line.starts;
  line.tasks.emplace(place, &entry.task);
  if (task.passed_since) line.passed.insert(place);
  order_.insert(place);
}

void ReadyQueue::Erase(TaskId id) {
  auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const QueuePlace place = PlaceOf(found->second.task);
  auto& lines = LinesOf(found->second.task);
  auto at = lines.find(NeedOf(found->second.task));
  Line& line = at->second;
  const bool was_head = line.tasks.begin()->first == place;
  line.tasks.erase(place);
  line.passed.erase(place);
  order_.erase(place);
  entries_.erase(found);
  if (line.tasks.empty()) {
    lines.erase(at);
  } else if (was_head && line.starts > 0) {
    // What passed the head passed the next one too, if it was there: counted now, when it matters.
    Entry& next = entries_.at(line.tasks.begin()->first.id);
    auto first = std::find_if(line.history.begin(), line.history.end(),
                              [&](const auto& step) { return step.first > next.stamp; });
    if (first != line.history.end()) Mark(line, next, first->second, line.starts - next.stamp);
  }
}

const ReadyTask* ReadyQueue::Find(TaskId id) const {
  auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.task;
}

void ReadyQueue::Mark(Line& line, Entry& entry, Time since, int64_t starts) {
  ReadyTask& task = entry.task;
  if (!task.passed_since || since < *task.passed_since) task.passed_since = since;
  task.passed_starts = static_cast<int>(std::min<int64_t>(std::max<int64_t>(task.passed_starts, starts), 1 << 30));
  line.passed.insert(PlaceOf(task));
}

void ReadyQueue::MarkPassedOver(TaskId id, Time now, int starts) {
  auto found = entries_.find(id);
  if (found == entries_.end() || starts <= 0) return;
  const ReadyTask& task = found->second.task;
  Line& line = LinesOf(task).at(NeedOf(task));
  line.starts += starts;
  if (line.history.empty() || now - line.history.back().second >= kHistoryStep) {
    line.history.emplace_back(line.starts, now);
    if (line.history.size() > kHistoryLength) line.history.pop_front();
  } else {
    line.history.back().first = line.starts;
  }
  Mark(line, found->second, now, int64_t{task.passed_starts} + starts);
  // Those already passed over that a newcomer of their line has got before.
  for (auto behind = line.passed.upper_bound(PlaceOf(task)); behind != line.passed.end(); ++behind) {
    Entry& other = entries_.at(behind->id);
    Mark(line, other, now, int64_t{other.task.passed_starts} + starts);
  }
}

}  // namespace ty
