#include "series/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <thread>

namespace ty {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr TaskId kTask{7};
constexpr int64_t kStart = 1'796'040'000'000;

bool Same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}
bool Same(const std::vector<Dot>& a, const std::vector<Dot>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Dot& one, const Dot& other) {
    return one.x == other.x && Same(one.y, other.y);
  });
}

FoundPoint PointAt(double step, double value, const std::string& tag = "loss") {
  return {tag, step, kStart + static_cast<int64_t>(step * 100), value, true};
}

class SeriesTest : public testing::Test {
 protected:
  SeriesTest() {
    char folder[] = "/tmp/ty_series_XXXXXX";
    home_ = mkdtemp(folder);
    Reopen();
  }
  ~SeriesTest() override {
    store_.reset();
    std::filesystem::remove_all(home_);
  }
  void Reopen() {
    store_.reset();
    store_ = OpenSeriesStore(home_);
  }
  SourcePlace Begin(int attempt = 1) {
    return store_->Begin({kTask, attempt}, FromNanos(kStart * 1'000'000));
  }
  void Append(std::vector<FoundPoint> points, int attempt = 1, int64_t place = 0) {
    store_->Append({kTask, attempt}, std::move(points), {place, 0, 0});
  }
  // Begins an attempt and gives it all of `points` in batches of some size.
  void Fill(const std::vector<FoundPoint>& points, int attempt = 1, size_t batch = 5000) {
    Begin(attempt);
    for (size_t at = 0; at < points.size(); at += batch) {
      const size_t end = std::min(points.size(), at + batch);
      Append({points.begin() + static_cast<int64_t>(at), points.begin() + static_cast<int64_t>(end)},
             attempt);
    }
  }
  PointsAnswer Ask(PointsQuery query = {}) {
    if (query.tag.empty()) query.tag = "loss";
    return store_->Points(kTask, query);
  }
  PointsPart AskOne(PointsQuery query = {}) {
    PointsAnswer answer = Ask(std::move(query));
    EXPECT_EQ(answer.parts.size(), 1u);
    return answer.parts.empty() ? PointsPart() : std::move(answer.parts[0]);
  }

  std::string home_;
  std::unique_ptr<SeriesStore> store_;
};

TEST_F(SeriesTest, GivesAllPointsOfAShortSeriesAndListsIt) {
  Fill({PointAt(0, 3), PointAt(1, kNan), PointAt(2, 1), PointAt(3, kInfinity), PointAt(4, 2)});
  for (int look = 0; look < 2; ++look) {
    const PointsPart part = AskOne();
    EXPECT_TRUE(Same(part.dots, {{0, 3}, {1, kNan}, {2, 1}, {3, kInfinity}, {4, 2}}));
    EXPECT_EQ(part.points, 5);
    EXPECT_TRUE(part.exact);
    EXPECT_EQ(part.marks, (std::vector<std::pair<double, Mark>>{{1, Mark::kNan}, {3, Mark::kPlusInfinity}}));
    EXPECT_TRUE(part.smooth.empty());
    const SeriesList list = store_->List(kTask);
    ASSERT_EQ(list.items.size(), 1u);
    EXPECT_EQ(list.version, 5);
    EXPECT_EQ(store_->Version(kTask), 5);
    const SeriesPart& listed = list.items[0].parts.at(0);
    EXPECT_EQ(list.items[0].tag, "loss");
    EXPECT_EQ(listed.points, 5);
    EXPECT_EQ(listed.first_step, 0);
    EXPECT_EQ(listed.last_step, 4);
    EXPECT_EQ(listed.last, 2);
    EXPECT_EQ(listed.least, 1);
    EXPECT_EQ(listed.most, 3);
    EXPECT_EQ(listed.nan, 1);
    EXPECT_EQ(listed.infinite, 1);
    Reopen();
  }
}

