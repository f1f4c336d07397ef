#include "wire/row_counter.h"

#include <gtest/gtest.h>

#include "wire/stream_testing.h"
#include "wire/terminal.h"

namespace ty {
namespace {

using testing::Burst;
using testing::Stream;

RowCounter CounterOf(std::string_view bytes) {
  RowCounter counter;
  counter.Feed(bytes);
  return counter;
}

TEST(RowCounter, CountsNewLinesAlone) {
  EXPECT_EQ(CounterOf("").rows(), 1);
  EXPECT_EQ(CounterOf("one\ntwo\r\nthree").rows(), 3);
  EXPECT_TRUE(CounterOf("one\ntwo").touched());
  EXPECT_FALSE(CounterOf("one\n\r\x7F").touched());
  EXPECT_EQ(CounterOf(std::string(100000, '\n')).rows(), 100001);
  EXPECT_EQ(CounterOf("100%\r\x1b[32m200%\r\x1b[0mdone\n").rows(), 2);
}

TEST(RowCounter, ANewLineBelowARiseIsNoNewRow) {
  EXPECT_EQ(CounterOf("outer\ninner\x1b[A\router\n\rinner\n").rows(), 3);
  EXPECT_EQ(CounterOf("\x1b]0;a title\x1b\\\n").rows(), 2);
  EXPECT_EQ(CounterOf("\x1b]0;a title with no end\n").rows(), 2);
}

TEST(RowCounter, AClearedScreenBeginsARowOnce) {
  EXPECT_EQ(CounterOf("text\x1b[2J\x1b[H").rows(), 2);
  EXPECT_EQ(CounterOf("\x1b[2J\x1b[H").rows(), 1);
}

TEST(RowCounter, StopsBehindWhatMakesANewRow) {
  RowCounter counter;
  EXPECT_EQ(counter.FeedToNewRow("one\ntwo\n"), 4u);
  EXPECT_EQ(counter.newest(), (RowCounter::Place{4, 1, {}}));
  EXPECT_EQ(counter.FeedToNewRow("two"), 3u);
  EXPECT_EQ(counter.rows(), 2);
}

// Whoever counts and whoever draws must agree, however the bytes come in pieces.
TEST(RowCounter, AgreesWithTheTerminalOnEverything) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const std::string stream = Stream(random, 3000);
    RowCounter whole, pieces;
    Terminal terminal({});
    terminal.KeepStyles();
    whole.Feed(stream);
    for (size_t at = 0; at < stream.size();) {
      const size_t size = 1 + random() % 700;
      terminal.Feed(std::string_view(stream).substr(at, size));
      pieces.Feed(std::string_view(stream).substr(at, size));
      at += size;
      if (random() % 20 == 0) {
        terminal.Note("gap");
        pieces.Note(pieces.offset());
        whole = pieces;
        whole.Feed(std::string_view(stream).substr(std::min(at, stream.size())));
      }
      ASSERT_EQ(pieces.rows(), terminal.rows()) << seed << " at " << at;
    }
    EXPECT_EQ(whole.rows(), pieces.rows()) << seed;
    EXPECT_EQ(whole.touched(), pieces.touched()) << seed;
    EXPECT_EQ(whole.newest(), pieces.newest()) << seed;
  }
}

// Who wants no states of bars gets the same lines as who wants them all.
TEST(RowCounter, TerminalsWithoutAndWithOffersAgree) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    std::string stream;
    while (stream.size() < 4000) {
      stream += Burst(random);
      for (int i = static_cast<int>(random() % 30); i > 0 && random() % 2 == 0; --i) {
        stream += "\r " + std::to_string(random() % 200) + "%|";
        for (int j = static_cast<int>(random() % 12); j > 0; --j) stream += "█";
        if (random() % 40 == 0) stream += "损";
      }
    }
    std::vector<std::string> with, without;
    Terminal all([](std::string_view) {}, [&](const Terminal::Shown& line) { with.emplace_back(line.text); });
    Terminal last({}, [&](const Terminal::Shown& line) { without.emplace_back(line.text); });
    for (Terminal* terminal : {&all, &last}) {
      terminal->KeepStyles();
      terminal->Feed(stream);
      terminal->Close();
    }
    ASSERT_EQ(without, with) << seed;
  }
}

// Drawn from where a row began, every row from there on is as it is when drawn from the start.
TEST(RowCounter, ItsPlacesAreGoodToBeginAt) {
  using Rows = std::vector<std::string>;
  auto draw = [](Terminal& terminal, std::string_view bytes, int64_t from) {
    Rows rows;
    int64_t number = terminal.settled();
    terminal.OnSettle([&](const Terminal::Shown& line) {
      if (number++ >= from) rows.emplace_back(line.text);
    });
    terminal.Feed(bytes);
    terminal.Close();
    return rows;
  };
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const std::string stream = Stream(random, 6000);
    RowCounter counter;
    for (size_t stop = random() % stream.size(); stop > 0;) {
      const size_t fed = counter.FeedToNewRow(std::string_view(stream).substr(counter.offset()));
      stop -= std::min(stop, std::max<size_t>(fed, 1));
      if (fed == 0) break;
    }
    const RowCounter::Place place = counter.newest();
    Terminal start({}), middle({});
    start.KeepStyles();
    middle.KeepStyles();
    middle.BeginAt(place.row, place.style);
    const Rows expected = draw(start, stream, place.row);
    const Rows drawn = draw(middle, std::string_view(stream).substr(place.offset), place.row);
    ASSERT_EQ(drawn, expected) << seed;
  }
}

}  // namespace
}  // namespace ty
