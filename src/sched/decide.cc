// Who starts now. One walk over the heads of the lines in the order of the queue: what is free only shrinks
// in a pass, so a line whose head does not fit is done with, and a pass costs what it starts plus one look a
// line.
#include <algorithm>

#include "msg/start.h"
#include "sched/room.h"
#include "sched/sched.h"

namespace ty {

namespace {

// A line, and how far the walk has come in it.
struct Cursor {
  const LineFace* face = nullptr;
  Line::Tasks::const_iterator at;  // once opened
  bool cores = false;
  bool opened = false;
  bool fitted = false;  // when the walk came by last
};

class Pass {
 public:
  Pass(const View& view, Time now) : view_(view), now_(now), room_(view) {}

  Decisions Run() {
    if (room_.cores() > 0) LookAt(view_.ready.core_lines(), true);
    if (room_.AnyDevice()) LookAt(view_.ready.device_lines(), false);
    std::make_heap(heads_.begin(), heads_.end(), std::greater<>());
    // What is kept for those who do not fit matters only to those behind who do.
    while (fitting_ > 0 && (room_.AnyDevice() || room_.cores() > 0)) {
      std::pop_heap(heads_.begin(), heads_.end(), std::greater<>());
      const int line = heads_.back().second;
      heads_.pop_back();
      Serve(cursors_[line], line);
      if (missed_ > 64 + heads_.size() / 32) Sweep();
    }
    CountPassedOver(view_.ready.core_lines(), on_cores_);
    CountPassedOver(view_.ready.device_lines(), on_devices_);
    return std::move(out_);
  }

 private:
  void LookAt(const std::vector<LineFace>& lines, bool cores) {
    for (const LineFace& face : lines) {
      const bool fits = Fits(face.need, cores);
      if (!fits && !MayBeOwed(face, now_)) continue;
      fitting_ += fits;
      heads_.emplace_back(face.head, static_cast<int>(cursors_.size()));
      cursors_.push_back({&face, {}, cores, false, fits});
    }
  }

  // When one start leaves many thousands of lines without, they are not taken out one by one.
  void Sweep() {
    missed_ = 0;
    std::erase_if(heads_, [this](const Head& head) {
      const Cursor& cursor = cursors_[head.second];
      if (MayBeOwed(*cursor.face, now_) || Fits(cursor.face->need, cursor.cores)) return false;
      fitting_ -= cursor.fitted;
      return true;
    });
    std::make_heap(heads_.begin(), heads_.end(), std::greater<>());
  }

  bool Fits(const Need& need, bool cores) { return cores ? need.count <= room_.cores() : room_.Fits(need); }

  // The head of a line is the next in the order of the queue.
  void Serve(Cursor& cursor, int line) {
    const Need& need = cursor.face->need;
    const Line::Tasks& tasks = cursor.face->line->tasks();
    if (!cursor.opened) cursor.at = tasks.begin();
    cursor.opened = true;
    fitting_ -= cursor.fitted;
    if (!Fits(need, cursor.cores)) {  // the line is done with
      ++missed_;
      if (kept_ < kKeptMost && IsOwed(cursor.face->line->Passed(cursor.at->first), now_))
        kept_ += cursor.cores ? room_.KeepCores(need.count) : room_.KeepFor(need);
      return;
    }
    const ReadyTask& head = *cursor.at->second.task;
    cursor.cores ? StartOnCores(head, need) : StartOnDevices(head, need);
    if (++cursor.at == tasks.end()) return;
    cursor.fitted = true;  // as its elder did: worth another look
    ++fitting_;
    heads_.emplace_back(cursor.at->first, line);
    std::push_heap(heads_.begin(), heads_.end(), std::greater<>());
  }

  void StartOnCores(const ReadyTask& task, const Need& need) {
    room_.TakeCores(need.count);
    on_cores_.push_back(PlaceOf(task));
    out_.starts.push_back({task.id, {}, {}, msg::StartCores{.cores = need.count}});
  }

  void StartOnDevices(const ReadyTask& task, const Need& need) {
    // The most of its counts that fits.
    int count = need.count;
    if (task.gpus.counts.size() > 1) {
      const int fitting = room_.Fitting(need, task.gpus.Most());
      for (int other : task.gpus.counts) {
        if (other <= fitting) count = other;
      }
    }
    Decision decision{task.id, room_.Take(need, count), task.wish.share, {}};
    std::string names;
    for (int device : decision.devices) {
      if (!names.empty()) names += ", ";
      names += view_.devices[device].label;
    }
    decision.reason = msg::StartDevices{.devices = std::move(names)};
    on_devices_.push_back(PlaceOf(task));
    out_.starts.push_back(std::move(decision));
  }

  // Only who takes the same kind of thing passes a task over: no task on cores ever kept a device from
  // anybody.
  void CountPassedOver(const std::vector<LineFace>& lines, const std::vector<QueuePlace>& started) {
    if (started.empty()) return;
    for (const LineFace& face : lines) {
      if (started.back() < face.head) continue;
      // The first of the line that did not start; as a rule its head, and no look into the line is needed.
      QueuePlace place = face.head;
      auto behind = std::lower_bound(started.begin(), started.end(), place);
      if (*behind == place) {
        const Line::Tasks& tasks = face.line->tasks();
        auto left = tasks.begin();
        while (left != tasks.end() && std::binary_search(behind, started.end(), left->first)) ++left;
        if (left == tasks.end()) continue;
        place = left->first;
        behind = std::upper_bound(behind, started.end(), place);
      }
      if (behind != started.end())
        out_.passed_over.push_back({place.id, static_cast<int>(started.end() - behind)});
    }
  }

  const View& view_;
  const Time now_;
  Room room_;
  std::vector<Cursor> cursors_;
  using Head = std::pair<QueuePlace, int>;  // and the line it heads
  std::vector<Head> heads_;                 // a heap, the first of the queue on top
  int fitting_ = 0;                         // heads that fitted when last looked at
  size_t missed_ = 0;                       // heads that did not fit in their turn, since the last sweep
  int kept_ = 0;                            // needs that something is kept for
  std::vector<QueuePlace> on_devices_, on_cores_;  // started, ascending as the walk goes
  Decisions out_;
};

}  // namespace

Decisions Decide(const View& view, Time now) {
  if (view.paused || view.ready.size() == 0) return {};
  return Pass(view, now).Run();
}

}  // namespace ty
