#include "sched/queue.h"

#include "base/assert.h"

namespace ty {

namespace {

// The history of a line answers "since when"; ten seconds are fine enough for a bound of ten minutes, and
// what is older than the history is old enough.
constexpr Duration kHistoryStep = seconds(10);
constexpr size_t kHistoryLength = 64;

}  // namespace

void Line::Insert(const ReadyTask& task) {
  const QueuePlace place = PlaceOf(task);
  tasks_.emplace(place, Waiting{&task, starts_});
  ages_.emplace_back(starts_, place);
}

void Line::Erase(QueuePlace place) {
  tasks_.erase(place);
  while (!ages_.empty() && IsStale(ages_.front())) ages_.pop_front();
  // One that waits for long must not keep the traces of all who came and left behind it.
  if (ages_.size() > 2 * tasks_.size() + 64) {
    std::erase_if(ages_, [this](const auto& age) { return IsStale(age); });
  }
}

bool Line::IsStale(const std::pair<int64_t, QueuePlace>& age) const {
  auto found = tasks_.find(age.second);
  return found == tasks_.end() || found->second.stamp != age.first;
}

void Line::Pass(Time now, int starts) {
  starts_ += starts;
  if (history_.empty() || now - history_.back().second >= kHistoryStep) {
    history_.emplace_back(starts_, now);
    if (history_.size() > kHistoryLength) history_.pop_front();
  } else {
    history_.back().first = starts_;
  }
}

PassedBy Line::Passed(QueuePlace from) const {
  if (starts_ == 0) return {};
  for (const auto& age : ages_) {
    if (age.second < from || IsStale(age)) continue;
    PassedBy passed{starts_ - age.first, {}};
    for (const auto& [starts, when] : history_) {
      if (starts <= age.first) continue;
      passed.since = when;
      break;
    }
    return passed;
  }
  return {};
}

void ReadyQueue::Insert(const ReadyTask& task) {
  auto [found, fresh] = tasks_.try_emplace(task.id, task);
  TY_ASSERT(fresh);
  LinesOf(task)[NeedOf(task)].Insert(found->second);
  order_.insert(PlaceOf(task));
}

void ReadyQueue::Erase(TaskId id) {
  auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  const ReadyTask& task = found->second;
  auto& lines = LinesOf(task);
  auto line = lines.find(NeedOf(task));
  line->second.Erase(PlaceOf(task));
  if (line->second.tasks().empty()) lines.erase(line);
  order_.erase(PlaceOf(task));
  tasks_.erase(found);
}

const ReadyTask* ReadyQueue::Find(TaskId id) const {
  auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

void ReadyQueue::MarkPassedOver(TaskId id, Time now, int starts) {
  const ReadyTask* task = Find(id);
  if (task != nullptr && starts > 0) LinesOf(*task).at(NeedOf(*task)).Pass(now, starts);
}

}  // namespace ty
