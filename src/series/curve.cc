#include "series/curve.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "posix/files.h"

namespace ty {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double Scale(Axis axis) {
  return axis == Axis::kStep ? 1 : 1000;  // times are kept in milliseconds and told in seconds
}

}  // namespace

Piece PieceOf(const std::vector<Dot>& dots, size_t begin, size_t end) {
  Piece piece;
  piece.count = static_cast<uint32_t>(end - begin);
  piece.first = dots[begin];
  piece.last = dots[end - 1];
  piece.least.y = piece.most.y = kNone;
  for (size_t i = begin; i < end; ++i) {
    const double y = dots[i].y;
    if (std::isfinite(y)) {
      if (!(piece.least.y <= y)) piece.least = dots[i];
      if (!(piece.most.y >= y)) piece.most = dots[i];
    } else {
      ++(std::isnan(y) ? piece.nan : y > 0 ? piece.plus : piece.minus);
    }
  }
  return piece;
}

// ---- As it came

RawCurve::RawCurve(Snapshot snapshot, Axis axis) : snapshot_(std::move(snapshot)), axis_(axis) {
  if (!snapshot_.heads.empty()) {
    SysResult<UniqueFd> file = OpenAt(AT_FDCWD, snapshot_.chunks.c_str(), O_RDONLY | O_NOFOLLOW);
    if (file) file_ = std::move(*file);
  }
  const double scale = Scale(axis);
  pieces_.reserve(snapshot_.heads.size() + 1);
  for (const Head& head : snapshot_.heads) {
    const Extent& x = head.x[static_cast<int>(axis)];
    pieces_.push_back({kChunk,
                       head.nan,
                       head.plus,
                       head.minus,
                       {x.first / scale, head.first},
                       {x.last / scale, head.last},
                       {x.at_least / scale, head.least},
                       {x.at_most / scale, head.most}});
  }
  std::vector<Dot> dots;
  for (size_t at = 0; at < snapshot_.tail.size(); at += kChunk) {
    dots.clear();
    Read(pieces_.size(), dots);
    pieces_.push_back(PieceOf(dots, 0, dots.size()));
  }
}

bool RawCurve::Read(size_t piece, std::vector<Dot>& dots) {
  const double scale = Scale(axis_);
  const size_t sealed = snapshot_.heads.size();
  if (piece >= sealed) {
    const size_t begin = (piece - sealed) * kChunk, end = std::min(begin + kChunk, snapshot_.tail.size());
    dots.resize(end - begin);
    for (size_t i = begin; i < end; ++i)
      dots[i - begin] = {snapshot_.tail[i].At(axis_) / scale, snapshot_.tail[i].value};
    return true;
  }
  // Columns are step, value, time, elapsed: what is needed stands side by side.
  const size_t first = axis_ == Axis::kStep ? 0 : 1, count = axis_ == Axis::kElapsed ? 3 : 2;
  columns_.resize(count * kChunk);
  const size_t bytes = columns_.size() * sizeof(double);
  const int64_t at = int64_t{snapshot_.places[piece]} * int64_t{kChunkBytes} +
                     static_cast<int64_t>(first * kChunk * sizeof(double));
  if (::pread(file_.get(), columns_.data(), bytes, at) != static_cast<ssize_t>(bytes)) return false;
  const double* x = columns_.data() + (axis_ == Axis::kStep ? 0 : count - 1) * kChunk;
  const double* y = columns_.data() + (axis_ == Axis::kStep ? 1 : 0) * kChunk;
  dots.resize(kChunk);
  for (size_t i = 0; i < kChunk; ++i) dots[i] = {x[i] / scale, y[i]};
  return true;
}

// ---- Put in order

namespace {

// Merges the runs that go up already: most series have few, one more for each time they went back.
void SortByX(std::vector<Dot>& dots) {
  const auto less = [](const Dot& a, const Dot& b) { return a.x < b.x; };
  std::vector<size_t> ends;
  for (size_t i = 1; i < dots.size(); ++i) {
    if (dots[i].x < dots[i - 1].x) ends.push_back(i);
  }
  ends.push_back(dots.size());
  while (ends.size() > 1) {
    std::vector<size_t> merged;
    size_t begin = 0;
    for (size_t i = 0; i < ends.size(); i += 2) {
      const size_t end = ends[std::min(i + 1, ends.size() - 1)];
      std::inplace_merge(dots.begin() + static_cast<int64_t>(begin),
                         dots.begin() + static_cast<int64_t>(ends[i]),
                         dots.begin() + static_cast<int64_t>(end), less);
      merged.push_back(begin = end);
    }
    ends = std::move(merged);
  }
}

void KeepLastOfEqual(std::vector<Dot>& dots) {
  size_t kept = 0;
  for (size_t i = 0; i < dots.size(); ++i) {
    if (i + 1 < dots.size() && dots[i + 1].x == dots[i].x) continue;
    dots[kept++] = dots[i];
  }
  dots.resize(kept);
}

}  // namespace

