#include "ingest/log_lines.h"

#include <gtest/gtest.h>

#include <cstring>

#include "wire/stream_testing.h"

namespace ty {
namespace {

using testing::Stream;
using Lines = std::vector<std::string>;

constexpr LogLines::Grain kFine{.spacing = 40, .redraw = 60, .most_marks = 64, .piece = 97};

LogBytes Of(const std::string& text, LogGaps gaps = {}) {
  return {static_cast<int64_t>(text.size()), std::move(gaps),
          [&text](int64_t offset, char* buffer, size_t size) {
            const size_t at = static_cast<size_t>(offset);
            const size_t got = at >= text.size() ? 0 : std::min(size, text.size() - at);
            std::memcpy(buffer, text.data() + at, got);
            return got;
          }};
}

std::string Told(const LogLine& line) {
  return line.gap ? "(" + std::to_string(line.gap->size()) + " removed)" : line.text + (line.cut ? "…" : "");
}

Lines Take(const LogLines& lines, const LogBytes& log, int64_t from = 0, size_t count = SIZE_MAX) {
  Lines taken;
  if (count == 0) return taken;
  int64_t expected = from;
  lines.Walk(log, from, true, [&](int64_t number, const LogLine& line) {
    EXPECT_EQ(number, expected++);
    taken.push_back(Told(line));
    return taken.size() < count;
  });
  return taken;
}

Lines All(const std::string& text, LogGaps gaps = {}) {
  LogLines lines;
  EXPECT_TRUE(lines.Extend(Of(text, gaps), INT64_MAX / 2));
  Lines taken = Take(lines, Of(text, gaps));
  EXPECT_EQ(static_cast<int64_t>(taken.size()), lines.total());
  return taken;
}

// By one terminal from the start, as people would see it.
Lines Drawn(const std::string& text, const LogGaps& gaps = {}) {
  Lines drawn;
  Terminal terminal({}, [&](const Terminal::Shown& shown) {
    const LogGaps gap = ParseGaps(shown.note);
    drawn.push_back(!gap.empty()                ? "(" + std::to_string(gap[0].size()) + " removed)"
                    : shown.text.size() > 16384 ? std::string("long")
                                                : std::string(shown.text) + (shown.cut ? "…" : ""));
  });
  terminal.KeepStyles();
  size_t at = 0;
  for (const LogGap& gap : gaps) {
    terminal.Feed(std::string_view(text).substr(at, static_cast<size_t>(gap.from) - at));
    terminal.Note(GapsText({gap}));
    at = static_cast<size_t>(gap.to);
  }
  terminal.Feed(std::string_view(text).substr(at));
  terminal.Close();
  return drawn;
}

TEST(LogLines, GivesLinesByNumber) {
  EXPECT_EQ(All(""), Lines{});
  EXPECT_EQ(All("one\n\ntwo\nthree"), (Lines{"one", "", "two", "three"}));
  EXPECT_EQ(All("one\n"), Lines{"one"}) << "an end of line begins no line";
  LogLines lines;
  const std::string text = "a\nb\nc\nd\n";
  lines.Extend(Of(text), 100);
  EXPECT_EQ(Take(lines, Of(text), 1, 2), (Lines{"b", "c"}));
  EXPECT_EQ(Take(lines, Of(text), 4), Lines{});
  EXPECT_EQ(Take(lines, Of(text), 400), Lines{});
}

TEST(LogLines, GrowWithTheLog) {
  LogLines lines;
  std::string text = "one\ntw";
  EXPECT_TRUE(lines.Extend(Of(text), 100));
  EXPECT_EQ(lines.total(), 2);
  text += "o\nthree";
  EXPECT_EQ(lines.total(), 2) << "only what was taken in";
  EXPECT_TRUE(lines.Extend(Of(text), 100));
  EXPECT_EQ(Take(lines, Of(text)), (Lines{"one", "two", "three"}));
}

TEST(LogLines, TakeInAPartAtATime) {
  const std::string text = "one\ntwo\nthree\nfour\n";
  LogLines lines;
  EXPECT_FALSE(lines.Extend(Of(text), 8));
  EXPECT_EQ(Take(lines, Of(text)), (Lines{"one", "two"}));
  EXPECT_TRUE(lines.Extend(Of(text), 100));
  EXPECT_EQ(lines.total(), 4);
}

TEST(LogLines, KerasKeepsOneLineAnEpoch) {
  std::string text;
  for (int step = 1; step <= 50; ++step) text += std::string(80, '\b') + "\r" + std::to_string(step) + "/50";
  EXPECT_EQ(All(text + "\nEpoch 2\n"), (Lines{"50/50", "Epoch 2"}));
}

TEST(LogLines, NestedBarsAndWhatIsWrittenBetweenThem) {
  EXPECT_EQ(All("outer 0%\n\rinner 50%\x1b[A\r\x1b[Ksaved a checkpoint\n\x1b[Kouter 1%\n\rinner 0%"),
            (Lines{"saved a checkpoint", "outer 1%", "inner 0%"}));
}

TEST(LogLines, AGapIsOneLine) {
  const std::string text = "one\ntw" + std::string(100, '\0') + "x\nlast\n";
  EXPECT_EQ(All(text, {{6, 106, LogGap::Why::kLimit}}), (Lines{"one", "tw", "(100 removed)", "x", "last"}));
  EXPECT_EQ(All(text, {{0, 106, LogGap::Why::kDiskFull}}), (Lines{"(106 removed)", "x", "last"}));
}

TEST(LogLines, NoLineIsLongerThanAllowed) {
  const Lines lines =
      All(std::string(100000, 'x') + "\n\x1b[31m" + std::string(16384, 'y') + "\x1b[0m\n" + [] {
        std::string wide;
        for (int i = 0; i < 9000; ++i) wide += "损";
        return wide;
      }());
  ASSERT_EQ(lines.size(), 3u);
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), LogLines::kLongest + 16);
    EXPECT_TRUE(line.ends_with("…"));
  }
  EXPECT_NE(lines[1].find("\x1b[0m…"), std::string::npos) << "its colour ends with it";
}

