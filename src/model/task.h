// Task and Attempt as the Yard keeps them: narrow rows. The spec stays in the store.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/message.h"
#include "base/time.h"
#include "model/outcome.h"
#include "model/spec.h"

namespace ty {

// What a task does now. A retry that waits for its delay is Waiting with `not_before`.
struct Waiting {
  bool operator==(const Waiting&) const = default;
};
struct Starting {
  bool operator==(const Starting&) const = default;
};  // an attempt's row is on its way to the disk, or its shim has not said GO
struct Running {
  bool operator==(const Running&) const = default;
};
struct Stopping {
  bool operator==(const Stopping&) const = default;
};
struct Ended {
  bool operator==(const Ended&) const = default;
};
using TaskState = std::variant<Waiting, Starting, Running, Stopping, Ended>;

std::string_view Name(const TaskState& state);  // "waiting", "starting", "running", "stopping", "ended"
std::optional<TaskState> ParseTaskState(std::string_view name);

struct Progress {
  double done = 0;
  std::optional<double> total;
  std::string unit;   // "epoch", "step", "item"
  std::string phase;  // "training" or what the script said
  bool operator==(const Progress&) const = default;
};

// Where an attempt stands; `attempts/<ULID>/` is its folder.
enum class AttemptState : uint8_t { kStarting, kRunning, kStopping, kEnded };
std::string_view Name(AttemptState state);
std::optional<AttemptState> ParseAttemptState(std::string_view name);

// How one rank ended; neither is set when it was never started.
struct RankEnd {
  std::optional<int> exit_code, signal;
  bool operator==(const RankEnd&) const = default;
};

struct Attempt {
  Ulid uid;
  TaskId task;
  int number = 1;  // 1 for the first launch; people see "run 2 of 2"
  AttemptState state = AttemptState::kStarting;
  std::vector<std::string> devices;
  std::string boot;    // boot id of the machine when its row was made
  std::string resume;  // the checkpoint it starts from, or empty
  Time created;
  std::optional<Time> started, ended;
  std::optional<Outcome> outcome;
  Message rule;  // by which it was tried again after this one, or was not; empty when there was no question
  std::optional<Message> stop_reason;               // why we asked it to stop; set before the shim is told
  OutcomeKind stop_kind = OutcomeKind::kCancelled;  // what it ends as if that stop ends it
  std::vector<std::string> changed_code;  // files that differ from what was submitted, seen at launch
  int processes = 1;                      // ranks, when it has them
  std::vector<RankEnd> ranks;             // of an ended attempt with ranks, by rank
  // How far it came, written when it ends.
  std::optional<Progress> progress;
  std::vector<std::pair<std::string, double>>
      metrics;  // the newest value of each tag; NaN and infinities are data
  bool operator==(const Attempt&) const = default;
};

// The last checkpoint a task has written.
struct Checkpoint {
  std::string path;
  int64_t step = 0;
  int64_t bytes = 0;
  int attempt = 0;
  bool operator==(const Checkpoint&) const = default;
};

struct Task {
  TaskId id;
  Ulid uid;
  std::string name;
  TaskState state = Waiting{};
  int priority = 0;
  std::optional<int64_t> place;  // within its priority, once it was moved; see PlaceWithin
  bool held = false;
  std::optional<Message> held_reason;  // when we held it ourselves
  DeviceCounts gpus;
  int cpus = 1;        // cores counted when it takes no device
  int64_t memory = 0;  // bytes of RAM asked, 0 when not said
  DeviceWish wish;
  bool alone = false;  // it ran out of device memory beside others: from now on it gets whole devices
  std::vector<Dependency> after;
  std::optional<Time> begin;       // asked by the user
  std::optional<Time> not_before;  // delay of a retry
  Time submitted;
  std::vector<std::string> tags;
  RetryPolicy retry;
  int attempts = 0;                // launches so far
  int retries = 0;                 // counted against retry.max
  bool began_progress = false;     // the current attempt made progress or a checkpoint
  Checkpoint checkpoint;           // path empty: none
  std::optional<Outcome> outcome;  // set when Ended
  std::optional<Time> ended;
  bool operator==(const Task&) const = default;
};

// Among tasks of one priority the smaller place goes first. Who was never moved stands where its number says;
// between two numbers there is room for those that are moved there.
constexpr int64_t kPlacesPerId = int64_t{1} << 20;
inline int64_t PlaceWithin(const Task& t) {
  return t.place.value_or(t.id.value * kPlacesPerId);
}

inline bool IsWaiting(const Task& t) {
  return std::holds_alternative<Waiting>(t.state);
}
inline bool IsEnded(const Task& t) {
  return std::holds_alternative<Ended>(t.state);
}

}  // namespace ty
