#include <gtest/gtest.h>

#include "testing/yard_harness.h"

namespace ty {
namespace {

Progress Epochs(double done, std::optional<double> total = 50) {
  return {done, total, "epoch", "training"};
}

// To the second: the harness's clock goes on a little with every turn.
std::optional<seconds> LeftOf(const YardHarness& yard, TaskId task) {
  const std::optional<Duration> left = yard.yard->Describe(task)->time_left;
  if (!left) return std::nullopt;
  return std::chrono::round<seconds>(*left);
}

TEST(Observe, TellsTheTimeLeftFromThePaceOfTheNewestSteps) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"python3", "train.py"}));
  yard.Begin(task);
  yard.See(task, Epochs(3));
  EXPECT_EQ(LeftOf(yard, task), std::nullopt);
  yard.See(task, Epochs(10), Pace{seconds(60), 6, seconds(10), seconds(4)});
  EXPECT_EQ(LeftOf(yard, task), seconds(40 * 10 - 4));
  yard.Pass(seconds(3));
  EXPECT_EQ(LeftOf(yard, task), seconds(40 * 10 - 7));
}

TEST(Observe, TellsNoTimeWhenThePaceIsNoLongerKnownOrThereIsNoTotal) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"python3", "train.py"}));
  yard.Begin(task);
  yard.See(task, Epochs(10, std::nullopt), Pace{seconds(60), 6, seconds(10), {}});
  EXPECT_EQ(LeftOf(yard, task), std::nullopt);
  yard.See(task, Epochs(10), Pace{seconds(60), 6, seconds(10), {}});
  EXPECT_NE(LeftOf(yard, task), std::nullopt);
  yard.See(task, Epochs(0));  // begun anew
  EXPECT_EQ(LeftOf(yard, task), std::nullopt);
}

}  // namespace
}  // namespace ty
