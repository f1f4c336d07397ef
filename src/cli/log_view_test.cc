#include "cli/log_view.h"

#include <gtest/gtest.h>

#include <random>

namespace ty {
namespace {

std::string Shown(std::string_view bytes, size_t piece = 1000) {
  LogView view;
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += piece) out += view.Feed(bytes.substr(i, piece));
  return out + view.Finish();
}

TEST(LogView, PlainLinesStayAsTheyAre) {
  EXPECT_EQ(Shown("one\ntwo\n\n\tthree é 训练\n"), "one\ntwo\n\n\tthree é 训练\n");
  EXPECT_EQ(Shown("no newline"), "no newline\n");
}

TEST(LogView, EscapesDoNotReachTheTerminal) {
  EXPECT_EQ(Shown("\x1b[31mred\x1b[0m\n"), "red\n");
  EXPECT_EQ(Shown("\x1b]0;evil title\x07text\n"), "text\n");
  EXPECT_EQ(Shown("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n"), "link\n");
  EXPECT_EQ(Shown("\x1bPq#0;2;0\x1b\\after\n"), "after\n");
  EXPECT_EQ(Shown("a\x1b(Bb\x1b=c\x07\x00\x7f\n"), "abc\n");
  EXPECT_EQ(Shown("a\xc2\x9b"
                  "31mb\n"),
            "a31mb\n");
  EXPECT_EQ(Shown("\xe2\x80\xaegnp.exe\n"), "gnp.exe\n");
}

TEST(LogView, AnEscapeThatNeverEndsHidesNoLaterLine) {
  EXPECT_EQ(Shown("\x1b]0;open\nnext\n"), "\nnext\n");
  EXPECT_EQ(Shown("\x1b[31\nnext\n"), "\nnext\n");
  EXPECT_EQ(Shown("\x1b"), "");
}

TEST(LogView, ACarriageReturnOverwritesTheLine) {
  EXPECT_EQ(Shown("10%\r50%\r100%\n"), "100%\n");
  EXPECT_EQ(Shown("long line\rshort\x1b[K\n"), "short\n");
  EXPECT_EQ(Shown("abc\rX\n"), "Xbc\n");
  EXPECT_EQ(Shown("windows\r\nline\r\n"), "windows\nline\n");
  EXPECT_EQ(Shown("ab\b\bc\n"), "cb\n");
}

TEST(LogView, AMillionCarriageReturnsLeaveTheLastStateAndLittleMemory) {
  LogView view;
  std::string out;
  for (int i = 0; i < 1'000'000; ++i) out += view.Feed("step " + std::to_string(i) + "\r");
  EXPECT_EQ(out, "");
  EXPECT_EQ(view.Finish(), "step 999999\n");
}

TEST(LogView, BrokenUtf8BecomesReplacementLettersWhereverBlocksAreCut) {
  EXPECT_EQ(Shown("a\xff"
                  "b\xe8\xae"
                  "c\n"),
            "a�b�c\n");
  for (size_t piece : {1, 2, 3}) EXPECT_EQ(Shown("训练 \x1b[1mé\x1b[0m 😀\n", piece), "训练 é 😀\n");
}

TEST(LogView, ALineWithoutEndIsGivenOutInParts) {
  LogView view;
  std::string out = view.Feed(std::string(200'000, 'x'));
  EXPECT_GT(out.size(), 100'000u);
  out += view.Finish();
  EXPECT_EQ(std::count(out.begin(), out.end(), 'x'), 200'000);
}

TEST(LogView, OnALiveTerminalTheUnfinishedLineIsRepaintedInPlace) {
  LogView view(10);
  EXPECT_EQ(view.Feed("10%"), "\r\x1b[K10%");
  EXPECT_EQ(view.Feed("\r20%"), "\r\x1b[K20%");
  EXPECT_EQ(view.Feed("\rdone\n"), "\r\x1b[Kdone\n");
  EXPECT_EQ(view.Feed("a line of more than ten\n"), "a line of more than ten\n");
}

TEST(LogView, RandomBytesGiveNothingATerminalWouldObey) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (int i = 0; i < 300; ++i) bytes += static_cast<char>(random() % 256);
    for (char c : Shown(bytes, 7))
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  }
}

}  // namespace
}  // namespace ty
