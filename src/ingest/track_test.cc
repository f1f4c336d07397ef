#include "ingest/track.h"

#include <gtest/gtest.h>

namespace ty {
namespace {

const Time kStart = FromNanos(1'764'000'000'000'000'000);

Progress At(double done, double total = 100, std::string unit = "step") {
  return {done, total, std::move(unit), "training"};
}

// What is told `since` after the newest step, in seconds; -1: nothing.
double Left(const Track& track, Time now, double left, Duration since = {}) {
  const std::optional<Pace> pace = track.Tell(now);
  return pace ? std::chrono::duration<double>(TimeLeft(*pace, left, since)).count() : -1;
}

TEST(Track, TellsTheTimeLeftFromAnEvenPace) {
  Track track;
  for (int i = 0; i <= 40; ++i) track.See(kStart + seconds(3 * i), At(i));
  EXPECT_NEAR(Left(track, kStart + seconds(120), 60), 180, 0.01);
  EXPECT_NEAR(Left(track, kStart + seconds(120), 60, seconds(2)), 178, 0.01);
  EXPECT_EQ(Left(track, kStart + seconds(120), 0), 0);
}

TEST(Track, TellsNothingBeforeThereIsEnough) {
  Track track;
  EXPECT_EQ(track.Tell(kStart), std::nullopt);
  track.See(kStart, At(5));
  EXPECT_EQ(track.Tell(kStart + hours(1)), std::nullopt);
  for (int i = 1; i <= 9; ++i) track.See(kStart + seconds(i), At(5 + i));
  EXPECT_EQ(track.Tell(kStart + seconds(9)), std::nullopt);
  track.See(kStart + seconds(10), At(15));
  EXPECT_NE(track.Tell(kStart + seconds(10)), std::nullopt);
}

TEST(Track, TwoEpochsFarApartAreEnough) {
  Track track;
  track.See(kStart, At(1, 10, "epoch"));
  track.See(kStart + seconds(30), At(2, 10, "epoch"));
  EXPECT_EQ(track.Tell(kStart + seconds(30)), std::nullopt);
  Track slow;
  slow.See(kStart, At(1, 10, "epoch"));
  slow.See(kStart + hours(1), At(2, 10, "epoch"));
  EXPECT_NEAR(Left(slow, kStart + hours(1), 8), 8 * 3600, 0.1);
}

TEST(Track, WhatWasDoneBeforeAResumeIsNoSpeed) {
  Track track;
  for (int i = 0; i <= 20; ++i) track.See(kStart + seconds(i), At(5000 + i, 6000));
  EXPECT_NEAR(Left(track, kStart + seconds(20), 980), 980, 0.1);
}

TEST(Track, ManyStepsOfOneLookAreOnePoint) {
  Track track;  // read at once, as a log whose times nobody knows
  for (int i = 1; i <= 5000; ++i) track.See(kStart, At(i, 10'000));
  EXPECT_EQ(track.Tell(kStart + seconds(1)), std::nullopt);
  for (int i = 1; i <= 20; ++i) track.See(kStart + seconds(i), At(5000 + i, 10'000));
  EXPECT_NEAR(Left(track, kStart + seconds(20), 4980), 4980, 0.1);
}

TEST(Track, LoadingAndCompilingAreLeftBehind) {
  Track track;
  track.See(kStart, At(0, 1000));
  for (int i = 1; i <= 90; ++i) track.See(kStart + seconds(60 + i), At(i, 1000));
  EXPECT_NEAR(Left(track, kStart + seconds(150), 910), 910, 20);
}

TEST(Track, TheRecentSpeedCounts) {
  Track track;
  double done = 0;
  Time now = kStart;
  for (int i = 0; i < 3600; ++i) track.See(now += seconds(1), At(++done, 100'000));
  for (int i = 0; i < 360; ++i) track.See(now += seconds(10), At(++done, 100'000));
  EXPECT_NEAR(Left(track, now, 1000), 10'000, 100);
}

TEST(Track, ALongTrainingIsRememberedInLittleRoomAndStillTold) {
  Track track;
  Time now = kStart;
  for (int i = 0; i < 200'000; ++i) track.See(now += seconds(4), At(i, 1'000'000));
  EXPECT_NEAR(Left(track, now, 800'000), 3'200'000, 1000);
}

TEST(Track, TurnsOfSharersCountAsTheTimeTheyTake) {
  Track track;  // half a minute each
  Time now = kStart;
  double done = 0;
  for (int turn = 0; turn < 40; ++turn) {
    for (int i = 0; i < 30; ++i) track.See(now += seconds(1), At(++done, 100'000));
    now += seconds(30);
  }
  EXPECT_NEAR(Left(track, now, 1000), 2000, 250);
}

TEST(Track, AnotherMeasureBeginsAnew) {
  Track track;
  for (int i = 0; i <= 60; ++i) track.See(kStart + seconds(i), At(i, 100, "item"));
  track.See(kStart + seconds(61), At(1, 50, "epoch"));
  EXPECT_EQ(track.Tell(kStart + seconds(61)), std::nullopt);
  Track again;  // the bar of the next epoch
  for (int i = 0; i <= 100; ++i) again.See(kStart + seconds(i), At(i));
  again.See(kStart + seconds(101), At(0));
  EXPECT_EQ(again.Tell(kStart + seconds(101)), std::nullopt);
  for (int i = 1; i <= 20; ++i) again.See(kStart + seconds(101 + 2 * i), At(i));
  EXPECT_NEAR(Left(again, kStart + seconds(141), 80), 160, 0.1);
}

TEST(Track, AClockSetBackBeginsAnewAndWritersMayOvertakeOneAnother) {
  Track track;
  for (int i = 0; i <= 60; ++i) track.See(kStart + seconds(i), At(i));
  track.See(kStart + seconds(58), At(61));
  EXPECT_NE(track.Tell(kStart + seconds(60)), std::nullopt);
  track.See(kStart - hours(1), At(62));
  EXPECT_EQ(track.Tell(kStart - hours(1)), std::nullopt);
}

TEST(Track, AStepThatComesLateSlowsThePaceDown) {
  Track track;
  for (int i = 0; i <= 60; ++i) track.See(kStart + seconds(i), At(i));
  const Time now = kStart + seconds(60);
  const double then = Left(track, now, 40, seconds(1));
  EXPECT_LT(then, Left(track, now, 40));
  EXPECT_GT(Left(track, now, 40, minutes(1)), then + 30);
  EXPECT_GT(Left(track, now, 40, hours(10)), Left(track, now, 40, hours(1)));
}

TEST(Track, AnEstimateBeyondAllYearsIsStillATime) {
  const Pace pace{hours(10'000), 1e-9, seconds(1), {}};
  EXPECT_GT(TimeLeft(pace, 1e12, {}), hours(24 * 365));
}

}  // namespace
}  // namespace ty
