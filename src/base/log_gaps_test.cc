#include "base/log_gaps.h"

#include <gtest/gtest.h>

namespace ty {
namespace {

constexpr LogGap kOld = {8 << 20, 20 << 20, LogGap::Why::kDiskFull};
constexpr LogGap kWider = {8 << 20, 90 << 20, LogGap::Why::kLimit};

TEST(LogGaps, ALaterRecordThatCoversAnEarlierOneTakesItsPlaceAndSaysWhy) {
  EXPECT_EQ(DecodeGaps(EncodeGap(kOld)), LogGaps{kOld});
  EXPECT_EQ(DecodeGaps(EncodeGap(kOld) + EncodeGap(kWider)), LogGaps{kWider});
}

TEST(LogGaps, TouchingOnesBecomeOneAndOthersStayApartInOrder) {
  const LogGap far = {500, 600}, low = {100, 200}, touching = {200, 300}, bridge = {150, 550};
  EXPECT_EQ(DecodeGaps(EncodeGap(far) + EncodeGap(low)), (LogGaps{low, far}));
  EXPECT_EQ(DecodeGaps(EncodeGap(low) + EncodeGap(touching)), (LogGaps{{100, 300}}));
  EXPECT_EQ(DecodeGaps(EncodeGap(far) + EncodeGap(low) + EncodeGap(bridge)), (LogGaps{{100, 600}}));
}

TEST(LogGaps, HalfARecordAndWhatIsNoneArePassedOver) {
  EXPECT_EQ(DecodeGaps(EncodeGap(kOld) + EncodeGap(kWider).substr(0, 11)), LogGaps{kOld});
  EXPECT_TRUE(DecodeGaps(std::string(16, '\0')).empty());
  EXPECT_TRUE(DecodeGaps(std::string(16, '\xff')).empty());
  EXPECT_TRUE(DecodeGaps(EncodeGap({20, 10})).empty());
}

TEST(LogGaps, AHeaderSaysAllOfThemAndIsReadBack) {
  const LogGaps gaps = {{100, 200, LogGap::Why::kDiskFull}, {500, 600, LogGap::Why::kLimit}};
  EXPECT_EQ(GapsText(gaps), "100-200:disk, 500-600:limit");
  EXPECT_EQ(ParseGaps(GapsText(gaps)), gaps);
  EXPECT_TRUE(ParseGaps("").empty());
  EXPECT_EQ(ParseGaps("x-3:disk, 1:2-3, 5-7, 7-9:disk"), (LogGaps{{7, 9}}));
}

TEST(LogGaps, AnOffsetFindsTheGapItIsInOrTheNext) {
  const LogGaps gaps = {{100, 200}, {500, 600}};
  for (const auto& [offset, from] : {std::pair(0, 100), {100, 100}, {199, 100}, {200, 500}, {599, 500}}) {
    ASSERT_NE(GapFrom(gaps, offset), nullptr);
    EXPECT_EQ(GapFrom(gaps, offset)->from, from) << offset;
  }
  EXPECT_EQ(GapFrom(gaps, 600), nullptr);
}

}  // namespace
}  // namespace ty
