// ReadyQueue keeps the tasks that may start now, ordered by priority (larger first), then id.
// Besides the one order there is a line for each need (so many devices at least, or so many cores): what
// decides whether a task fits is its need alone, so the scheduler asks at most one question a line, however
// many tasks wait and however different they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/ids.h"
#include "base/time.h"
#include "model/task.h"

namespace ty {

struct ReadyTask {
  TaskId id;
  int priority = 0;
  DeviceCounts gpus;
  int cpus = 1;
  int64_t memory = 0;
};

// A task with a device or without one is one or the other: zero stands alone (DeviceCounts::Parse).
inline bool TakesDevices(const ReadyTask& task) {
  return task.gpus.Least() > 0;
}
// The fewest devices that would do; its cores when it takes none.
inline int NeedOf(const ReadyTask& task) {
  return TakesDevices(task) ? task.gpus.Least() : std::max(1, task.cpus);
}

// The place of a task in the queue: smaller goes first.
struct QueuePlace {
  int64_t rank = 0;  // minus its priority
  TaskId id;
  auto operator<=>(const QueuePlace&) const = default;
};
inline QueuePlace PlaceOf(const ReadyTask& task) {
  return {-static_cast<int64_t>(task.priority), task.id};
}

// How long others have started before a task that was ready.
struct PassedBy {
  int64_t starts = 0;
  std::optional<Time> since;
};

// The tasks of one need, in order.
class Line {
 public:
  struct Waiting {
    const ReadyTask* task = nullptr;
    int64_t stamp = 0;  // starts that had passed this line when the task came
  };
  using Tasks = std::map<QueuePlace, Waiting>;

  const Tasks& tasks() const { return tasks_; }
  // Of the one that has waited longest among those at `from` or behind. Whoever of a line is passed over, it
  // is the head of the line that must get devices first; so this is the wait that counts.
  PassedBy Passed(QueuePlace from) const;

 private:
  friend class ReadyQueue;
  void Insert(const ReadyTask& task);
  void Erase(QueuePlace place);
  void Pass(Time now, int starts);
  bool IsStale(const std::pair<int64_t, QueuePlace>& age) const;

  Tasks tasks_;
  std::deque<std::pair<int64_t, QueuePlace>> ages_;  // stamps in order of arrival; some have left meanwhile
  int64_t starts_ = 0;                               // that have passed this line
  std::deque<std::pair<int64_t, Time>> history_;     // `starts_` and when, thinned out
};

class ReadyQueue {
 public:
  void Insert(const ReadyTask& task);
  void Erase(TaskId id);
  const ReadyTask* Find(TaskId id) const;
  // `starts` tasks behind this one have started on what it needs. Counts for all of its line.
  void MarkPassedOver(TaskId id, Time now, int starts);
  size_t size() const { return tasks_.size(); }
  bool Contains(TaskId id) const { return tasks_.count(id) != 0; }

  // By the fewest devices that would do, and by cores for tasks that take none. No line is empty.
  const std::map<int, Line>& device_lines() const { return device_lines_; }
  const std::map<int, Line>& core_lines() const { return core_lines_; }
  // How many go before it.
  int64_t CountAhead(QueuePlace place) const { return static_cast<int64_t>(order_.order_of_key(place)); }

 private:
  std::map<int, Line>& LinesOf(const ReadyTask& task) {
    return TakesDevices(task) ? device_lines_ : core_lines_;
  }

  std::unordered_map<TaskId, ReadyTask> tasks_;
  std::map<int, Line> device_lines_, core_lines_;
  __gnu_pbds::tree<QueuePlace, __gnu_pbds::null_type, std::less<QueuePlace>, __gnu_pbds::rb_tree_tag,
                   __gnu_pbds::tree_order_statistics_node_update>
      order_;
};

}  // namespace ty