TEST_F(SeriesTest, KnowsNothingOfATaskWithoutPointsAndLeavesNoFile) {
  Begin();
  store_->End({kTask, 1});
  EXPECT_TRUE(store_->List(kTask).items.empty());
  EXPECT_FALSE(Ask().known);
  EXPECT_EQ(store_->Version(kTask), 0);
  EXPECT_TRUE(std::filesystem::is_empty(home_));
}

TEST_F(SeriesTest, VersionGrowsWithEachPointOfEveryAttempt) {
  Fill({PointAt(0, 1)});
  int64_t before = store_->Version(kTask);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    Begin(attempt);
    for (int i = 1; i <= 300; ++i) {
      Append({PointAt(i, i)}, attempt);
      EXPECT_EQ(store_->Version(kTask), ++before);
    }
  }
  Reopen();
  Begin(4);
  EXPECT_EQ(store_->Version(kTask), before) << "what is on disk counts as soon as the task is known";
}

// ---- Against brute force

struct Plain {
  std::vector<Dot> dots;
  std::vector<std::pair<double, Mark>> marks;
  int64_t points = 0;
};

int PixelOf(double x, double low, double high, int pixels) {
  const double width = high / 2 - low / 2;
  if (!(width > 0)) return 0;
  return std::clamp(static_cast<int>((x / 2 - low / 2) / width * pixels), 0, pixels - 1);
}

std::vector<Dot> InOrder(const std::vector<Dot>& dots, Axis axis) {
  std::vector<Dot> sorted = dots;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Dot& a, const Dot& b) { return a.x < b.x; });
  std::vector<Dot> kept;
  for (const Dot& dot : sorted) {
    if (axis == Axis::kStep && !kept.empty() && kept.back().x == dot.x) kept.pop_back();
    kept.push_back(dot);
  }
  return kept;
}

Plain ThinPlainly(const std::vector<Dot>& dots, double low, double high, int pixels) {
  Plain plain;
  std::vector<Dot> inside;
  std::optional<Dot> before, behind;
  for (const Dot& dot : dots) {
    if (dot.x < low) before = dot;
    if (dot.x >= low && dot.x <= high) inside.push_back(dot);
    if (dot.x > high && !behind) behind = dot;
  }
  plain.points = static_cast<int64_t>(inside.size());
  if (before) plain.dots.push_back(*before);
  const bool all = inside.size() <= 4u * static_cast<size_t>(pixels);
  for (size_t at = 0; at < inside.size();) {
    const int pixel = PixelOf(inside[at].x, low, high, pixels);
    size_t end = at;
    while (end < inside.size() && PixelOf(inside[end].x, low, high, pixels) == pixel) ++end;
    size_t least = end, most = end;
    unsigned kinds = 0;
    for (size_t i = at; i < end; ++i) {
      const double y = inside[i].y;
      if (std::isfinite(y)) {
        if (least == end || y < inside[least].y) least = i;
        if (most == end || y > inside[most].y) most = i;
        continue;
      }
      const Mark mark = std::isnan(y) ? Mark::kNan : y > 0 ? Mark::kPlusInfinity : Mark::kMinusInfinity;
      if ((kinds >> static_cast<int>(mark) & 1) == 0) plain.marks.emplace_back(inside[i].x, mark);
      kinds |= 1U << static_cast<int>(mark);
    }
    for (size_t i = at; i < end; ++i) {
      if (all || i == at || i == end - 1 || i == least || i == most) plain.dots.push_back(inside[i]);
    }
    at = end;
  }
  if (behind) plain.dots.push_back(*behind);
  return plain;
}

std::vector<Dot> SmoothPlainly(const std::vector<Dot>& dots, double weight) {
  std::vector<Dot> smooth;
  double sum = 0, weights = 0;
  for (const Dot& dot : dots) {
    if (!std::isfinite(dot.y)) continue;
    sum = weight * sum + (1 - weight) * dot.y;
    weights = weight * weights + (1 - weight);
    smooth.push_back({dot.x, sum / weights});
  }
  return smooth;
}

