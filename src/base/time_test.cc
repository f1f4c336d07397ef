#include "base/time.h"

#include <gtest/gtest.h>

namespace ty {
namespace {

TEST(Iso, IsWrittenInUtcWithMilliseconds) {
  EXPECT_EQ(FormatIso(FromNanos(0)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatIso(FromNanos(1'796'029'947'123'999'999)), "2026-11-30T09:12:27.123Z");
  EXPECT_EQ(FormatIso(FromNanos(-1)), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(FormatIso(FromNanos(951'782'400'000'000'000)), "2000-02-29T00:00:00.000Z");
}

TEST(Iso, ReadsBackWhatItWrote) {
  for (int64_t day = -40'000; day < 100'000; day += 17) {
    Time time = FromNanos(day * 86'400'000'000'000 + 12'345'678'000'000);
    ASSERT_EQ(ParseIso(FormatIso(time)), time) << FormatIso(time);
  }
}

TEST(Iso, ReadsZonesAndFractions) {
  Time noon = *ParseIso("2026-11-30T12:00:00Z");
  EXPECT_EQ(ParseIso("2026-11-30T20:00:00+08:00"), noon);
  EXPECT_EQ(ParseIso("2026-11-30T06:30:00-0530"), noon);
  EXPECT_EQ(ParseIso("2026-11-30T12:00Z"), noon);
  EXPECT_EQ(ParseIso("2026-11-30t12:00:00.5z"), noon + milliseconds(500));
  EXPECT_EQ(ParseIso("2026-11-30T12:00:00.123456789012Z"), noon + Duration(123'456'789));
}

TEST(Iso, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2026-11-30", "2026-11-30T12:00:00", "2026-11-30 12:00:00Z", "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2026-11-30T24:00:00Z", "2026-11-30T12:60:00Z", "2026-11-30T12:00:60Z",
        "2026-11-30T12:00:00.Z", "2026-11-30T12:00:00Zx", "2026-11-30T12:00:00+8", "0001-01-01T00:00:00Z",
        "9999-01-01T00:00:00Z", "tomorrow"})
    EXPECT_FALSE(ParseIso(text)) << text;
}

TEST(Durations, AreReadInEveryCustomaryForm) {
  EXPECT_EQ(ParseDuration("90m"), minutes(90));
  EXPECT_EQ(ParseDuration("1h30m"), minutes(90));
  EXPECT_EQ(ParseDuration("1 h 30 min"), minutes(90));
  EXPECT_EQ(ParseDuration("45s"), seconds(45));
  EXPECT_EQ(ParseDuration("250ms"), milliseconds(250));
  EXPECT_EQ(ParseDuration("2d"), hours(48));
  EXPECT_EQ(ParseDuration("1w"), hours(168));
  EXPECT_EQ(ParseDuration("1.5h"), minutes(90));
  EXPECT_EQ(ParseDuration("0.000000001s"), Duration(1));
  EXPECT_EQ(ParseDuration("0"), Duration(0));
  EXPECT_EQ(ParseDuration("90"), seconds(90));
  EXPECT_EQ(ParseDuration("02:30:00"), minutes(150));
  EXPECT_EQ(ParseDuration("100:00:00"), hours(100));
  EXPECT_EQ(ParseDuration("1-12:00:00"), hours(36));
  EXPECT_EQ(ParseDuration("1-12:30"), hours(36) + minutes(30));
  EXPECT_EQ(ParseDuration("1-12"), hours(36));
}

TEST(Durations, ThatMakeNoSenseAreRefused) {
  for (const char* text : {"",
                           "m",
                           "-5",
                           "-5m",
                           "5x",
                           "5m5m",
                           "30m1h",
                           "1h-30m",
                           "22:00",
                           "1:60:00",
                           "1-24:00:00",
                           "1-1:2:3:4",
                           "1::2",
                           "1.h",
                           ".5h",
                           "1e3",
                           "ten",
                           "300000d",
                           "99999999999999999999",
                           "5 m "
                           "x"})
    EXPECT_FALSE(ParseDuration(text)) << text;
}

}  // namespace
}  // namespace ty