bool SortedCurve::Extend(Curve& raw, Axis axis) {
  std::vector<Dot> fresh, dots;
  bool goes_on = taken_ > 0;
  auto read = [&](size_t from) {
    fresh.clear();
    fresh.reserve(raw.size() - from);
    for (size_t piece = from / kChunk; piece < raw.pieces().size(); ++piece) {
      if (!raw.Read(piece, dots)) continue;
      const size_t skipped = piece * kChunk < from ? from - piece * kChunk : 0;
      fresh.insert(fresh.end(), dots.begin() + static_cast<int64_t>(std::min(skipped, dots.size())),
                   dots.end());
    }
  };
  read(goes_on ? taken_ : 0);
  for (size_t i = 0; goes_on && i < fresh.size(); ++i) {
    const double last = i > 0           ? fresh[i - 1].x
                        : dots_.empty() ? -std::numeric_limits<double>::max()
                                        : dots_.back().x;
    goes_on = GoesUp(last, fresh[i].x, axis);
  }
  if (!goes_on) {
    if (taken_ > 0) read(0);
    dots_ = std::move(fresh);
    SortByX(dots_);
    if (axis == Axis::kStep) KeepLastOfEqual(dots_);
    Cut(0);
  } else if (!fresh.empty()) {
    const size_t from = dots_.size() / kChunk * kChunk;
    dots_.insert(dots_.end(), fresh.begin(), fresh.end());
    Cut(from);
  }
  taken_ = raw.size();
  return goes_on;
}

void SortedCurve::Cut(size_t from) {
  pieces_.resize(from / kChunk);
  for (size_t at = from; at < dots_.size(); at += kChunk)
    pieces_.push_back(PieceOf(dots_, at, std::min(at + kChunk, dots_.size())));
}

bool SortedCurve::Read(size_t piece, std::vector<Dot>& dots) {
  const auto begin = dots_.begin() + static_cast<int64_t>(piece * kChunk);
  dots.assign(begin, begin + pieces_[piece].count);
  return true;
}

// ---- Averaged

// As a step from the mean towards the value, so that the average of equal values is exactly that value.
void Average::Enter(double value, double weight) {
  weights = weight * weights + (1 - weight);
  const double part = (1 - weight) / weights;
  const double next = mean + part * (value - mean);
  mean = std::isfinite(next) ? next : mean * (1 - part) + value * part;
}

SmoothCurve::SmoothCurve(Curve& curve, AverageRun& run) : curve_(curve), run_(run) {
  const std::vector<Piece>& raw = curve.pieces();
  std::vector<Dot> dots;
  Average state;
  if (!run_.before.empty()) state = run_.before.back();
  if (run_.before.empty()) run_.before.push_back(state);
  for (size_t piece = run_.pieces.size(); piece < raw.size() && raw[piece].count == kChunk; ++piece) {
    state = Smooth(piece, state, dots);
    run_.before.push_back(state);
    run_.pieces.push_back(dots.empty() ? raw[piece] : PieceOf(dots, 0, dots.size()));
  }
  pieces_ = run_.pieces;
  for (size_t piece = pieces_.size(); piece < raw.size(); ++piece) {
    Smooth(piece, state, dots);
    pieces_.push_back(PieceOf(dots, 0, dots.size()));
  }
}

Average SmoothCurve::Smooth(size_t piece, Average state, std::vector<Dot>& dots) {
  if (!curve_.Read(piece, dots)) {
    dots.clear();
    return state;
  }
  for (Dot& dot : dots) {
    if (std::isfinite(dot.y)) {
      state.Enter(dot.y, run_.weight);
      dot.y = state.mean;
    } else {
      dot.y = kNone;
    }
  }
  return state;
}

bool SmoothCurve::Read(size_t piece, std::vector<Dot>& dots) {
  Smooth(piece, run_.before[piece], dots);
  return !dots.empty();
}

}  // namespace ty
