#include "series/thin.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace ty {

namespace {

constexpr size_t kDotsPerPixel = 4;

bool Same(const Dot& a, const Dot& b) {
  return a.x == b.x && (a.y == b.y || (std::isnan(a.y) && std::isnan(b.y)));
}

// Visits the pieces of a span with the part of each that is in it.
template <class Visit>
void EachPiece(const Curve& curve, const Span& span, Visit visit) {
  for (size_t piece = span.begin / kChunk; piece < curve.pieces().size() && piece * kChunk < span.end;
       ++piece) {
    const size_t at = piece * kChunk;
    const size_t begin = std::max(span.begin, at) - at;
    const size_t end = std::min(span.end, at + curve.pieces()[piece].count) - at;
    if (begin < end) visit(piece, begin, end);
  }
}

// Of one pixel after the other.
class Pixel {
 public:
  explicit Pixel(std::vector<Dot>& dots) : dots_(dots) {}

  void See(int pixel, const Piece& piece) {
    if (pixel != pixel_ || !any_) {
      Flush();
      pixel_ = pixel;
      any_ = true;
      sum_ = piece;
      return;
    }
    sum_.last = piece.last;
    if (!(sum_.least.y <= piece.least.y) && !std::isnan(piece.least.y)) sum_.least = piece.least;
    if (!(sum_.most.y >= piece.most.y) && !std::isnan(piece.most.y)) sum_.most = piece.most;
  }
  void See(int pixel, const Dot& dot) {
    const bool finite = std::isfinite(dot.y);
    if (pixel != pixel_ || !any_) {
      Flush();
      pixel_ = pixel;
      any_ = true;
      sum_.first = sum_.last = sum_.least = sum_.most = dot;
      if (!finite) sum_.least.y = sum_.most.y = std::nan("");
      return;
    }
    sum_.last = dot;
    if (!finite) return;
    if (!(sum_.least.y <= dot.y)) sum_.least = dot;
    if (!(sum_.most.y >= dot.y)) sum_.most = dot;
  }
  void Flush() {
    if (!std::exchange(any_, false)) return;
    const bool turned = sum_.most.x < sum_.least.x;
    const Dot &one = turned ? sum_.most : sum_.least, &other = turned ? sum_.least : sum_.most;
    dots_.push_back(sum_.first);
    for (const Dot* dot : {&one, &other}) {
      if (!std::isnan(dot->y) && !Same(*dot, dots_.back()) && !Same(*dot, sum_.first) &&
          !Same(*dot, sum_.last))
        dots_.push_back(*dot);
    }
    if (!Same(sum_.last, dots_.back())) dots_.push_back(sum_.last);
  }

 private:
  std::vector<Dot>& dots_;
  bool any_ = false;
  int pixel_ = 0;
  Piece sum_;
};

}  // namespace

int Grid::At(double x) const {
  const double width = high / 2 - low / 2;  // halves: the whole may be over the largest number
  if (!(width > 0)) return 0;
  return std::clamp(static_cast<int>((x / 2 - low / 2) / width * pixels), 0, pixels - 1);
}

bool AllFit(const Span& span, const Grid& grid) {
  return span.size() <= kDotsPerPixel * static_cast<size_t>(grid.pixels);
}

Span Find(Curve& curve, double low, double high) {
  const std::vector<Piece>& pieces = curve.pieces();
  std::vector<Dot> dots;
  // The first dot for which `behind` holds, as it does for all after it.
  auto find = [&](auto behind) {
    const auto piece = std::partition_point(pieces.begin(), pieces.end(),
                                            [&](const Piece& one) { return !behind(one.last.x); });
    if (piece == pieces.end()) return curve.size();
    const auto index = static_cast<size_t>(piece - pieces.begin());
    if (behind(piece->first.x) || !curve.Read(index, dots)) return index * kChunk;
    const auto dot =
        std::partition_point(dots.begin(), dots.end(), [&](const Dot& one) { return !behind(one.x); });
    return index * kChunk + static_cast<size_t>(dot - dots.begin());
  };
  const size_t begin = find([&](double x) { return x >= low; });
  const size_t end = find([&](double x) { return x > high; });
  return {begin, std::max(begin, end)};
}

std::vector<Dot> Thin(Curve& curve, const Span& span, const Grid& grid) {
  std::vector<Dot> thin, dots;
  const bool all = AllFit(span, grid);
  thin.reserve(all ? span.size() + 2 : kDotsPerPixel * static_cast<size_t>(grid.pixels) + 2);
  auto beyond = [&](size_t index) {
    if (curve.Read(index / kChunk, dots) && index % kChunk < dots.size())
      thin.push_back(dots[index % kChunk]);
  };
  if (span.begin > 0) beyond(span.begin - 1);
  Pixel pixel(thin);
  EachPiece(curve, span, [&](size_t index, size_t begin, size_t end) {
    const Piece& piece = curve.pieces()[index];
    const int at = grid.At(piece.first.x);
    if (!all && end - begin == piece.count && at == grid.At(piece.last.x)) return pixel.See(at, piece);
    if (!curve.Read(index, dots)) return;
    for (size_t i = begin; i < std::min(end, dots.size()); ++i) {
      if (all) {
        thin.push_back(dots[i]);
      } else {
        pixel.See(grid.At(dots[i].x), dots[i]);
      }
    }
  });
  pixel.Flush();
  if (span.end < curve.size()) beyond(span.end);
  return thin;
}

std::vector<std::pair<double, Mark>> FindMarks(Curve& curve, const Span& span, const Grid& grid) {
  std::vector<std::pair<double, Mark>> marks;
  std::vector<Dot> dots;
  int pixel = -1;
  unsigned seen = 0;  // kinds in this pixel
  EachPiece(curve, span, [&](size_t index, size_t begin, size_t end) {
    const Piece& piece = curve.pieces()[index];
    if (piece.all_finite()) return;
    unsigned here = 0;
    if (piece.nan > 0) here |= 1U << static_cast<int>(Mark::kNan);
    if (piece.plus > 0) here |= 1U << static_cast<int>(Mark::kPlusInfinity);
    if (piece.minus > 0) here |= 1U << static_cast<int>(Mark::kMinusInfinity);
    const bool in_one = grid.At(piece.first.x) == pixel && grid.At(piece.last.x) == pixel;
    if (in_one && (here & ~seen) == 0) return;
    if (!curve.Read(index, dots)) return;
    for (size_t i = begin; i < std::min(end, dots.size()); ++i) {
      const double y = dots[i].y;
      if (std::isfinite(y)) continue;
      const Mark kind = std::isnan(y) ? Mark::kNan : y > 0 ? Mark::kPlusInfinity : Mark::kMinusInfinity;
      if (const int at = grid.At(dots[i].x); at != pixel) {
        pixel = at;
        seen = 0;
      }
      const unsigned bit = 1U << static_cast<int>(kind);
      if ((std::exchange(seen, seen | bit) & bit) == 0) marks.emplace_back(dots[i].x, kind);
    }
  });
  return marks;
}

}  // namespace ty
