// ReadyQueue keeps the tasks that may start now, ordered by priority (larger first), then place, then id.
// Besides the one order there is a line for each need (so many devices at least, of such memory, whole or
// such a part of them; or so many cores): what decides whether a task fits is its need alone, so the
// scheduler asks at most one question a line, however many tasks wait and however different they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

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
  DeviceWish wish;    // with a whole share when the task must be alone
  int64_t place = 0;  // within its priority
};
// The row of a task as the queue takes it: one that must be alone wants whole devices, whatever it asked for.
ReadyTask ReadyOf(const Task& task);

// A task with a device or without one is one or the other: zero stands alone (DeviceCounts::Parse).
inline bool TakesDevices(const ReadyTask& task) {
  return task.gpus.Least() > 0;
}

// All that decides whether a task fits.
struct Need {
  int count = 1;  // the fewest devices that would do; cores of a task that takes none
  int milli = kWholeDevice;
  ShareMode mode = ShareMode::kWhole;
  bool exclusive = false;
  int64_t memory = 0;
  auto operator<=>(const Need&) const = default;
};
Need NeedOf(const ReadyTask& task);

// The place of a task in the queue: smaller goes first.
struct QueuePlace {
  int64_t rank = 0;  // minus its priority
  int64_t place = 0;
  TaskId id;
  auto operator<=>(const QueuePlace&) const = default;
};
inline QueuePlace PlaceOf(const ReadyTask& task) {
  return {-static_cast<int64_t>(task.priority), task.place, task.id};
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
  using Age = std::pair<int64_t, QueuePlace>;
  void Insert(const ReadyTask& task);
  void Erase(QueuePlace place);
  void Pass(Time now, int starts);
  bool IsStale(const Age& age) const;

  Tasks tasks_;
  std::vector<Age> ages_;  // stamps in order of arrival, from first_age_ on; some have left meanwhile
  size_t first_age_ = 0;   // those before it are done with
  int64_t starts_ = 0;     // that have passed this line
  std::vector<std::pair<int64_t, Time>> history_;  // `starts_` and when, thinned out
  size_t face_ = 0;                                // its index among the faces of the queue
};

// What a pass sees of a line before it opens it. All of them lie side by side, so that looking once at each
// of a hundred thousand is cheap.
struct LineFace {
  Need need;
  QueuePlace head;  // of its first task
  const Line* line = nullptr;
  std::optional<Time> passed_since;  // nobody of the line has been passed over for longer
  int64_t passed_starts = 0;         // nor more often
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

  // One for each need, in no order; tasks that take devices, and those that take none. No line is empty.
  const std::vector<LineFace>& device_lines() const { return devices_.faces; }
  const std::vector<LineFace>& core_lines() const { return cores_.faces; }
  // How many go before it.
  int64_t CountAhead(QueuePlace place) const { return static_cast<int64_t>(order_.order_of_key(place)); }

 private:
  struct Lines {
    std::map<Need, Line> by_need;
    std::vector<LineFace> faces;
  };
  Lines& LinesOf(const ReadyTask& task) { return TakesDevices(task) ? devices_ : cores_; }

  std::unordered_map<TaskId, ReadyTask> tasks_;
  Lines devices_, cores_;
  __gnu_pbds::tree<QueuePlace, __gnu_pbds::null_type, std::less<QueuePlace>, __gnu_pbds::rb_tree_tag,
                   __gnu_pbds::tree_order_statistics_node_update>
      order_;
};

}  // namespace ty
