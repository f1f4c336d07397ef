// Who starts now. One walk over the heads of the lines in the order of the queue: what is free only shrinks in a
// pass, so a line whose head does not fit is done with, and a pass costs what it starts plus one look a line.
#include <algorithm>
#include <queue>

#include "messages.h"
#include "sched/pass.h"
#include "sched/sched.h"

namespace ty {

namespace {

// A line as the walk sees it: where it stands, and who in it is owed a reservation.
struct Cursor {
  const Line* line = nullptr;
  bool cores = false;
  int need = 0;
  std::map<QueuePlace, const ReadyTask*>::const_iterator at;
};

struct Stop {  // a place in the order where something is to be decided
  QueuePlace place;
  int cursor = 0;
  bool reserve = false;  // not to start, only to keep devices for the one who stands here
  bool operator>(const Stop& other) const {
    return place != other.place ? place > other.place : reserve > other.reserve;
  }
};

class Pass {
 public:
  Pass(const View& view, Time now) : view_(view), now_(now), room_(RoomIn(view)) {}

  Decisions Run() {
    Open(view_.ready.core_lines(), true);
    Open(view_.ready.device_lines(), false);
    while (!stops_.empty() && (room_.devices > 0 || room_.cores > 0)) {
      const Stop stop = stops_.top();
      stops_.pop();
      stop.reserve ? Keep(stop) : Try(stop);
    }
    CountPassedOver();
    return std::move(out_);
  }

 private:
  void Open(const std::map<int, Line>& lines, bool cores) {
    if ((cores ? room_.cores : room_.devices) <= 0) return;  // nobody there can start: not even a look
    for (const auto& [need, line] : lines) {
      const int index = static_cast<int>(cursors_.size());
      cursors_.push_back({&line, cores, need, line.tasks.begin()});
      stops_.push({line.tasks.begin()->first, index, false});
      if (const ReadyTask* owed = FirstOwed(line, now_)) stops_.push({PlaceOf(*owed), index, true});
    }
  }

  void Try(const Stop& stop) {
    Cursor& cursor = cursors_[stop.cursor];
    if (cursor.need > (cursor.cores ? room_.cores : room_.devices)) return;  // the line is done with
    Start(*cursor.at->second);
    if (++cursor.at != cursor.line->tasks.end()) stops_.push({cursor.at->first, stop.cursor, false});
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

  void Keep(const Stop& stop) {
    const Cursor& cursor = cursors_[stop.cursor];
    if (cursor.at == cursor.line->tasks.end() || cursor.at->first > stop.place) return;  // it has started
    KeepFor(*cursor.line->tasks.at(stop.place), room_);
  }

  // Only who takes the same kind of thing passes a task over: no task on cores ever kept a device from anybody.
  void CountPassedOver() {
    CountPassedOver(view_.ready.core_lines(), on_cores_);
    CountPassedOver(view_.ready.device_lines(), on_devices_);
  }
  void CountPassedOver(const std::map<int, Line>& lines, const std::vector<QueuePlace>& started) {
    if (started.empty()) return;
    for (const auto& [need, line] : lines) {
      if (started.back() < line.tasks.begin()->first) continue;
      auto head = line.tasks.begin();
      while (head != line.tasks.end() && std::binary_search(started.begin(), started.end(), head->first)) ++head;
      if (head == line.tasks.end()) continue;
      const auto behind = started.end() - std::upper_bound(started.begin(), started.end(), head->first);
      if (behind > 0) out_.passed_over.push_back({head->first.id, static_cast<int>(behind)});
    }
  }
  const View& view_;
  const Time now_;
  Room room_;
  size_t next_device_ = 0;
  std::vector<Cursor> cursors_;
  std::priority_queue<Stop, std::vector<Stop>, std::greater<>> stops_;
  std::vector<QueuePlace> on_devices_, on_cores_;  // started, ascending as the walk goes
  Decisions out_;
};

}  // namespace

Decisions Decide(const View& view, Time now) {
  if (view.paused || view.ready.size() == 0) return {};
  return Pass(view, now).Run();
}

}  // namespace ty