// Whatever stands in the log, wherever it is drawn from and however it came: the same lines.
TEST(LogLines, AreThoseOfATerminalThatSawItAll) {
  for (unsigned seed = 1; seed <= 250; ++seed) {
    std::mt19937 random(seed);
    const std::string text = Stream(random, 8000);
    LogGaps gaps;
    if (seed % 4 == 0) {
      const int64_t from = random() % 4000, to = from + 1 + random() % 3000;
      gaps.push_back({from, to, LogGap::Why::kLimit});
    }
    const LogBytes log = Of(text, gaps);
    const Lines expected = Drawn(text, gaps);
    LogLines lines(kFine);
    while (!lines.Extend(log, 1 + random() % 2000)) {
      if (random() % 4 == 0) Take(lines, log, random() % (lines.total() + 1), 20);
    }
    ASSERT_LE(lines.total(), static_cast<int64_t>(expected.size())) << seed;
    ASSERT_GE(lines.total() + 1, static_cast<int64_t>(expected.size())) << seed;
    for (int look = 0; look < 40; ++look) {
      const int64_t from = look == 0 ? 0 : random() % (lines.total() + 1);
      const size_t count = look == 0 ? SIZE_MAX : 1 + random() % 50;
      const Lines taken = Take(lines, log, from, count);
      ASSERT_EQ(taken.size(), std::min<size_t>(count, lines.total() - from)) << seed << " from " << from;
      for (size_t i = 0; i < taken.size(); ++i) {
        const std::string& other = expected[static_cast<size_t>(from) + i];
        ASSERT_TRUE(other == "long" || taken[i] == other)
            << seed << " line " << from + i << ": " << taken[i] << "\ninstead of\n"
            << other;
      }
    }
  }
}

// A bar of a hundred megabytes is one line, and its neighbours are not drawn again with it.
TEST(LogLines, ALongRedrawIsDrawnOnce) {
  std::string text = "before\nouter 7%\n";
  for (int i = 0; i < 60000; ++i) text += "\rinner " + std::to_string(i) + "/60000 |####################|";
  text += "\x1b[A\router 8%\nafter all\n";
  int64_t read = 0;
  LogBytes log = Of(text);
  log.read = [&, plain = log.read](int64_t offset, char* buffer, size_t size) {
    read += static_cast<int64_t>(size);
    return plain(offset, buffer, size);
  };
  LogLines lines;
  lines.Extend(log, INT64_MAX / 2);
  read = 0;
  EXPECT_EQ(Take(lines, log), (Lines{"before", "outer 8%", "after all99/60000 |####################|"}));
  EXPECT_LT(read, 300 << 10);
}

TEST(LogLines, TheirMemoryDoesNotGrowWithTheLog) {
  const std::string piece = [] {
    std::string text;
    while (text.size() < 1 << 20) text += "a line of a usual length, as trainings write them, loss 0.5\n";
    return text;
  }();
  LogBytes log{int64_t{4} << 30, {}, [&](int64_t offset, char* buffer, size_t size) {
                 const size_t at = static_cast<size_t>(offset % (1 << 20));
                 const size_t got = std::min(size, (1 << 20) - at);
                 std::memcpy(buffer, piece.data() + at, got);
                 return got;
               }};
  LogLines lines;
  lines.Extend(log, 512 << 20);
  EXPECT_LT(lines.MemoryUse(), size_t{2} << 20);
  EXPECT_EQ(Take(lines, log, lines.total() - 1000, 3).size(), 3u);
}

TEST(LogTail, OfALogThatNobodyHasCounted) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::vector<LogLine> lines = DrawTail(Of(text), 3);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].text, "line 99997");
  EXPECT_EQ(lines[2].text, "line 99999");
  EXPECT_EQ(DrawTail(Of(text), 2000).size(), 2000u);
  EXPECT_EQ(DrawTail(Of(""), 3).size(), 0u);
  const std::string bar(2 << 20, 'x');
  EXPECT_EQ(DrawTail(Of(bar), 3).size(), 1u);
}

}  // namespace
}  // namespace ty
