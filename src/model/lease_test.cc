#include "model/lease.h"

#include <gtest/gtest.h>

namespace ty {
namespace {

std::string Refusal(std::string_view text) {
  Result<Share> share = Share::Parse(text);
  if (share) return "accepted";
  EXPECT_EQ(share.error().code, Code::kInvalid);
  EXPECT_EQ(share.error().field, "/resources/share");
  return share.error().message.id;
}

TEST(Share, ReadsTheGrammarAndWritesItBack) {
  struct Row {
    const char* text;
    Share share;
    const char* back;
  };
  const Row kRows[] = {
      {"1", {}, ""},
      {"1.0", {}, ""},
      {"1.000", {}, ""},
      {"0.5", {500, ShareMode::kTogether}, "0.5"},
      {".5", {500, ShareMode::kTogether}, "0.5"},
      {"0.500", {500, ShareMode::kTogether}, "0.5"},
      {"0.001", {1, ShareMode::kTogether}, "0.001"},
      {"0.25", {250, ShareMode::kTogether}, "0.25"},
      {"0.3", {300, ShareMode::kTogether}, "0.3"},
      {"0.999:together", {999, ShareMode::kTogether}, "0.999"},
      {"0.5:turns", {500, ShareMode::kTurns}, "0.5:turns"},
      {"0.5:turns:30", {500, ShareMode::kTurns}, "0.5:turns"},
      {"0.5:turns:3s", {500, ShareMode::kTurns, seconds(3)}, "0.5:turns:3s"},
      {"0.5:turns:1500ms", {500, ShareMode::kTurns, milliseconds(1500)}, "0.5:turns:1.5s"},
      {"0.5:turns:00:02:00", {500, ShareMode::kTurns, minutes(2)}, "0.5:turns:120s"},
      {"0.5:turns:1s", {500, ShareMode::kTurns, seconds(1)}, "0.5:turns:1s"},
      {"0.5:turns:1h", {500, ShareMode::kTurns, hours(1)}, "0.5:turns:3600s"},
  };
  for (const Row& row : kRows) {
    Result<Share> share = Share::Parse(row.text);
    ASSERT_TRUE(share) << row.text;
    EXPECT_EQ(*share, row.share) << row.text;
    EXPECT_EQ(share->Text(), row.back) << row.text;
    if (share->Text().empty()) continue;
    EXPECT_EQ(*Share::Parse(share->Text()), *share) << row.text;
  }
}

TEST(Share, OtherTextIsRefusedAndSaysWhatToWrite) {
  for (const char* text :
       {"",       "0",      "0.0",       "0.000",   "1.001",    "1.5",       "2",       "-0.5",
        "+0.5",   "0.0001", "0.5000",    "50%",     "1/2",      "0,5",       "half",    ".",
        "1.",     "0.",     "00.5",      "5e-1",    "0x1",      "0.5 ",      "0.5:",    "0.5:turns:",
        ":turns", "turns",  "0.5:whole", "1:whole", "0.5:time", "0.5:Turns", "0.5::3s", "0.5:together:soon",
        "NaN"})
    EXPECT_EQ(Refusal(text), "spec.share") << text;
  for (const char* text : {"1:turns", "1:together", "1.0:turns:3s"})
    EXPECT_EQ(Refusal(text), "spec.share_whole") << text;
  EXPECT_EQ(Refusal("0.5:together:3s"), "spec.share_no_slice");
}

TEST(Share, ATurnLastsFromASecondToAnHour) {
  for (const char* text : {"0.5:turns:0", "0.5:turns:999ms", "0.5:turns:3601s", "0.5:turns:1d",
                           "0.5:turns:soon", "0.5:turns:-3s", "0.5:turns:3s:4s"})
    EXPECT_EQ(Refusal(text), "spec.share_slice") << text;
}

TEST(ShareMode, IsReadByItsName) {
  for (ShareMode mode : {ShareMode::kWhole, ShareMode::kTogether, ShareMode::kTurns})
    EXPECT_EQ(ParseShareMode(Name(mode)), mode);
  EXPECT_EQ(ParseShareMode("turn"), std::nullopt);
  EXPECT_EQ(ParseShareMode(""), std::nullopt);
}

}  // namespace
}  // namespace ty
