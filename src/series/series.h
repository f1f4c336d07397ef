// SeriesStore keeps every point of every metric, by task, tag and attempt, on disk (docs/formats/series.md),
// and answers any range of them in time that does not grow with it: chunks of 256 points have a summary each,
// and only chunks that a pixel's edge goes through are read. It has no file open between calls.
//
// Any thread may call it. Begin, Append and End are for the one thread that follows files; List and Points
// read the disk, so they are for a thread that may wait: Post has one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "series/sink.h"

namespace ty {

struct SeriesPart {
  int attempt = 1;
  int64_t points = 0;
  double first_step = 0, last_step = 0;  // least and largest
  double last = 0;                       // the newest value
  std::optional<double> least, most;     // of the finite values
  int64_t nan = 0, infinite = 0;
};
struct SeriesFacts {
  std::string tag;
  std::vector<SeriesPart> parts;  // by attempt
};
struct SeriesList {
  int64_t version = 0;
  std::vector<SeriesFacts> items;  // by tag
};

enum class Axis : uint8_t { kStep, kTime, kElapsed };

struct PointsQuery {
  std::string tag;
  Axis axis = Axis::kStep;
  std::optional<double> from, to;  // steps or seconds
  int pixels = 800;
  double smooth = 0;  // weight of the moving average; 0: none
};
struct Dot {
  double x = 0, y = 0;
  bool operator==(const Dot&) const = default;
};
enum class Mark : uint8_t { kNan = 1, kPlusInfinity = 2, kMinusInfinity = 3 };
struct PointsPart {
  int attempt = 1;
  int64_t points = 0;  // in the range
  bool exact = true;   // all of them are given
  std::vector<Dot> dots;
  std::vector<std::pair<double, Mark>> marks;
  std::vector<Dot> smooth;
};
struct PointsAnswer {
  int64_t version = 0;
  bool known = false;  // whether the task has the tag
  std::vector<PointsPart> parts;
};

class SeriesStore : public SeriesSink {
 public:
  // Grows with each point of the task. Memory alone; 0 for a task nobody has asked about since the start.
  virtual int64_t Version(TaskId task) const = 0;

  virtual SeriesList List(TaskId task) = 0;
  virtual PointsAnswer Points(TaskId task, const PointsQuery& query) = 0;

  // Runs it on a thread of the store's own, one after the other. What has not begun at the end is dropped.
  virtual void Post(std::function<void()> act) = 0;
};

// `home` is the state folder. What the store needs there is made when the first point comes.
std::unique_ptr<SeriesStore> OpenSeriesStore(std::string home);

}  // namespace ty
