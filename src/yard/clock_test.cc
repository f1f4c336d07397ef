// Somebody sets the wall clock while tasks wait and run.
#include <gtest/gtest.h>

#include "testing/yard_harness.h"

namespace ty {
namespace {

constexpr Duration kDay = hours(24);
constexpr Duration kYear = 365 * kDay;

void SetWall(YardHarness& yard, Duration ahead) {
  yard.inbox->Post(ClockSet{ahead});
  yard.Settle();
}

TaskSpec Retried() {
  TaskSpec spec = Spec({"a"});
  spec.retry.max = 3;
  spec.retry.on = RetryPolicy::On::kAny;
  return spec;
}

TEST(YardClock, ARetryComesAfterItsDelayWhenTheClockIsSetBackByAYear) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Retried());
  yard.Begin(task);
  yard.Exit(task, 1);
  SetWall(yard, -kYear);
  EXPECT_EQ(yard.WhyId(task), "why.retry_at");
  yard.Pass(seconds(11));
  EXPECT_EQ(yard.RecordOf(task).task.attempts, 2);
}

TEST(YardClock, ARetryComesNoEarlierWhenTheClockIsSetOnByADay) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Retried());
  yard.Begin(task);
  yard.Exit(task, 1);
  SetWall(yard, kDay);
  EXPECT_EQ(yard.RecordOf(task).task.attempts, 1);
  yard.Pass(seconds(11));
  EXPECT_EQ(yard.RecordOf(task).task.attempts, 2);
}

TEST(YardClock, TheDelayOfARetryIsKeptRightForTheNextDaemon) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Retried());
  yard.Begin(task);
  yard.Exit(task, 1);
  const Time due = *yard.RecordOf(task).task.not_before;
  SetWall(yard, -kDay);
  EXPECT_EQ(*yard.RecordOf(task).task.not_before, due - kDay);
}

TEST(YardClock, ABeginningWaitsUntilTheWallShowsItThoughTheClockWasSetBack) {
  YardHarness yard;
  TaskSpec spec = Spec({"a"});
  spec.begin = yard.now + hours(1);
  const TaskId task = yard.MustSubmit(spec);
  SetWall(yard, -kDay);
  yard.Pass(hours(2));
  EXPECT_FALSE(yard.Launched(task));
  EXPECT_EQ(yard.WhyId(task), "why.begin");
  yard.Pass(kDay);
  EXPECT_TRUE(yard.Launched(task));
}

TEST(YardClock, ABeginningComesAtOnceWhenTheClockIsSetPastIt) {
  YardHarness yard;
  TaskSpec spec = Spec({"a"});
  spec.begin = yard.now + hours(1);
  const TaskId task = yard.MustSubmit(spec);
  SetWall(yard, kDay);
  EXPECT_TRUE(yard.Launched(task));
}

TEST(YardClock, ATaskThatWasDueWaitsAgainWhenTheClockGoesBackBeforeItsBeginning) {
  YardHarness yard(1);
  const TaskId first = yard.MustSubmit(Spec({"a"}));
  TaskSpec spec = Spec({"b"});
  spec.begin = yard.now + hours(1);
  const TaskId second = yard.MustSubmit(spec);
  yard.Pass(hours(2));
  SetWall(yard, -kDay);
  yard.Begin(first);
  yard.Exit(first, 0);
  EXPECT_FALSE(yard.Launched(second));
  EXPECT_EQ(yard.WhyId(second), "why.begin");
}

TEST(YardClock, NothingEndsBeforeItBegan) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  SetWall(yard, -kYear);
  yard.News(task, AttemptLost{AttemptLost::Why::kShimDied});
  const TaskRecord record = yard.RecordOf(task);
  ASSERT_EQ(record.attempts.size(), 1u);
  EXPECT_GE(*record.attempts[0].ended, *record.attempts[0].started);
}

TEST(YardClock, EventsCarryTheTimeOfTheWall) {
  YardHarness yard;
  const Time before = yard.now;
  SetWall(yard, kDay);
  yard.MustSubmit(Spec({"a"}));
  EXPECT_GT(yard.Events().back().at, before + kDay);
}

TEST(YardClock, ADeviceHeldUntilAnHourIsFreeWhenTheWallShowsIt) {
  YardHarness yard(1);
  yard.inbox->Post(ActOnDevices{DeviceVerb::kHold, {"cpu:0"}, yard.now + hours(1), [](auto) {}});
  yard.Settle();
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  SetWall(yard, -kDay);
  yard.Pass(hours(2));
  EXPECT_FALSE(yard.Launched(task));
  SetWall(yard, Duration{});
  EXPECT_TRUE(yard.Launched(task));
}

TEST(YardClock, TurnsGoOnWhenTheClockIsSet) {
  for (const Duration by : {-kYear, kYear}) {
    YardHarness yard(1);
    TaskSpec spec = Spec({"a"});
    spec.wish.share = Share{500, ShareMode::kTurns, seconds(3)};
    const TaskId first = yard.MustSubmit(spec), second = yard.MustSubmit(spec);
    yard.Begin(first);
    yard.Begin(second);
    yard.Obey();
    const bool frozen = yard.IsFrozen(yard.AttemptOf(first));
    EXPECT_NE(frozen, yard.IsFrozen(yard.AttemptOf(second)));
    SetWall(yard, by);
    yard.Pass(seconds(4));
    yard.Obey();
    EXPECT_NE(yard.IsFrozen(yard.AttemptOf(first)), frozen);
  }
}

}  // namespace
}  // namespace ty
