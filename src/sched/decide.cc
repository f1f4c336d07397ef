// Who starts now. One walk over the heads of the lines in the order of the queue: what is free only shrinks
// in a pass, so a line whose head does not fit is done with, and a pass costs what it starts plus one look a
// line.
#include <algorithm>
#include <queue>

#include "msg/start.h"
#include "sched/pass.h"
#include "sched/sched.h"

namespace ty {

namespace {

// A line, and how far the walk has come in it.
struct Cursor {
  const Line* line = nullptr;
  bool cores = false;
  int need = 0;
  Line::Tasks::const_iterator at;
};

class Pass {
 public:
  Pass(const View& view, Time now) : view_(view), now_(now), room_(RoomIn(view)) {}

  Decisions Run() {
    Open(view_.ready.core_lines(), true);
    Open(view_.ready.device_lines(), false);
    while (!heads_.empty() && (room_.devices > 0 || room_.cores > 0)) {
      const int line = heads_.top().second;
      heads_.pop();
      Serve(cursors_[line], line);
    }
    CountPassedOver(view_.ready.core_lines(), on_cores_);
    CountPassedOver(view_.ready.device_lines(), on_devices_);
    return std::move(out_);
  }

 private:
  void Open(const std::map<int, Line>& lines, bool cores) {
    if ((cores ? room_.cores : room_.devices) <= 0) return;  // nobody there can start: not even a look
    for (const auto& [need, line] : lines) {
      heads_.emplace(line.tasks().begin()->first, static_cast<int>(cursors_.size()));
      cursors_.push_back({&line, cores, need, line.tasks().begin()});
    }
  }

  // The head of a line is the next in the order of the queue.
  void Serve(Cursor& cursor, int line) {
    const ReadyTask& head = *cursor.at->second.task;
    if (cursor.need > (cursor.cores ? room_.cores : room_.devices)) {  // the line is done with
      if (IsOwed(cursor.line->Passed(cursor.at->first), now_)) KeepFor(head, room_);
      return;
    }
    Start(head);
    if (++cursor.at != cursor.line->tasks().end()) heads_.emplace(cursor.at->first, line);
  }

  void Start(const ReadyTask& task) {
    Decision decision{task.id, {}, {}};
    const int count = DevicesFor(task, room_);
    decision.devices.reserve(count);
    std::string names;
    while (static_cast<int>(decision.devices.size()) < count) {
      const DeviceRow& device = view_.devices[next_device_];
      if (IsFree(device)) {
        decision.devices.push_back(static_cast<int>(next_device_));
        if (!names.empty()) names += ", ";
        names += device.id;
      }
      ++next_device_;
    }
    if (count > 0) {
      room_.devices -= count;
      decision.reason = msg::StartDevices{.devices = std::move(names)};
    } else {
      room_.cores -= NeedOf(task);
      decision.reason = msg::StartCores{.cores = NeedOf(task)};
    }
    (count > 0 ? on_devices_ : on_cores_).push_back(PlaceOf(task));
    out_.starts.push_back(std::move(decision));
  }

  // Only who takes the same kind of thing passes a task over: no task on cores ever kept a device from
  // anybody.
  void CountPassedOver(const std::map<int, Line>& lines, const std::vector<QueuePlace>& started) {
    if (started.empty()) return;
    for (const auto& [need, line] : lines) {
      if (started.back() < line.tasks().begin()->first) continue;
      auto head = line.tasks().begin();
      while (head != line.tasks().end() && std::binary_search(started.begin(), started.end(), head->first))
        ++head;
      if (head == line.tasks().end()) continue;
      const auto behind = started.end() - std::upper_bound(started.begin(), started.end(), head->first);
      if (behind > 0) out_.passed_over.push_back({head->first.id, static_cast<int>(behind)});
    }
  }
  const View& view_;
  const Time now_;
  Room room_;
  size_t next_device_ = 0;
  std::vector<Cursor> cursors_;
  using Head = std::pair<QueuePlace, int>;  // and the line it heads
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
  std::vector<QueuePlace> on_devices_, on_cores_;  // started, ascending as the walk goes
  Decisions out_;
};

}  // namespace

Decisions Decide(const View& view, Time now) {
  if (view.paused || view.ready.size() == 0) return {};
  return Pass(view, now).Run();
}

}  // namespace ty
