// Where a waiting task stands: in the ready queue, due later, held, or behind others.
#include <algorithm>
#include <boost/json.hpp>

#include "base/log.h"
#include "msg/outcome.h"
#include "yard/yard.h"

namespace ty {

namespace {

constexpr size_t kLatelyEnded = 20000;

// What `after N:on` accepts as N's end.
bool Satisfies(Dependency::On on, OutcomeKind kind) {
  switch (on) {
    case Dependency::On::kAny:
      return true;
    case Dependency::On::kOk:
      return kind == OutcomeKind::kSucceeded;
    case Dependency::On::kFail:
      return kind == OutcomeKind::kFailed || kind == OutcomeKind::kTimeout || kind == OutcomeKind::kLost;
  }
  return false;
}

}  // namespace

ty::View Yard::MakeView() const {
  ty::View view{ready_,      ledger_.rows(), machine_.cores,
                cores_used_, paused_,        [this](TaskId id) { return NameOf(id); }};
  if (!machine_.complete) view.trouble = probe_trouble_;
  view.wall_ahead = ahead_;
  return view;
}

bool Yard::HasOpenDependency(const Task& task) const {
  return std::any_of(task.after.begin(), task.after.end(), [this](const Dependency& after) {
    return IsOpen(after.task) && !IsEnded(tasks_.at(after.task));
  });
}

std::vector<OpenDependency> Yard::OpenDependenciesOf(const Task& task) const {
  std::vector<OpenDependency> open;
  for (const Dependency& after : task.after) {
    const Task* other = FindTask(after.task);
    if (other != nullptr && !IsEnded(*other)) open.push_back({after, std::string(Name(other->state))});
  }
  return open;
}

void Yard::Watch(const Task& task) {
  for (const Dependency& after : task.after) {
    std::vector<TaskId>& watchers = dependents_[after.task];
    if (std::find(watchers.begin(), watchers.end(), task.id) == watchers.end()) watchers.push_back(task.id);
  }
}

void Yard::Unplace(TaskId id) {
  if (ready_.Contains(id)) ready_.Erase(id);
}

// Puts a task where its state says it belongs. Called after every change of what it depends on.
void Yard::Place(const Task& task) {
  Unplace(task.id);
  const QueuePlace key = KeyOf(task);
  if (!IsWaiting(task)) {
    order_.erase(key);
    return;
  }
  order_.insert(key);
  std::optional<Time> due = task.begin;
  if (task.not_before && (!due || *due < *task.not_before)) due = task.not_before;
  if (due && *due > Wall()) {
    due_.emplace(OnOurClock(*due), task.id);
    return;
  }
  if (task.held || HasOpenDependency(task)) return;
  ready_.Insert(ReadyOf(task));
  decide_ = true;
}

void Yard::WakeDue() {
  while (!due_.empty() && due_.begin()->first <= now_) {
    const TaskId id = due_.begin()->second;
    due_.erase(due_.begin());
    const Task* task = FindTask(id);
    if (task != nullptr && IsWaiting(*task) && !ready_.Contains(id)) Place(*task);
  }
  if (decide_at_ && *decide_at_ <= now_) {
    decide_at_.reset();
    decide_ = true;
  }
}

// A beginning somebody named stays where it is on the wall; a delay of ours lasts as long as it was meant to.
void Yard::Apply(ClockSet& set) {
  const Duration by = set.ahead - ahead_;
  if (by == Duration{}) return;
  ahead_ = set.ahead;
  Log("the wall clock was set by " + std::to_string(ToMillis(by)) + " ms");
  std::vector<TaskId> waiting;
  for (const QueuePlace& key : order_) waiting.push_back(key.id);
  for (TaskId id : waiting) {
    Task& task = *FindTask(id);
    if (!task.begin && !task.not_before) continue;
    if (task.not_before) Change(task, [&](Task& t) { *t.not_before += by; });
    Place(task);
  }
  for (const Entry& entry : ledger_.entries()) {
    if (entry.hold && entry.hold->until) device_due_.emplace(OnOurClock(*entry.hold->until), entry.device.id);
  }
}

// The task is over for good: told to those behind it, and forgotten here once the disk has it.
void Yard::End(Task& task, Outcome outcome, std::optional<Time> at) {
  const TaskId id = task.id;
  const OutcomeKind kind = outcome.kind;
  order_.erase(KeyOf(task));
  Unplace(id);
  Change(task, [&](Task& t) {
    t.state = ty::Ended{};
    t.held = false;
    t.held_reason.reset();
    t.not_before.reset();
    t.outcome = std::move(outcome);
    t.ended = at.value_or(Wall());
  });
  Emit("task.ended", id, task.attempts, {{"outcome", ToJson(*task.outcome)}});
  lately_ended_[id] = kind;
  lately_ended_order_.push_back(id);
  if (lately_ended_order_.size() > kLatelyEnded) {
    lately_ended_.erase(lately_ended_order_.front());
    lately_ended_order_.pop_front();
  }
  journal_.Then([this, id](const Receipt& receipt) {
    if (!receipt.committed) return;
    auto found = tasks_.find(id);
    if (found != tasks_.end() && IsEnded(found->second)) tasks_.erase(found);
    auto [first, last] = await_end_.equal_range(id);
    std::vector<std::shared_ptr<std::function<void()>>> wakes;
    for (auto it = first; it != last; ++it) {
      if (auto wake = it->second.lock()) wakes.push_back(std::move(wake));
    }
    await_end_.erase(first, last);
    for (const auto& wake : wakes) (*wake)();
  });
  SettleDependents(id, kind);
}

// Those behind an ended task become ready, or end themselves with the reason. A chain is walked, not
// recursed: End calls back here only for tasks taken from `ending`, which the outermost call drains.
void Yard::SettleDependents(TaskId ended, OutcomeKind kind) {
  auto found = dependents_.find(ended);
  if (found == dependents_.end()) return;
  std::vector<TaskId> waiting = std::move(found->second);
  dependents_.erase(found);
  for (TaskId id : waiting) {
    Task* task = FindTask(id);
    if (task == nullptr || !IsWaiting(*task)) continue;
    auto broken = std::find_if(task->after.begin(), task->after.end(), [&](const Dependency& after) {
      return after.task == ended && !Satisfies(after.on, kind);
    });
    if (broken == task->after.end()) {
      Place(*task);
      continue;
    }
    doomed_.emplace_back(id, ended);
  }
  if (settling_) return;
  settling_ = true;
  while (!doomed_.empty()) {
    auto [id, cause] = doomed_.front();
    doomed_.pop_front();
    Task* task = FindTask(id);
    if (task == nullptr || !IsWaiting(*task)) continue;
    Outcome outcome;
    outcome.kind = OutcomeKind::kCancelled;
    outcome.failure = FailureClass::kDependency;
    outcome.reason = msg::OutcomeDependency{.task = NameOf(cause)};
    End(*task, std::move(outcome));
  }
  settling_ = false;
}

}  // namespace ty
