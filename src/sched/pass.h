// What Decide and Explain share, so that the reason given is the rule applied.
#pragma once

#include <algorithm>

#include "sched/sched.h"

namespace ty {

constexpr Duration kPassedLongest = minutes(10);
constexpr int64_t kPassedMost = 50;

// What is there to give out, and what there would be if nobody held any.
struct Room {
  int devices = 0, cores = 0;
  int usable = 0, all_cores = 0;
};

inline bool IsFree(const DeviceRow& device) {
  return device.usable && !device.holder;
}

inline Room RoomIn(const View& view) {
  Room room;
  room.all_cores = view.cores;
  room.cores = view.cores - view.cores_used;
  for (const DeviceRow& device : view.devices) {
    room.usable += device.usable;
    room.devices += IsFree(device);
  }
  return room;
}

// Whether freed devices are to be kept for the head of a line.
inline bool IsOwed(const PassedBy& passed, Time now) {
  return passed.since && (passed.starts >= kPassedMost || now - *passed.since >= kPassedLongest);
}

// The most of its counts that is free.
inline int DevicesFor(const ReadyTask& task, const Room& room) {
  int best = task.gpus.Least();
  for (int count : task.gpus.counts) {
    if (count <= room.devices) best = count;
  }
  return best;
}

// Takes what it needs, as far as it is free, out of the room. Not when the need is more than works now: a
// broken device would hold up the whole yard. Returns whether it did.
inline bool KeepFor(const ReadyTask& task, Room& room) {
  const bool devices = TakesDevices(task);
  const int need = NeedOf(task);
  if (need > (devices ? room.usable : room.all_cores)) return false;
  int& left = devices ? room.devices : room.cores;
  left -= std::min(left, need);
  return true;
}

}  // namespace ty
