// What people do to tasks that are there: cancel, hold, release, retry, priority, remove, and the queue's
// pause.
#include <algorithm>
#include <boost/json.hpp>
#include <climits>
#include <filesystem>

#include "base/fail_point.h"
#include "base/paths.h"
#include "msg/act.h"
#include "msg/outcome.h"
#include "msg/task.h"
#include "yard/yard.h"

namespace ty {

void Yard::Apply(Act& act) {
  std::vector<TaskId> targets = act.tasks;
  const bool makes_room = act.verb == Verb::kCancel || act.verb == Verb::kRemove;
  if (const Status room = HasRoom(makes_room); !room) {
    std::vector<ActAnswer> refused;
    for (TaskId id : targets) refused.push_back({id, room});
    if (refused.empty()) refused.push_back({TaskId{}, room});
    return act.reply(std::move(refused));
  }
  if (act.all_open && !paused_) {
    paused_ = true;
    journal_.Write(SettingChanged{"queue.paused", "1"});
    Emit("queue.paused");
  }
  if (act.all_open || !act.tag.empty()) {
    for (const auto& [id, task] : tasks_) {
      const bool tagged =
          !act.tag.empty() && std::find(task.tags.begin(), task.tags.end(), act.tag) != task.tags.end();
      if (!IsEnded(task) && (act.all_open || tagged)) targets.push_back(id);
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  }
  // Each goes right behind the named one, or before all others, so the last goes first; answers are in the
  // order they were named in.
  const bool backwards = act.behind || act.first;
  if (backwards) std::reverse(targets.begin(), targets.end());
  std::vector<ActAnswer> answers;
  for (TaskId id : targets) {
    Task* task = FindTask(id);
    if (task != nullptr && !IsEnded(*task)) {
      answers.push_back({id, ActOn(*task, act)});
      continue;
    }
    auto record = std::find_if(act.ended.begin(), act.ended.end(),
                               [&](const TaskRecord& r) { return r.task.id == id; });
    const std::string number = std::to_string(id.value);
    if (task != nullptr) {
      answers.push_back({id, Conflict(msg::ActEndingNow{.task = number})});
    } else if (record == act.ended.end()) {
      answers.push_back({id, NotFound(msg::TaskUnknown{.task = number})});
    } else if (act.verb == Verb::kRetry) {
      answers.push_back({id, Retry(*record)});
    } else if (act.verb == Verb::kRemove) {
      answers.push_back({id, Remove(*record)});
    } else {
      answers.push_back({id, Conflict(msg::ActEndedAlready{.task = number})});
    }
  }
  if (backwards) std::reverse(answers.begin(), answers.end());
  journal_.Then([reply = std::move(act.reply), answers = std::move(answers)](const Receipt& receipt) mutable {
    if (!receipt.committed) {
      for (ActAnswer& answer : answers) answer.done = Forward(receipt.committed.error());
    }
    reply(std::move(answers));
  });
}

Status Yard::ActOn(Task& task, const Act& act) {
  const std::string number = std::to_string(task.id.value);
  switch (act.verb) {
    case Verb::kCancel:
      return Cancel(task, msg::OutcomeCancelledByUser{});
    case Verb::kHold:
      return Hold(task);
    case Verb::kRelease:
      return Release(task);
    case Verb::kPriority:
      if (act.beside) return Move(task, *act.beside, act.behind);
      if (act.first && !IsWaiting(task)) return Conflict(msg::ActMoveRunning{.task = number});
      return Reprioritise(task, act.first ? FirstPriority(task) : act.priority);
    case Verb::kRetry:
      if (IsWaiting(task) && task.not_before) {  // do not wait for the delay
        Change(task, [](Task& t) { t.not_before.reset(); });
        Place(task);
        return {};
      }
      return Conflict(msg::ActNotEnded{.task = number});
    case Verb::kRemove:
      return Conflict(msg::ActRemoveOpen{.task = number});
  }
  return {};
}

Status Yard::Cancel(Task& task, Message reason) {
  if (IsWaiting(task)) {
    Outcome outcome;
    outcome.kind = OutcomeKind::kCancelled;
    outcome.reason = std::move(reason);
    End(task, std::move(outcome));
    return {};
  }
  Live* live = LiveOf(task.id);
  if (live == nullptr || live->exit) return {};  // it has ended by itself: its own outcome stands
  const bool displaced = std::exchange(live->displaced, false);  // it was to run again; now it is not
  const bool again = std::holds_alternative<Stopping>(task.state) && !displaced;
  if (!again) {
    if (!displaced) {
      Change(task, [](Task& t) { t.state = Stopping{}; });
    }
    Change(live->attempt, [&](Attempt& a) {
      a.state = AttemptState::kStopping;
      a.stop_reason = std::move(reason);
      a.stop_kind = OutcomeKind::kCancelled;
    });
    Emit("task.cancel_asked", task.id, live->attempt.number);
    Emit("attempt.stopping", task.id, live->attempt.number, {{"reason", ToJson(*live->attempt.stop_reason)}});
    StopTurns(*live);
  }
  FAIL_POINT("stop.written");
  // Who cancels a second time does not want to wait for the grace period.
  journal_.WantSpec(task.id);
  journal_.Then([this, id = task.id, uid = live->attempt.uid, again](const Receipt& receipt) {
    SendStop(uid, SpecIn(receipt, id), again);
  });
  return {};
}

Status Yard::Hold(Task& task) {
  if (!IsWaiting(task)) return Conflict(msg::ActHoldRunning{.task = std::to_string(task.id.value)});
  if (task.held) return {};
  Change(task, [](Task& t) {
    t.held = true;
    t.held_reason.reset();
  });
  Emit("task.held", task.id);
  Place(task);
  return {};
}

Status Yard::Release(Task& task) {
  if (!task.held) return {};
  Change(task, [](Task& t) {
    t.held = false;
    t.held_reason.reset();
  });
  Emit("task.released", task.id);
  Place(task);
  return {};
}

Status Yard::Reprioritise(Task& task, int priority) {
  if (task.priority == priority) return {};
  order_.erase(KeyOf(task));
  Change(task, [&](Task& t) {
    t.priority = priority;
    t.place.reset();
  });
  Emit("task.changed", task.id, 0, {{"priority", priority}});
  Place(task);
  return {};
}

// Before all that wait: one more than the highest of the others.
int Yard::FirstPriority(const Task& task) const {
  for (const QueuePlace& key : order_) {
    if (key.id == task.id) continue;
    if (-key.rank == INT_MAX) return INT_MAX;
    return std::max(task.priority, static_cast<int>(-key.rank) + 1);
  }
  return task.priority;
}

// Right before or behind another one that waits, with its priority.
Status Yard::Move(Task& task, TaskId beside, bool behind) {
  if (!IsWaiting(task)) return Conflict(msg::ActMoveRunning{.task = std::to_string(task.id.value)});
  const Task* other = FindTask(beside);
  if (other == nullptr || !IsWaiting(*other))
    return Conflict(msg::ActMoveBeside{.task = std::to_string(beside.value)}, behind ? "/after" : "/before");
  if (task.id == beside) return {};
  order_.erase(KeyOf(task));
  auto next = order_.find(KeyOf(*other));
  const int priority = other->priority;
  const int64_t place = MakePlace(next->rank, behind ? std::next(next) : next);
  Change(task, [&](Task& t) {
    t.priority = priority;
    t.place = place;
  });
  Emit("task.changed", task.id, 0, {{"priority", priority}, {behind ? "after" : "before", beside.value}});
  Place(task);
  return {};
}

// A place for one more task right before `next`. Where there is none left, those before it move up: at the
// front there is always room, while behind the last one stands whoever is submitted next.
int64_t Yard::MakePlace(int64_t rank, std::set<QueuePlace>::iterator next) {
  constexpr int64_t kRoomy = 1024;
  const bool last = next == order_.end() || next->rank != rank;
  const int64_t end = last ? (last_task_.value + 1) * kPlacesPerId : next->place;
  std::vector<TaskId> crowd;  // nearest first
  int64_t begin = 0, slots = 2;
  for (auto before = next;; ++slots) {
    if (before == order_.begin() || std::prev(before)->rank != rank) {
      begin = end - slots * kPlacesPerId;
      break;
    }
    --before;
    begin = before->place;
    if (end - begin >= (crowd.empty() ? slots : slots * kRoomy)) break;
    crowd.push_back(before->id);
  }
  const int64_t step = (end - begin) / slots;
  for (size_t i = 0; i < crowd.size(); ++i) {
    Task& task = *FindTask(crowd[i]);
    order_.erase(KeyOf(task));
    Change(task, [&](Task& t) { t.place = begin + static_cast<int64_t>(crowd.size() - i) * step; });
    Place(task);
  }
  return begin + (slots - 1) * step;
}

// A retry asked by a person: the same task again, from its last checkpoint, with its counted retries renewed.
Status Yard::Retry(const TaskRecord& record) {
  Task task = record.task;
  if (task.outcome && task.outcome->failure == FailureClass::kDependency) {
    for (const Dependency& after : task.after) {
      if (lately_ended_.count(after.task) && lately_ended_[after.task] != OutcomeKind::kSucceeded &&
          after.on == Dependency::On::kOk) {
        return Conflict(msg::ActRetryDependency{.task = std::to_string(after.task.value)});
      }
    }
  }
  Task& back = tasks_[task.id] = std::move(task);
  Change(back, [&](Task& t) {
    t.state = Waiting{};
    t.held = false;
    t.outcome.reset();
    t.ended.reset();
    t.not_before.reset();
    t.retries = 0;
    t.began_progress = false;
  });
  lately_ended_.erase(back.id);
  Emit("task.changed", back.id, 0, {{"retry", "asked"}});
  Watch(back);
  Place(back);
  return {};
}

Status Yard::Remove(const TaskRecord& record) {
  const TaskId id = record.task.id;
  journal_.Write(TaskErased{id});
  std::vector<Ulid> attempts;
  for (const Attempt& attempt : record.attempts) attempts.push_back(attempt.uid);
  journal_.Then([this, id, attempts = std::move(attempts)](const Receipt& receipt) {
    if (!receipt.committed) return;
    for (const Ulid& uid : attempts) engine_.Remove(uid);
    errands_([paths = StatePaths{settings_.home}, id] {
      std::error_code ignored;  // what cannot be deleted stays; the task is gone all the same
      std::filesystem::remove_all(paths.Out(id), ignored);
      std::filesystem::remove_all(paths.Series(id), ignored);
    });
  });
  return {};
}

void Yard::Apply(PauseQueue& pause) {
  if (const Status room = HasRoom(true); !room) return pause.reply(room);
  if (paused_ != pause.paused) {
    paused_ = pause.paused;
    journal_.Write(SettingChanged{"queue.paused", paused_ ? "1" : "0"});
    Emit(paused_ ? "queue.paused" : "queue.resumed");
    decide_ = true;
  }
  journal_.Then([reply = std::move(pause.reply)](const Receipt& receipt) { reply(receipt.committed); });
}

}  // namespace ty