struct Shape {
  const char* name;
  double back;      // chance that a step goes back
  double again;     // that it is written again
  double odd;       // that a value is not finite
  double set_back;  // that the clock is set back an hour
};

class SeriesShapeTest : public SeriesTest, public testing::WithParamInterface<Shape> {};

TEST_P(SeriesShapeTest, GivesTheSameAsBruteForceAtAnyZoom) {
  const Shape shape = GetParam();
  std::mt19937_64 random(42);
  auto chance = [&](double p) { return std::uniform_real_distribution<>(0, 1)(random) < p; };
  std::vector<FoundPoint> points;
  std::vector<Dot> steps, times;
  double step = 0;
  int64_t time = kStart;
  for (int i = 0; i < 20'000; ++i) {
    if (chance(shape.back))
      step = std::max(0.0, step - 3000);
    else if (!chance(shape.again))
      step += 1 + std::floor(std::uniform_real_distribution<>(0, 1.2)(random));
    time += chance(shape.set_back) ? -3'600'000 : 90 + static_cast<int64_t>(random() % 20);
    double value = std::sin(step / 700) + std::uniform_real_distribution<>(0, 0.2)(random);
    if (chance(shape.odd)) value = std::array{kNan, kInfinity, -kInfinity}[random() % 3];
    points.push_back({"loss", step, time, value, true});
    steps.push_back({step, value});
    times.push_back({static_cast<double>(time) / 1000, value});
  }
  steps = InOrder(steps, Axis::kStep);
  times = InOrder(times, Axis::kTime);
  Fill(points, 1, 777);
  for (int round = 0; round < 60; ++round) {
    if (round == 30) Reopen();
    PointsQuery query;
    query.axis = round % 2 == 0 ? Axis::kStep : Axis::kTime;
    const std::vector<Dot>& dots = query.axis == Axis::kStep ? steps : times;
    query.pixels = static_cast<int>(10 + random() % 900);
    double low = dots.front().x, high = dots.back().x;
    if (round >= 4) {
      auto at = [&] {
        return low +
               (high - low) * std::uniform_real_distribution<>(-0.1, round % 3 == 0 ? 0.2 : 1.1)(random);
      };
      double a = at(), b = at();
      if (a > b) std::swap(a, b);
      query.from = low = a;
      query.to = high = b;
    }
    query.smooth = round % 5 == 0 ? 0.9 : 0;
    const PointsPart part = AskOne(query);
    const Plain plain = ThinPlainly(dots, low, high, query.pixels);
    EXPECT_EQ(part.points, plain.points);
    EXPECT_TRUE(Same(part.dots, plain.dots))
        << round << ": " << part.dots.size() << " and " << plain.dots.size();
    EXPECT_EQ(part.marks, plain.marks) << round;
    if (query.smooth == 0) continue;
    for (const Dot& dot : part.smooth) {
      static std::vector<Dot> whole;
      if (whole.empty() || &dot == part.smooth.data()) whole = SmoothPlainly(dots, query.smooth);
      const auto found = std::find_if(whole.begin(), whole.end(), [&](const Dot& one) {
        return one.x == dot.x && std::abs(one.y - dot.y) < 1e-9;
      });
      ASSERT_NE(found, whole.end()) << dot.x << " " << dot.y;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SeriesShapeTest,
                         testing::Values(Shape{"Rising", 0, 0, 0, 0}, Shape{"WithHoles", 0, 0, 0.3, 0},
                                         Shape{"GoingBack", 0.001, 0, 0.01, 0},
                                         Shape{"WrittenTwice", 0, 0.3, 0.01, 0},
                                         Shape{"ClockSetBack", 0, 0, 0.001, 0.0005},
                                         Shape{"AllAtOnce", 0.05, 0.2, 0.2, 0.01}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(SeriesTest, NeverLosesASpikeAtAnyZoom) {
  std::vector<FoundPoint> points;
  for (int i = 0; i < 100'000; ++i)
    points.push_back(PointAt(i, i == 71'234 ? 1e6 : i == 12'345 ? -1e6 : 0.5));
  Fill(points);
  for (const int pixels : {10, 100, 800, 8000}) {
    for (double half = 100'000; half > 1; half /= 3) {
      PointsQuery query;
      query.pixels = pixels;
      query.from = 71'234 - half;
      query.to = 71'234 + half / 2;
      const PointsPart part = AskOne(query);
      EXPECT_NE(std::find(part.dots.begin(), part.dots.end(), Dot{71'234, 1e6}), part.dots.end()) << half;
      EXPECT_LE(part.dots.size(), 4u * static_cast<size_t>(pixels) + 2);
    }
  }
}

// ---- Smoothing

TEST_F(SeriesTest, SmoothingOfTheFirstPointsDoesNotDependOnHowManyFollow) {
  std::mt19937 random(1);
  std::vector<FoundPoint> points;
  for (int i = 0; i < 100'000; ++i)
    points.push_back(PointAt(i, std::uniform_real_distribution<>(0, 1)(random)));
  Begin();
  Append({points.begin(), points.begin() + 10'000});
  PointsQuery query;
  query.smooth = 0.97;
  query.pixels = 8000;
  query.from = 0;
  query.to = 9998;
  const std::vector<Dot> early = AskOne(query).smooth;
  Append({points.begin() + 10'000, points.end()});
  EXPECT_EQ(AskOne(query).smooth, early);
  Reopen();
  EXPECT_EQ(AskOne(query).smooth, early);
  EXPECT_EQ(early.size(), 10'000u);
}

TEST_F(SeriesTest, AConstantStaysConstantHoweverItIsSmoothed) {
  std::vector<FoundPoint> points;
  for (int i = 0; i < 5000; ++i) points.push_back(PointAt(i, 1e-4));
  Fill(points);
  for (const double weight : {0.2, 0.6, 0.999}) {
    PointsQuery query;
    query.smooth = weight;
    for (const Dot& dot : AskOne(query).smooth) EXPECT_EQ(dot.y, 1e-4);
  }
}

TEST_F(SeriesTest, SmoothingPassesOverWhatIsNotFinite) {
  Fill({PointAt(0, 2), PointAt(1, kNan), PointAt(2, kInfinity), PointAt(3, 2), PointAt(4, -kInfinity)});
  PointsQuery query;
  query.smooth = 0.5;
  EXPECT_EQ(AskOne(query).smooth, (std::vector<Dot>{{0, 2}, {3, 2}}));
}

TEST_F(SeriesTest, SmoothingGoesOnAsPointsCome) {
  std::vector<Dot> dots;
  Begin();
  PointsQuery query;
  query.smooth = 0.9;
  query.pixels = 8000;
  for (int round = 0; round < 20; ++round) {
    std::vector<FoundPoint> points;
    for (int i = 0; i < 150; ++i) {
      const double step = round * 150 + i;
      points.push_back(PointAt(step, std::cos(step / 9)));
      dots.push_back({step, std::cos(step / 9)});
    }
    Append(std::move(points));
    const std::vector<Dot> smooth = AskOne(query).smooth, expected = SmoothPlainly(dots, 0.9);
    ASSERT_EQ(smooth.size(), expected.size());
    for (size_t i = 0; i < smooth.size(); ++i) ASSERT_NEAR(smooth[i].y, expected[i].y, 1e-12);
  }
}

// ---- Steps, times, attempts

TEST_F(SeriesTest, OfAStepThatWasWrittenTwiceTheLastValueCounts) {
  Fill({PointAt(1, 1), PointAt(2, 2), PointAt(2, 3), PointAt(3, 4), PointAt(2, 5)});
  EXPECT_EQ(AskOne().dots, (std::vector<Dot>{{1, 1}, {2, 5}, {3, 4}}));
  PointsQuery query;
  query.axis = Axis::kTime;
  EXPECT_EQ(AskOne(query).dots.size(), 5u) << "in time they are all there";
  EXPECT_EQ(store_->List(kTask).items[0].parts[0].points, 5);
}

TEST_F(SeriesTest, StepsThatGoBackAreKeptAndPutInOrder) {
  std::vector<FoundPoint> points;
  for (int i = 0; i < 1000; ++i) points.push_back(PointAt(i, 1));
  for (int i = 600; i < 1200; ++i) points.push_back(PointAt(i, 2));
  Fill(points);
  const PointsPart part = AskOne();
  ASSERT_EQ(part.dots.size(), 1200u);
  for (int i = 0; i < 1200; ++i)
    EXPECT_EQ(part.dots[static_cast<size_t>(i)], (Dot{static_cast<double>(i), i < 600 ? 1.0 : 2.0}));
  // And what comes later joins.
  Append({PointAt(1200, 3), PointAt(0, 9)});
  EXPECT_EQ(AskOne().dots.front(), (Dot{0, 9}));
  EXPECT_EQ(AskOne().dots.back(), (Dot{1200, 3}));
}

TEST_F(SeriesTest, AttemptsThatOverlapAreBothThere) {
  std::vector<FoundPoint> first, second;
  for (int i = 0; i <= 150; ++i) first.push_back(PointAt(i, 1));
  for (int i = 100; i <= 200; ++i) second.push_back(PointAt(i, 2));
  Fill(first, 1);
  Fill(second, 2);
  for (int look = 0; look < 2; ++look) {
    PointsQuery query;
    query.from = 120;
    query.to = 180;
    const PointsAnswer answer = Ask(query);
    ASSERT_EQ(answer.parts.size(), 2u);
    EXPECT_EQ(answer.parts[0].attempt, 1);
    EXPECT_EQ(answer.parts[0].points, 31);
    EXPECT_EQ(answer.parts[0].dots.front(), (Dot{119, 1}))
        << "one beyond the edge, so that the line reaches it";
    EXPECT_EQ(answer.parts[0].dots.back(), (Dot{150, 1}));
    EXPECT_EQ(answer.parts[1].points, 61);
    EXPECT_EQ(answer.parts[1].dots.front(), (Dot{119, 2}));
    EXPECT_EQ(answer.parts[1].dots.back(), (Dot{181, 2}));
    Reopen();
  }
}

TEST_F(SeriesTest, ElapsedTimeNeverGoesBackWhenTheClockDoes) {
  std::vector<FoundPoint> points;
  for (int i = 0; i < 100; ++i)
    points.push_back({"loss", static_cast<double>(i), kStart + i * 1000, 1, true});
  for (int i = 100; i < 200; ++i)
    points.push_back({"loss", static_cast<double>(i), kStart + i * 1000 - 3'600'000, 2, true});
  Begin();
  Append({points.begin(), points.begin() + 150});
  Reopen();
  Begin();
  Append({points.begin() + 150, points.end()});
  PointsQuery query;
  query.axis = Axis::kElapsed;
  const std::vector<Dot> dots = AskOne(query).dots;
  ASSERT_EQ(dots.size(), 200u);
  EXPECT_EQ(dots.front().x, 0);
  EXPECT_TRUE(std::is_sorted(dots.begin(), dots.end(), [](const Dot& a, const Dot& b) { return a.x < b.x; }));
  EXPECT_NEAR(dots.back().x, 199, 1.1);
  query.axis = Axis::kTime;
  EXPECT_EQ(AskOne(query).dots.back().x, static_cast<double>(kStart) / 1000 + 99) << "seconds since 1970";
}

TEST_F(SeriesTest, WhatTheHelperSaysHidesWhatWasGuessedFromTheLog) {
  FoundPoint guessed = PointAt(1, 5);
  guessed.said = false;
  FoundPoint other = guessed;
  other.tag = "other";
  Fill({guessed, other});
  EXPECT_EQ(store_->List(kTask).items.size(), 2u);
  Append({PointAt(1, 7)});
  for (int look = 0; look < 2; ++look) {
    EXPECT_EQ(AskOne().dots, (std::vector<Dot>{{1, 7}}));
    EXPECT_EQ(store_->List(kTask).items.size(), 1u);
    Reopen();
  }
}

TEST_F(SeriesTest, SurvivesTheLargestNumbers) {
  const double most = std::numeric_limits<double>::max();
  Fill({PointAt(0, most), PointAt(1, -most), PointAt(2, most)});
  Append({{"wide", -most, kStart, 1, true}, {"wide", most, kStart, 2, true}});
  PointsQuery query;
  query.smooth = 0.5;
  for (const Dot& dot : AskOne(query).smooth) EXPECT_TRUE(std::isfinite(dot.y));
  query.tag = "wide";
  EXPECT_EQ(AskOne(query).dots.size(), 2u);
  query.from = -most;
  query.to = most;
  EXPECT_EQ(AskOne(query).dots.size(), 2u);
}

TEST_F(SeriesTest, AnEmptyRangeHasTheDotsOnEitherSide) {
  Fill({PointAt(0, 1), PointAt(100, 2)});
  PointsQuery query;
  query.from = 40;
  query.to = 60;
  const PointsPart part = AskOne(query);
  EXPECT_EQ(part.points, 0);
  EXPECT_EQ(part.dots, (std::vector<Dot>{{0, 1}, {100, 2}}));
  query.from = query.to = 100;
  EXPECT_EQ(AskOne(query).points, 1);
  query.from = 500;
  query.to = 600;
  EXPECT_EQ(AskOne(query).dots, (std::vector<Dot>{{100, 2}}));
}

// ---- Many and hostile tags

size_t OpenFiles() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST_F(SeriesTest, TenThousandHostileTagsMakeNoFilesAndOpenNone) {
  const size_t before = OpenFiles();
  Begin();
  std::vector<std::string> tags = {
      "../../etc/passwd",    "/", "..", ".", "a\nb", std::string("nul\0x", 5), "损失", "\xff\xfe",
      std::string(4000, 'x')};
  while (tags.size() < 10'000) tags.push_back("layer/" + std::to_string(tags.size()) + "/norm");
  for (int step = 0; step < 300; step += 100) {
    std::vector<FoundPoint> points;
    for (int i = step; i < step + 100; ++i) {
      for (size_t tag = 0; tag < (i < 280 ? 10u : tags.size()); ++tag)
        points.push_back(PointAt(i, i, tags[tag]));
    }
    Append(std::move(points));
  }
  Append({PointAt(0, 0, "one too many")});
  EXPECT_EQ(OpenFiles(), before);
  Reopen();
  const SeriesList list = store_->List(kTask);
  EXPECT_EQ(list.items.size(), 10'000u);
  for (const std::string& tag : {tags[0], tags[5], tags[8], tags[9'999]}) {
    PointsQuery query;
    query.tag = tag;
    EXPECT_EQ(AskOne(query).dots.back(), (Dot{299, 299}));
  }
  EXPECT_EQ(OpenFiles(), before);
  std::vector<std::string> files;
  for (const auto& one : std::filesystem::recursive_directory_iterator(home_)) {
    if (one.is_regular_file()) files.push_back(std::filesystem::relative(one.path(), home_));
  }
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<std::string>{"series/7/1.chunks", "series/7/1.heads", "series/7/1.journal"}));
}

TEST_F(SeriesTest, ReadersAndAWriterDoNotHurtEachOther) {
  Begin();
  std::vector<int64_t> seen;
  std::atomic<int> answered = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<FoundPoint> points;
    for (int i = 0; i < 100; ++i) points.push_back(PointAt(round * 100 + i, i));
    Append(std::move(points));
    store_->Post([&] {
      PointsQuery query{.tag = "loss", .pixels = 50, .smooth = 0.5};
      const PointsAnswer answer = store_->Points(kTask, query);
      seen.push_back(answer.parts.at(0).points);
      ++answered;
    });
  }
  while (answered < 200) std::this_thread::yield();
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 20'000);
}

}  // namespace
}  // namespace ty
