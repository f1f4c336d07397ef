// Track remembers what a training said of its progress and when, and tells how fast it goes lately. A measure
// that begins anew (another unit or total, a step back) is a track anew, so what was done before a resume is
// no speed. Pure, and of bounded size however long the training.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/task.h"

namespace ty {

// How fast it went from somewhere in the past to the newest step.
struct Pace {
  Duration took{};   // for
  double done = 0;   // so many units: above 0
  Duration pause{};  // the longest time without a step in it
  Duration age{};    // of the newest step, when this was told
  bool operator==(const Pace&) const = default;
};

// How long `left` units take from `since` after the newest step on. A step that comes later than any before
// it slows the pace down.
Duration TimeLeft(const Pace& pace, double left, Duration since);

class Track {
 public:
  // In order; `at` on a clock that goes on evenly.
  void See(Time at, const Progress& progress);
  // Nothing before there is enough to tell.
  std::optional<Pace> Tell(Time now) const;

 private:
  struct Step {
    Time at;
    double done;
  };
  void Begin(Time at, const Progress& progress);

  std::string unit_;
  std::optional<double> total_;
  std::vector<Step> steps_;  // `gap_` apart or more
  Duration gap_{};
  std::optional<Step> newest_;
};

}  // namespace ty
