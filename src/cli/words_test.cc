// How people name tasks and times.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include "cli/begin.h"
#include "cli/select.h"

namespace ty {
namespace {

using Words = std::vector<std::string>;

TEST(Selection, RangesAreWrittenOutAndEveryTaskCountsOnce) {
  EXPECT_EQ(*SpreadRanges({"3-6", "5", "@last", "digits-2", "12"}),
            (Words{"3", "4", "5", "6", "@last", "digits-2", "12"}));
  EXPECT_EQ(*SpreadRanges({"7-7"}), Words{"7"});
}

TEST(Selection, BackwardAndEndlessRangesAreRefused) {
  EXPECT_EQ(SpreadRanges({"9-3"}).error().message.id, "cli.range_backwards");
  EXPECT_EQ(SpreadRanges({"1-999999999"}).error().message.id, "cli.range_long");
}

TEST(Selection, ADotChoosesTheRun) {
  EXPECT_EQ(ChooseAttempt("12.2").task, "12");
  EXPECT_EQ(ChooseAttempt("12.2").attempt, 2);
  EXPECT_EQ(ChooseAttempt("12").attempt, 0);
  EXPECT_EQ(ChooseAttempt("lr-0.1").task, "lr-0.1");
  EXPECT_EQ(ChooseAttempt("12.0").attempt, 0);
}

TEST(Selection, AfterTakesATaskAndWhatEndItNeeds) {
  EXPECT_EQ(ParseAfter("12")->on, "ok");
  EXPECT_EQ(ParseAfter("12:any")->on, "any");
  EXPECT_EQ(ParseAfter("prepare:fail")->task, "prepare");
  EXPECT_EQ(ParseAfter("@last")->task, "@last");
  EXPECT_EQ(ParseAfter("12:some").error().field, "/after");
  EXPECT_FALSE(ParseAfter(":any"));
  EXPECT_FALSE(ParseAfter(""));
}

class Begin : public ::testing::Test {
 protected:
  Begin() {
    setenv("TZ", "Asia/Shanghai", 1);
    tzset();
  }
  ~Begin() override {
    unsetenv("TZ");
    tzset();
  }
  static Time At(const char* iso) { return *ParseIso(iso); }
  static std::string Of(std::string_view text, const char* now = "2026-11-30T09:00:00Z") {
    auto begin = ParseBegin(text, At(now));
    return begin ? FormatIso(*begin) : begin.error().message.id;
  }
};

TEST_F(Begin, AClockTimeIsTheNextOneHere) {
  EXPECT_EQ(Of("22:00"), "2026-11-30T14:00:00.000Z");  // it is 17:00
  EXPECT_EQ(Of("16:30"), "2026-12-01T08:30:00.000Z");  // tomorrow
  EXPECT_EQ(Of("17:00"), "2026-12-01T09:00:00.000Z");  // just now is tomorrow
  EXPECT_EQ(Of("17:00:01"), "2026-11-30T09:00:01.000Z");
}

TEST_F(Begin, APlusIsFromNow) {
  EXPECT_EQ(Of("+30m"), "2026-11-30T09:30:00.000Z");
  EXPECT_EQ(Of("+1h30m"), "2026-11-30T10:30:00.000Z");
}

TEST_F(Begin, DatesAreLocalUnlessTheySayTheirZone) {
  EXPECT_EQ(Of("2026-12-24"), "2026-12-23T16:00:00.000Z");
  EXPECT_EQ(Of("2026-12-24T08:00"), "2026-12-24T00:00:00.000Z");
  EXPECT_EQ(Of("2026-12-24 08:00:05"), "2026-12-24T00:00:05.000Z");
  EXPECT_EQ(Of("2026-12-24T08:00:00Z"), "2026-12-24T08:00:00.000Z");
}

TEST_F(Begin, WhatIsNoTimeIsRefused) {
  for (const char* text :
       {"", "25:00", "22:60", "22", "noon", "+", "+x", "2026-02-30", "2026-13-01", "22:00pm", "-5m"})
    EXPECT_EQ(Of(text), "cli.begin") << text;
}

}  // namespace
}  // namespace ty
