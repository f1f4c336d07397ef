#include "base/ids.h"

#include <gtest/gtest.h>

#include <set>

namespace ty {
namespace {

TEST(Ulid, ReadsBackItsText) {
  Ulid ulid = Ulid::Make(FromNanos(1'796'029'947'123'000'000));
  std::string text = ulid.Text();
  EXPECT_EQ(text.size(), 26u);
  EXPECT_EQ(Ulid::Parse(text), ulid);
  for (char& c : text) c = static_cast<char>(std::tolower(c));
  EXPECT_EQ(Ulid::Parse(text), ulid);
}

TEST(Ulid, FollowsThePublishedExample) {
  // github.com/ulid/spec: 01ARYZ6S41TSV4RRFFQ69G5FAV was made at 1469918176385 ms.
  Ulid ulid = *Ulid::Parse("01ARYZ6S41TSV4RRFFQ69G5FAV");
  uint64_t millis = 0;
  for (int i = 0; i < 6; ++i) millis = millis << 8 | ulid.bytes[i];
  EXPECT_EQ(millis, 1'469'918'176'385u);
  EXPECT_EQ(ulid.Text(), "01ARYZ6S41TSV4RRFFQ69G5FAV");
}

TEST(Ulid, SortsByTimeAsBytesAndAsText) {
  Ulid early = Ulid::Make(FromNanos(1'000'000'000)), late = Ulid::Make(FromNanos(1'001'000'000));
  EXPECT_LT(early, late);
  EXPECT_LT(early.Text(), late.Text());
}

TEST(Ulid, NeverRepeatsWithinAMillisecond) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(Ulid::Make(FromNanos(5)).Text()).second);
}

TEST(Ulid, RefusesOtherText) {
  for (const char* text :
       {"", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVV", "81ARZ3NDEKTSV4RRFFQ69G5FAV",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSV4RRFFQ69G5FA/"})
    EXPECT_FALSE(Ulid::Parse(text)) << text;
}

}  // namespace
}  // namespace ty
