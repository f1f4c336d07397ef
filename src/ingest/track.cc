#include "ingest/track.h"

#include <algorithm>

namespace ty {

namespace {

constexpr size_t kMostSteps = 64;
// Two steps far apart tell as much as three that are near.
constexpr auto kEnoughForThree = seconds(10), kEnoughForTwo = seconds(60);
constexpr auto kDisorder = seconds(60);  // writers that overtake one another; more is a clock set back

// The later half of a short time leaves out what a start costs: loading, compiling. Of a long one the last
// quarter is recent, and still has several epochs with their evaluations in it, or turns of sharers.
Duration WindowOf(Duration elapsed) {
  constexpr Duration kLeast = minutes(5);
  return elapsed < 2 * kLeast ? elapsed / 2 : std::max(kLeast, elapsed / 4);
}

}  // namespace

void Track::Begin(Time at, const Progress& progress) {
  unit_ = progress.unit;
  total_ = progress.total;
  gap_ = {};
  newest_ = Step{at, progress.done};
  steps_.assign(1, *newest_);
}

void Track::See(Time at, const Progress& progress) {
  if (!newest_ || progress.unit != unit_ || progress.total != total_ || progress.done < newest_->done ||
      at < newest_->at - kDisorder)
    return Begin(at, progress);
  if (progress.done == newest_->done) return;
  if (at <= newest_->at) {  // of one look: only the last counts
    if (steps_.back().at == newest_->at) steps_.back().done = progress.done;
    newest_->done = progress.done;
    return;
  }
  newest_ = Step{at, progress.done};
  if (at - steps_.back().at < gap_) return;
  steps_.push_back(*newest_);
  if (steps_.size() <= kMostSteps) return;
  for (size_t i = 0; 2 * i < steps_.size(); ++i) steps_[i] = steps_[2 * i];
  steps_.resize((steps_.size() + 1) / 2);
  gap_ = std::max<Duration>(2 * gap_, (at - steps_.front().at) / kMostSteps);
}

std::optional<Pace> Track::Tell(Time now) const {
  if (!newest_) return std::nullopt;
  const Duration elapsed = newest_->at - steps_.front().at;
  const size_t known = steps_.size() + (steps_.back().at < newest_->at ? 1 : 0);
  if (known < 2 || elapsed < (known < 3 ? Duration(kEnoughForTwo) : Duration(kEnoughForThree)))
    return std::nullopt;
  const Time from = newest_->at - WindowOf(elapsed);
  auto step = std::find_if(steps_.rbegin(), steps_.rend(), [&](const Step& one) { return one.at <= from; });
  Pace pace;
  pace.took = newest_->at - step->at;
  pace.done = newest_->done - step->done;
  pace.age = std::max(Duration::zero(), now - newest_->at);
  Time before = step->at;
  for (auto next = step.base(); next != steps_.end(); before = (next++)->at)
    pace.pause = std::max<Duration>(pace.pause, next->at - before);
  pace.pause = std::max<Duration>(pace.pause, newest_->at - before);
  return pace;
}

Duration TimeLeft(const Pace& pace, double left, Duration since) {
  const double late = std::max(0.0, std::chrono::duration<double>(since - pace.pause).count());
  const double took = std::chrono::duration<double>(pace.took).count() + late;
  const double gone = std::chrono::duration<double>(std::min(since, pace.pause)).count();
  constexpr double kMost = 1e9;  // 30 years, in seconds: far inside what a Duration holds
  const double takes = std::clamp(std::max(0.0, left) * took / pace.done - gone, 0.0, kMost);
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(takes));
}

}  // namespace ty
