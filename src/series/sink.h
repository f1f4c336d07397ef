// SeriesSink takes the points of attempts as they are found in files that grow. It also keeps how far each
// file was read, together with the points found until there: whoever reads a file anew knows which points are
// in already. Called from one thread. It never fails; what a full disk cannot take is dropped and counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace ty {

struct AttemptKey {
  TaskId task;
  int attempt = 1;
  auto operator<=>(const AttemptKey&) const = default;
};

struct FoundPoint {
  std::string tag;
  double step = 0;    // finite
  int64_t time = 0;   // wall clock, milliseconds since 1970
  double value = 0;   // NaN and infinities are values
  bool said = false;  // by the helper library, not guessed from what was printed
};

// How far the files of an attempt were read.
struct SourcePlace {
  int64_t records = 0;  // metrics.jsonl: bytes
  int64_t log = 0;      // log: bytes
  int32_t pauses = 0;   // looks at the log since then that found nothing new, at most 2
  bool operator==(const SourcePlace&) const = default;
};

class SeriesSink {
 public:
  virtual ~SeriesSink() = default;
  // Where to go on: the place given with the last points that were kept. `started` is where `elapsed` counts
  // from.
  virtual SourcePlace Begin(AttemptKey key, Time started) = 0;
  virtual void Append(AttemptKey key, std::vector<FoundPoint> points, SourcePlace upto) = 0;
  virtual void End(AttemptKey key) = 0;  // no more will come
};

}  // namespace ty
