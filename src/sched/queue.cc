#include "sched/queue.h"

#include "base/assert.h"

namespace ty {

namespace {

// The history of a line answers "since when"; ten seconds are fine enough for a bound of ten minutes, and
// what is older than the history is old enough.
constexpr Duration kHistoryStep = seconds(10);
constexpr size_t kHistoryLength = 64;

}  // namespace

ReadyTask ReadyOf(const Task& task) {
  ReadyTask ready{task.id, task.priority, task.gpus, task.cpus, task.memory, task.wish, PlaceWithin(task)};
  if (task.alone) ready.wish.share = Share{};
  return ready;
}

Need NeedOf(const ReadyTask& task) {
  if (!TakesDevices(task)) return Need{.count = std::max(1, task.cpus)};
  const DeviceWish& wish = task.wish;
  return Need{.count = task.gpus.Least(),
              .milli = wish.share.milli,
              .mode = wish.share.mode,
              .exclusive = wish.exclusive,
              .memory = wish.memory};
}

void Line::Insert(const ReadyTask& task) {
  const QueuePlace place = PlaceOf(task);
  tasks_.emplace(place, Waiting{&task, starts_});
  ages_.emplace_back(starts_, place);
}

void Line::Erase(QueuePlace place) {
  tasks_.erase(place);
  while (first_age_ < ages_.size() && IsStale(ages_[first_age_])) ++first_age_;
  // One that waits for long must not keep the traces of all who came and left behind it.
  if (ages_.size() > 2 * tasks_.size() + 64) {
    std::erase_if(ages_, [this](const Age& age) { return IsStale(age); });
    first_age_ = 0;
  }
}

bool Line::IsStale(const Age& age) const {
  auto found = tasks_.find(age.second);
  return found == tasks_.end() || found->second.stamp != age.first;
}

void Line::Pass(Time now, int starts) {
  starts_ += starts;
  if (history_.empty() || now - history_.back().second >= kHistoryStep) {
    history_.emplace_back(starts_, now);
    if (history_.size() > kHistoryLength) history_.erase(history_.begin());
  } else {
    history_.back().first = starts_;
  }
}

PassedBy Line::Passed(QueuePlace from) const {
  if (starts_ == 0) return {};
  for (size_t i = first_age_; i < ages_.size(); ++i) {
    const Age& age = ages_[i];
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
  const QueuePlace place = PlaceOf(task);
  Lines& lines = LinesOf(task);
  auto [at, first] = lines.by_need.try_emplace(NeedOf(task));
  Line& line = at->second;
  if (first) {
    line.face_ = lines.faces.size();
    lines.faces.push_back({at->first, place, &line, {}, 0});
  }
  line.Insert(found->second);
  LineFace& face = lines.faces[line.face_];
  face.head = std::min(face.head, place);
  order_.insert(place);
}

void ReadyQueue::Erase(TaskId id) {
  auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  const ReadyTask& task = found->second;
  const QueuePlace place = PlaceOf(task);
  Lines& lines = LinesOf(task);
  auto at = lines.by_need.find(NeedOf(task));
  Line& line = at->second;
  line.Erase(place);
  if (!line.tasks().empty()) {
    lines.faces[line.face_].head = line.tasks().begin()->first;
  } else {
    LineFace& last = lines.faces.back();
    lines.by_need.find(last.need)->second.face_ = line.face_;
    lines.faces[line.face_] = last;
    lines.faces.pop_back();
    lines.by_need.erase(at);
  }
  order_.erase(place);
  tasks_.erase(found);
}

const ReadyTask* ReadyQueue::Find(TaskId id) const {
  auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

void ReadyQueue::MarkPassedOver(TaskId id, Time now, int starts) {
  const ReadyTask* task = Find(id);
  if (task == nullptr || starts <= 0) return;
  Lines& lines = LinesOf(*task);
  Line& line = lines.by_need.at(NeedOf(*task));
  line.Pass(now, starts);
  LineFace& face = lines.faces[line.face_];
  face.passed_starts = line.starts_;
  face.passed_since = line.history_.front().second;
}

}  // namespace ty
