// Curve is a sequence of dots in order of x, in pieces of at most 256. What a piece looks like is known
// without reading it. Private to series.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "posix/fd.h"
#include "series/attempt_series.h"

namespace ty {

struct Piece {
  uint32_t count = 0;
  uint16_t nan = 0, plus = 0, minus = 0;
  Dot first, last;
  Dot least, most;  // of the finite ones; y is NaN when there is none

  bool all_finite() const { return nan == 0 && plus == 0 && minus == 0; }
};
Piece PieceOf(const std::vector<Dot>& dots, size_t begin, size_t end);

class Curve {
 public:
  virtual ~Curve() = default;
  const std::vector<Piece>& pieces() const { return pieces_; }
  size_t size() const { return pieces_.empty() ? 0 : (pieces_.size() - 1) * kChunk + pieces_.back().count; }
  // Its dots; false when they cannot be read.
  virtual bool Read(size_t piece, std::vector<Dot>& dots) = 0;

 protected:
  std::vector<Piece> pieces_;  // all but the last are full
};

// One series along one axis as it was at some moment, in the order of its coming.
struct Snapshot {
  int attempt = 1;
  uint32_t series = 0;
  std::string chunks;  // path
  std::vector<Head> heads;
  std::vector<uint32_t> places;
  std::vector<Sample> tail;
  bool ordered = true;
};
class RawCurve final : public Curve {
 public:
  RawCurve(Snapshot snapshot, Axis axis);
  bool Read(size_t piece, std::vector<Dot>& dots) override;

 private:
  Snapshot snapshot_;
  Axis axis_;
  UniqueFd file_;
  std::vector<double> columns_;
};

// A series whose x went back, put in order. Of steps that are equal the last one counts.
class SortedCurve final : public Curve {
 public:
  // Takes in what `raw` has more than the last time. False when all had to be done anew.
  bool Extend(Curve& raw, Axis axis);
  bool Read(size_t piece, std::vector<Dot>& dots) override;
  size_t memory() const { return dots_.capacity() * sizeof(Dot) + pieces_.capacity() * sizeof(Piece); }

 private:
  void Cut(size_t from);

  std::vector<Dot> dots_;
  size_t taken_ = 0;  // of the raw ones
};

// Exponential moving average, divided by its sum of weights. Values that are not finite do not enter it.
struct Average {
  double mean = 0, weights = 0;
  void Enter(double value, double weight);
};

// What is known of a curve's average: state before each full piece, and its looks.
struct AverageRun {
  double weight = 0;
  std::vector<Average> before;
  std::vector<Piece> pieces;
  size_t memory() const { return before.capacity() * sizeof(Average) + pieces.capacity() * sizeof(Piece); }
};

// The average of `curve`, which is NaN where the value is not finite. Both are borrowed.
class SmoothCurve final : public Curve {
 public:
  SmoothCurve(Curve& curve, AverageRun& run);
  bool Read(size_t piece, std::vector<Dot>& dots) override;

 private:
  Average Smooth(size_t piece, Average state, std::vector<Dot>& dots);

  Curve& curve_;
  AverageRun& run_;
};

}  // namespace ty
