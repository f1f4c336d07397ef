// Thin chooses the dots of a range that a chart of so many pixels needs: the first, least, largest and last
// of each pixel (M4), so that the line drawn is the same as with all of them. Private to series.
#pragma once

#include "series/curve.h"

namespace ty {

struct Grid {
  double low = 0, high = 0;
  int pixels = 1;
  int At(double x) const;
};
struct Span {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};
// The dots whose x is from `low` to `high`.
Span Find(Curve& curve, double low, double high);

bool AllFit(const Span& span, const Grid& grid);
// With one dot beyond either end, where there is one.
std::vector<Dot> Thin(Curve& curve, const Span& span, const Grid& grid);
// Values that are not finite, one of each kind a pixel.
std::vector<std::pair<double, Mark>> FindMarks(Curve& curve, const Span& span, const Grid& grid);

}  // namespace ty
