// Ingest follows the files of running attempts: log, metrics.jsonl, checkpoints.jsonl. What it understands
// comes back as Observation through the callback given at construction, from ingest's own thread; every point
// of a metric goes to the SeriesSink, once, also when the files are read anew by another daemon. It never
// changes a file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "ingest/track.h"
#include "model/task.h"
#include "series/sink.h"

namespace ty {

struct Followed {
  Ulid attempt;
  TaskId task;
  int number = 1;
  std::string log;  // path
  std::string
      out_folder;  // metrics.jsonl and checkpoints.jsonl of all attempts of the task; only `number` counts
  Time started;    // of the attempt
  std::optional<Checkpoint> known;  // the last checkpoint already taken in: up to it none is reported again
};

struct Observation {
  Ulid attempt;
  std::optional<Progress> progress;  // the newest
  std::optional<Pace> pace;          // comes with it, or after it, when it can be told
  std::vector<std::pair<std::string, double>>
      metrics;                          // the newest value of each tag; NaN and infinities are data
  std::vector<Checkpoint> checkpoints;  // new ones, in order
  int64_t unreadable = 0;               // lines of the helper's files that were skipped, so far
};

// What the end of a log shows, for triage and for people.
struct LogTail {
  std::vector<std::string> lines;   // the last 15 as a terminal would show them (carriage returns applied)
  std::string exception;            // last line of the last Python traceback, "OSError: …"; or empty
  std::vector<std::string> errors;  // other lines that triage may know, newest first, at most 50
};

class Ingest {
 public:
  virtual ~Ingest() = default;
  virtual void Follow(Followed attempt) = 0;  // one that is followed already goes on as it was
  // Reads what is left, reports a last Observation, then `done` with the tail of `tail_of` (the log of the
  // rank that failed; empty: the log that was followed); the attempt is forgotten.
  virtual void Finish(Ulid attempt, std::string tail_of, std::function<void(LogTail)> done) = 0;
};

// `sink` outlives it and is used on its thread; without one, points are not kept.
std::unique_ptr<Ingest> MakeIngest(std::function<void(Observation)> observe, SeriesSink* sink = nullptr);

// The tail of any log, read now on the caller's thread (constant memory).
LogTail ReadLogTail(const std::string& path);

}  // namespace ty
