#include "cli/table.h"

#include <gtest/gtest.h>

namespace ty {
namespace {

Table TwoTasks() {
  Table table;
  table.columns = {{"ID", Table::Align::kRight},
                   {"NAME", Table::Align::kLeft, true},
                   {"LOSS"},
                   {"REASON", Table::Align::kLeft, true}};
  table.rows = {{"7", "digits", "", "waits for cpu:0"}, {"12", "训练模型", "", ""}};
  return table;
}

TEST(Table, ColumnsLineUpAlsoBesideWideLetters) {
  EXPECT_EQ(TwoTasks().Text(0),
            "ID  NAME      REASON\n"
            " 7  digits    waits for cpu:0\n"
            "12  训练模型\n");
}

TEST(Table, TheLastColumnThatMayShrinkGivesWayFirst) {
  EXPECT_EQ(TwoTasks().Text(24),
            "ID  NAME      REASON\n"
            " 7  digits    waits for…\n"
            "12  训练模型\n");
}

TEST(Table, NoLineIsWiderThanATerminalOfUsualWidth) {
  Table table = TwoTasks();
  table.rows.push_back({"13", std::string(300, 'x'), "0.1", std::string(300, 'y')});
  std::string text = table.Text(60);
  for (size_t start = 0; start < text.size();) {
    size_t end = text.find('\n', start);
    std::string line = text.substr(start, end - start);
    size_t ellipses = 0;
    for (size_t at = line.find("…"); at != std::string::npos; at = line.find("…", at + 3)) ++ellipses;
    EXPECT_LE(line.size() - 2 * ellipses, 60u + 4u)
        << line;  // four wide letters take three bytes for two columns
    start = end + 1;
  }
}

TEST(Table, WithoutRowsThereIsNothing) {
  Table table;
  table.columns = {{"ID"}};
  EXPECT_EQ(table.Text(80), "");
}

TEST(Wrapped, BreaksAtSpacesAndIndentsWhatFollows) {
  EXPECT_EQ(Wrapped("  one two three four five", 14, 2), "  one two\n  three four\n  five");
  EXPECT_EQ(Wrapped("one two", 80, 4), "one two");
  EXPECT_EQ(Wrapped("one two three four", 0, 2), "one two three four");
}

TEST(Wrapped, BreaksBetweenWideLettersAndKeepsLongWordsWhole) {
  EXPECT_EQ(Wrapped("显卡暂不可用因为驱动", 12, 2), "显卡暂不可用\n  因为驱动");
  EXPECT_EQ(Wrapped("a /a/path/without/any/end b", 12, 2), "a\n  /a/path/without/any/end\n  b");
}

TEST(Clip, CutsAtWholeLettersAndSaysSo) {
  EXPECT_EQ(Clip("abcdef", 6), "abcdef");
  EXPECT_EQ(Clip("abcdef", 5), "abcd…");
  EXPECT_EQ(Clip("训练模型", 8), "训练模型");
  EXPECT_EQ(Clip("训练模型", 7), "训练模…");
  EXPECT_EQ(Clip("训练模型", 6), "训练…");
}

}  // namespace
}  // namespace ty
