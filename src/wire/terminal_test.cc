#include "wire/terminal.h"

#include <gtest/gtest.h>

#include <random>

namespace ty {
namespace {

struct Screen {
  std::vector<std::string> offered, settled;
  Terminal terminal{[this](std::string_view line) { offered.emplace_back(line); },
                    [this](std::string_view line) { settled.emplace_back(line); }};

  std::string Shown() const {
    std::string text;
    for (const std::string& line : terminal.LastLines(15)) text += (text.empty() ? "" : "|") + line;
    return text;
  }
};

std::string ShownAfter(std::string_view bytes) {
  Screen whole, split;
  whole.terminal.Feed(bytes);
  for (char byte : bytes) split.terminal.Feed(std::string_view(&byte, 1));  // however the pieces fall
  EXPECT_EQ(whole.Shown(), split.Shown());
  EXPECT_EQ(whole.offered, split.offered);
  return whole.Shown();
}

TEST(Terminal, ShowsPlainLines) {
  EXPECT_EQ(ShownAfter("one\ntwo\r\nthree"), "one|two|three");
  EXPECT_EQ(ShownAfter("\n\none\n\ntwo\n\n\n"), "one||two") << "blank lines at both ends are not text";
}

TEST(Terminal, OverwritesAfterACarriageReturn) {
  EXPECT_EQ(ShownAfter("step 1/3\rstep 2/3\rstep 3/3\ndone\n"), "step 3/3|done");
  EXPECT_EQ(ShownAfter("longer text\rshort\n"), "shortr text");
  EXPECT_EQ(ShownAfter("longer text\r\x1b[Kshort\n"), "short");
  EXPECT_EQ(ShownAfter("bar\r   \rtext\n"), "text");
}

TEST(Terminal, OffersEveryOverwriteOnce) {
  Screen screen;
  screen.terminal.Feed("1/3\r2/3\r3/3\nloss 1\r\n");
  EXPECT_EQ(screen.offered, (std::vector<std::string>{"1/3", "2/3", "3/3", "loss 1"}));
}

TEST(Terminal, OffersAnUnfinishedRowOnlyWhenItHasComeToRest) {
  Screen screen;
  screen.terminal.Feed("step 4/2");
  screen.terminal.OfferIdle();
  EXPECT_TRUE(screen.offered.empty());
  screen.terminal.Feed("00");
  screen.terminal.OfferIdle();
  EXPECT_TRUE(screen.offered.empty());
  screen.terminal.OfferIdle();
  EXPECT_EQ(screen.offered, (std::vector<std::string>{"step 4/200"}));
  screen.terminal.OfferIdle();
  EXPECT_EQ(screen.offered.size(), 1u);
}

TEST(Terminal, GoesBackWithBackspacesAsKerasDoes) {
  EXPECT_EQ(ShownAfter("10/469\b\b\b\b\b\b20/469\n"), "20/469");
}

TEST(Terminal, MovesUpForNestedBars) {
  EXPECT_EQ(ShownAfter("outer 0/2\ninner 0/9\x1b[A\router 1/2\n\rinner 9/9\x1b[A\router 2/2\n\n"),
            "outer 2/2|inner 9/9");
  EXPECT_EQ(ShownAfter("a\x1b[500Ab\n"), "ab");
}

TEST(Terminal, ErasesAsAsked) {
  EXPECT_EQ(ShownAfter("abcdef\x1b[3D\x1b[K\n"), "abc");
  EXPECT_EQ(ShownAfter("abcdef\x1b[3G\x1b[1K\n"), "   def");
  EXPECT_EQ(ShownAfter("abcdef\x1b[2Kx\n"), "      x");
  EXPECT_EQ(ShownAfter("a\nb\nc\x1b[2A\r\x1b[Jz\n"), "z");
  EXPECT_EQ(ShownAfter("before\x1b[2J\x1b[Hafter\n"), "before|after") << "a cleared screen loses nothing";
}

TEST(Terminal, SwallowsColoursAndTitles) {
  EXPECT_EQ(ShownAfter("\x1b[1;31mred\x1b[0m \x1b]0;a title\x07text\x1b(B\x1b[?25l!\n"), "red text!");
  EXPECT_EQ(ShownAfter("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n"), "link");
  EXPECT_EQ(ShownAfter("\x1b]0;never ended\nnext\n"), "next") << "a title ends with its line";
}

TEST(Terminal, KeepsWideAndCombinedCharacters) {
  EXPECT_EQ(ShownAfter("损失 0.5\r精度\n"), "精度 0.5");
  EXPECT_EQ(ShownAfter("e\xCC\x81t\xC3\xA9 \xF0\x9F\x9A\x80\n"), "e\xCC\x81t\xC3\xA9 \xF0\x9F\x9A\x80");
}

TEST(Terminal, ReplacesBrokenUtf8) {
  EXPECT_EQ(ShownAfter("a\xFF\xFE\x80z\n"), "a\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(ShownAfter("\xE6\x8D cut\n"), "\uFFFD cut");
  EXPECT_EQ(ShownAfter("\xC0\xAF\xED\xA0\x80\n"), "\uFFFD\uFFFD\uFFFD");
}

TEST(Terminal, SettlesEachRowOnceInOrder) {
  Screen screen;
  for (int i = 0; i < 200; ++i) screen.terminal.Feed(std::to_string(i) + "\n");
  screen.terminal.Close();
  ASSERT_EQ(screen.settled.size(), 201u);
  EXPECT_EQ(screen.settled[0], "0");
  EXPECT_EQ(screen.settled[199], "199");
}

// Case 61: a million carriage returns and no newline.
TEST(Terminal, AMillionOverwritesLeaveTheLastState) {
  Screen screen;
  int count = 0;
  Terminal terminal([&](std::string_view) { ++count; });
  std::string piece;
  for (int i = 1; i <= 1000000; ++i) piece += "\r" + std::to_string(i) + "/1000000";
  terminal.Feed(piece);
  EXPECT_EQ(terminal.LastLines(15), (std::vector<std::string>{"1000000/1000000"}));
  EXPECT_EQ(count, 999999);
  terminal.Close();
  EXPECT_EQ(count, 1000000);
}

TEST(Terminal, KeepsALimitedPartOfAnEndlessLine) {
  Screen screen;
  screen.terminal.Feed(std::string(10 << 20, 'x'));
  screen.terminal.Feed("\nnext\n");
  ASSERT_EQ(screen.terminal.LastLines(15).size(), 2u);
  EXPECT_EQ(screen.terminal.LastLines(15)[0].size(), Terminal::kColumns);
}

// ---- With colours.

std::string StyledAfter(std::string_view bytes) {
  std::string shown;
  Terminal terminal({}, [&](const Terminal::Shown& line) { shown += std::string(line.text) + "|"; });
  terminal.KeepStyles();
  terminal.Feed(bytes);
  terminal.Close();
  return shown;
}

TEST(Terminal, KeepsColoursOnRequest) {
  EXPECT_EQ(StyledAfter("\x1b[31mred\x1b[0m plain"), "\x1b[0;31mred\x1b[0m plain|");
  EXPECT_EQ(StyledAfter("\x1b[1;91;100mx\x1b[22;39;49my"), "\x1b[0;1;91;100mx\x1b[0my|");
  EXPECT_EQ(StyledAfter("\x1b[38;5;196;48;2;1;2;300mx"), "\x1b[0;38;5;196;48;2;1;2;255mx\x1b[0m|");
  EXPECT_EQ(StyledAfter("\x1b[38:2::1:2:3mx\x1b[4:3my\x1b[4:0mz"),
            "\x1b[0;38;2;1;2;3mx\x1b[0;4;38;2;1;2;3my\x1b[0;38;2;1;2;3mz\x1b[0m|");
  EXPECT_EQ(StyledAfter("\x1b[32mon\nward"), "\x1b[0;32mon\x1b[0m|\x1b[0;32mward\x1b[0m|") << "it lasts";
}

TEST(Terminal, ColoursAreOfTheCellsThatAreLeft) {
  EXPECT_EQ(StyledAfter("\x1b[31mabcd\r\x1b[0mxy"), "xy\x1b[0;31mcd\x1b[0m|");
  EXPECT_EQ(StyledAfter("\x1b[31mabcd\r\x1b[K\x1b[mxy"), "xy|");
  EXPECT_EQ(StyledAfter("\x1b[41m  \x1b[0m  "), "\x1b[0;41m  \x1b[0m|") << "a bar drawn with spaces";
}

TEST(Terminal, OtherSequencesAreDroppedWithColoursToo) {
  EXPECT_EQ(StyledAfter("\x1b[?25l\x1b[>4;2m\x1b[58;5;3m\x1b[999m\x1b[38;9mx\x1b]8;;http://x\x1b\\y"), "xy|");
  EXPECT_EQ(StyledAfter("a\x01\xC2\x9B\xE2\x80\xAE\x7F"
                        "b"),
            "ab|")
      << "C0, C1, a turn of direction, DEL";
}

TEST(Terminal, SaysThatALineWasCut) {
  std::vector<bool> cut;
  Terminal terminal({}, [&](const Terminal::Shown& line) { cut.push_back(line.cut); });
  terminal.Feed(std::string(Terminal::kColumns, 'x') + "\n" + std::string(Terminal::kColumns + 1, 'x') +
                "\nshort");
  terminal.Close();
  EXPECT_EQ(cut, (std::vector<bool>{false, true, false}));
}

TEST(Terminal, ANoteStandsOnARowOfItsOwn) {
  std::string shown;
  Terminal terminal({}, [&](const Terminal::Shown& line) {
    shown += line.note.empty() ? std::string(line.text) + "|" : "(" + std::string(line.note) + ")|";
  });
  terminal.Feed("one\ntwo\x1b[3");
  terminal.Note("gap");
  terminal.Feed("1mthree\n");
  terminal.Note("gap");
  terminal.Close();
  EXPECT_EQ(shown, "one|two|(gap)|1mthree|(gap)||");
}

TEST(Terminal, SurvivesNoise) {
  std::mt19937 random(7);
  Screen screen;
  for (int i = 0; i < 200; ++i) {
    std::string noise(10000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    screen.terminal.Feed(noise);
  }
  screen.terminal.Feed("\x1b\\\n\nstill here\n");
  EXPECT_EQ(screen.terminal.LastLines(1), (std::vector<std::string>{"still here"}));
}

}  // namespace
}  // namespace ty
