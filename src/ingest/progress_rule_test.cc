#include "ingest/progress_rule.h"

#include <gtest/gtest.h>

#include "wire/metric_line.h"

namespace ty {
namespace {

// What stands as progress after these lines: "3/20 epoch".
std::string After(std::initializer_list<const char*> lines) {
  ProgressRule rule;
  for (std::string_view line : lines) {
    const std::optional<ProgressReading> reading = ReadProgress(line);
    if (reading) rule.See(*reading, !ReadMetrics(line, true).empty());
  }
  if (!rule.now()) return "-";
  char text[100];
  std::snprintf(text, sizeof text, "%g/%g %s", rule.now()->done, rule.now()->total.value_or(-1),
                rule.now()->unit.c_str());
  return text;
}

TEST(ProgressRule, EpochsWinOverStepsAndBars) {
  EXPECT_EQ(After({"step 40/200", "epoch 3/20 loss=0.5", "12/100"}), "3/20 epoch");
  EXPECT_EQ(After({"epoch 3/20 loss=0.5", "step 40/200"}), "3/20 epoch")
      << "after an epoch's result its bar is another's";
}

TEST(ProgressRule, ABarInsideAnEpochMovesItsFraction) {
  EXPECT_EQ(After({"Epoch 3/10"}), "3/10 epoch");
  EXPECT_EQ(After({"Epoch 3/10", "120/480"}), "2.25/10 epoch") << "the headline came at the start";
  EXPECT_EQ(After({"Epoch 3/10", "480/480", "Epoch 4/10"}), "3/10 epoch") << "learned: a headline is a start";
  EXPECT_EQ(After({"Epoch 3/10", "480/480", "1/10 "}), "3/10 epoch") << "a second bar takes nothing back";
  EXPECT_EQ(After({"Epoch 10/10", "480/480", "Epoch 10/10 loss=0.1"}), "10/10 epoch");
  EXPECT_EQ(After({"Epoch 3/20:  45%|####5     | 45/100 [00:10<00:12, 4.4it/s]"}), "2.45/20 epoch");
}

TEST(ProgressRule, CountsFromZeroWhereTheLogDoes) {
  EXPECT_EQ(After({"Epoch 0/10 loss=1"}), "1/10 epoch");
  EXPECT_EQ(After({"Epoch 0/10", "50/100"}), "0.5/10 epoch");
  EXPECT_EQ(After({"Epoch 0/10 loss=1", "Epoch 1/10", "50/100"}), "1.5/10 epoch");
}

TEST(ProgressRule, AnEpochBarCountsFinishedEpochs) {
  EXPECT_EQ(
      After({"Epochs:  45%|####  | 9/20 [00:10<00:12, 1.2s/it]", "50%|##  | 5/10 [00:01<00:01, 1.2it/s]"}),
      "9.5/20 epoch");
}

TEST(ProgressRule, TheOuterBarOfTwoWins) {
  EXPECT_EQ(After({"  0%|  | 0/5 [00:00<?, ?it/s]", " 50%|# | 50/100 [00:01<00:01, 9it/s]",
                   "100%|##| 100/100 [00:01<00:00, 9it/s]", " 20%|# | 1/5 [00:01<00:04, 1it/s]",
                   " 10%|# | 10/100 [00:01<00:01, 9it/s]"}),
            "1/5 step");
}

TEST(ProgressRule, ABarThatIsFullMakesRoom) {
  EXPECT_EQ(After({"100%|##| 2/2 [00:01<00:00, 9it/s]", " 10%|# | 10/100 [00:01<00:01, 9it/s]"}),
            "10/100 step");
}

TEST(ProgressRule, ABarThatStandsStillWhileAnotherComesRoundIsDead) {
  EXPECT_EQ(After({" 20%|# | 1/5 [00:01<00:04, 1it/s]", "100%|##| 99/99 [00:01<00:00, 9it/s]",
                   "  1%|  | 1/99 [00:01<00:00, 9it/s]"}),
            "1/99 step");
}

TEST(ProgressRule, EvaluationsAndDownloadsMoveNothing) {
  EXPECT_EQ(After({"step 40/200", "eval:  63% 63/100 [00:07<00:04, 8.51it/s]",
                   "model.bin: 24%|# | 1.2G/4.9G [00:11<00:36, 104MB/s]"}),
            "40/200 step");
  EXPECT_EQ(After({"eval:  63% 63/100 [00:07<00:04, 8.51it/s]"}), "-");
}

TEST(ProgressRule, AFractionAloneIsBetterThanACount) {
  EXPECT_EQ(After({"step 7"}), "7/-1 step");
  EXPECT_EQ(After({"step 7", "12/100"}), "12/100 step");
  EXPECT_EQ(After({"12/100", "step 7"}), "12/100 step");
}

TEST(ProgressRule, TheHelperIsBelievedAlone) {
  ProgressRule rule;
  rule.SeeHelper(Progress{40, 200.0, "step", "training"});
  rule.See(*ReadProgress("epoch 3/20"), true);
  EXPECT_EQ(rule.now()->done, 40);
}

}  // namespace
}  // namespace ty
