#include "ingest/progress_rule.h"

#include <algorithm>

namespace ty {

namespace {

using Kind = ProgressReading::Kind;

constexpr int kHelper = 6, kEpochs = 5;

int RankOf(const ProgressReading& reading) {
  if (!reading.total) return reading.kind == Kind::kEpoch ? 1 : 0;
  switch (reading.kind) {
    case Kind::kEpoch:
      return kEpochs;
    case Kind::kBar:
    case Kind::kStep:
      return 3;
    case Kind::kPlain:
      return 2;
  }
  return 0;
}

// A bar keeps its words and its total while its numbers run: "Epoch 2" and "Epoch 3" are the same bar.
std::string SourceOf(const ProgressReading& reading) {
  std::string source = std::to_string(static_cast<int>(reading.kind)) + ":";
  for (char c : reading.label) {
    if (c < '0' || c > '9') source += c;
  }
  if (reading.total) source += "/" + std::to_string(*reading.total);
  return source;
}

}  // namespace

void ProgressRule::SeeHelper(Progress progress) {
  rank_ = kHelper;
  now_ = std::move(progress);
}

void ProgressRule::Set(double done, const ProgressReading& reading) {
  Progress progress;
  progress.done = done;
  progress.total = reading.total;
  progress.unit = reading.unit;
  progress.phase = reading.label.empty() ? "training" : reading.label;
  now_ = std::move(progress);
}

void ProgressRule::See(const ProgressReading& reading, bool with_metrics) {
  if (reading.side || rank_ == kHelper) return;
  if (reading.weak && !with_metrics) return;
  const int rank = RankOf(reading);
  if (rank == kEpochs) return SeeEpoch(reading, with_metrics);
  if (rank_ == kEpochs) {
    if (reading.total && *reading.total > 0) SeeInside(reading.done / *reading.total);
    return;
  }
  SeeSource(reading, rank);
}

void ProgressRule::SeeEpoch(const ProgressReading& reading, bool with_metrics) {
  if (rank_ < kEpochs) rank_ = kEpochs;
  if (reading.done == 0 && !reading.counted) from_zero_ = true;
  const bool same = now_ && epoch_ == reading.done && open_;
  epoch_ = reading.done;
  base_ = reading.counted || from_zero_ ? epoch_ : std::max(0.0, epoch_ - 1);
  if (!same) inside_ = 0;
  Set(epoch_, reading);
  if (reading.inside) {
    open_ = true;
    SeeInside(*reading.inside);
  } else if (with_metrics && !reading.counted) {
    open_ = false;  // its result: it is over
    if (from_zero_) now_->done = std::min(epoch_ + 1, reading.total.value_or(epoch_ + 1));
  } else {
    open_ = true;
    if (heads_ || reading.counted) now_->done = base_ + inside_;
  }
}

bool ProgressRule::SeeInside(double fraction) {
  if (!open_) return false;
  heads_ = true;
  inside_ =
      std::max(inside_, std::clamp(fraction, 0.0, 1.0));  // a second bar in one epoch does not take it back
  now_->done = base_ + inside_;
  if (now_->total) now_->done = std::min(now_->done, *now_->total);
  return true;
}

void ProgressRule::SeeSource(const ProgressReading& reading, int rank) {
  if (rank < rank_) return;
  const std::string source = SourceOf(reading);
  if (rank > rank_ || source_.empty() || source == source_) {
    if (source == source_ && now_ && now_->done == reading.done) return;
    rank_ = rank;
    source_ = source;
    other_ = {};
    return Set(reading.done, reading);
  }
  const bool full = now_->total && now_->done >= *now_->total;
  const bool again = source == other_.source && other_.full && reading.done < other_.done;
  if (full || again) {
    source_ = source;
    other_ = {};
    return Set(reading.done, reading);
  }
  if (source != other_.source) other_ = {source, 0, false};
  other_.done = reading.done;
  if (reading.total && reading.done >= *reading.total) other_.full = true;
}

}  // namespace ty
