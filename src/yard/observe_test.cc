#include <gtest/gtest.h>

#include "testing/yard_harness.h"

namespace ty {
namespace {

Progress Epochs(double done, std::optional<double> total = 50) {
  return {done, total, "epoch", "training"};
}

TEST(Observe, TellsTheTimeLeftFromThePaceOfTheNewestSteps) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"python3", "train.py"}));
  yard.Begin(task);
  yard.See(task, Epochs(3));
  EXPECT_EQ(yard.yard->Describe(task)->time_left, std::nullopt);
  yard.See(task, Epochs(10), Pace{seconds(60), 6, seconds(10), seconds(4)});
  EXPECT_EQ(yard.yard->Describe(task)->time_left, seconds(40 * 10 - 4));
  yard.Pass(seconds(3));
  EXPECT_EQ(yard.yard->Describe(task)->time_left, seconds(40 * 10 - 7));
}

TEST(Observe, TellsNoTimeWhenThePaceIsNoLongerKnownOrThereIsNoTotal) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"python3", "train.py"}));
  yard.Begin(task);
  yard.See(task, Epochs(10, std::nullopt), Pace{seconds(60), 6, seconds(10), {}});
  EXPECT_EQ(yard.yard->Describe(task)->time_left, std::nullopt);
  yard.See(task, Epochs(10), Pace{seconds(60), 6, seconds(10), {}});
  EXPECT_NE(yard.yard->Describe(task)->time_left, std::nullopt);
  yard.See(task, Epochs(0));  // begun anew
  EXPECT_EQ(yard.yard->Describe(task)->time_left, std::nullopt);
}

}  // namespace
}  // namespace ty
