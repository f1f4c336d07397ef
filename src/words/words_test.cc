#include "words/words.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <cmath>

#include "msg/spec.h"
#include "words/catalogue.h"

namespace ty {
namespace {

constexpr Language kBoth[] = {Language::kEnglish, Language::kChinese};

// Arguments for every placeholder of a text, found as the catalogue writes them.
Message Sample(const CatalogueEntry& entry, int64_t number) {
  Message message{std::string(entry.id), {}};
  for (std::string_view text : {entry.english, entry.chinese}) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '{') continue;
      if (text[i + 1] == '{') {
        ++i;
        continue;
      }
      size_t end = text.find('}', i), mark = text.find_first_of(":?", i);
      std::string name(text.substr(i + 1, mark - i - 1));
      bool real = text.substr(mark, end - mark) == ":real", words = text.substr(mark, end - mark) == ":text";
      if (words)
        message.args.emplace_back(name, "word");
      else if (real)
        message.args.emplace_back(name, 0.5);
      else
        message.args.emplace_back(name, number);
    }
  }
  return message;
}

TEST(Catalogue, EveryMessageReadsWellInBothLanguages) {
  ASSERT_FALSE(Catalogue().empty());
  for (const CatalogueEntry& entry : Catalogue()) {
    for (Language language : kBoth) {
      for (int64_t number : {0, 1, 2, 90'000'000}) {
        std::string text = Render(Sample(entry, number), language);
        EXPECT_FALSE(text.starts_with(entry.id)) << text;
        EXPECT_FALSE(text.empty()) << entry.id;
        // Literal braces are the only ones that may stand in the result.
        std::string_view source = language == Language::kEnglish ? entry.english : entry.chinese;
        if (source.find("{{") == std::string_view::npos && source.find("}}") == std::string_view::npos) {
          EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << entry.id << ": " << text;
        }
        EXPECT_EQ(text.find("{{"), std::string::npos) << entry.id << ": " << text;
      }
    }
  }
}

TEST(Catalogue, IsSortedSoThatEveryIdIsFound) {
  for (const CatalogueEntry& entry : Catalogue()) EXPECT_EQ(FindInCatalogue(entry.id), &entry) << entry.id;
  EXPECT_EQ(FindInCatalogue(""), nullptr);
  EXPECT_EQ(FindInCatalogue("zzz.none"), nullptr);
}

TEST(Catalogue, ChineseTextsAreChinese) {
  for (const CatalogueEntry& entry : Catalogue()) {
    bool letters = false, chinese = false;
    bool inside = false;  // a placeholder
    for (unsigned char c : entry.english) {
      inside = c == '{' || (inside && c != '}');
      letters |= !inside && c >= 'a' && c <= 'z';
    }
    for (unsigned char c : entry.chinese) chinese |= c >= 0xE3 && c <= 0xE9;
    EXPECT_TRUE(chinese || !letters || entry.english.find(' ') == std::string_view::npos) << entry.id;
  }
}

TEST(Render, PutsArgumentsIntoTheSentence) {
  Message message = msg::SpecNameLikeId{.name = "12"};
  EXPECT_EQ(Render(message, Language::kEnglish),
            "The name 12 looks like the number of a task. Add a letter, as run-12.");
  EXPECT_EQ(Render(message, Language::kChinese), "名称 12 看起来像任务编号。请加上字母，例如 run-12。");
}

TEST(Render, WritesLiteralBracesOnce) {
  std::string text = Render(msg::SpecGpus{.text = "x", .most = 8}, Language::kEnglish);
  EXPECT_NE(text.find(" {1,2,4},"), std::string::npos) << text;
}

TEST(Render, AnArgumentIsNeverReadAsATemplate) {
  std::string hostile = "{what} {{ }} {n?a|b} \x1b[2J %s </script>";
  std::string text = Render(msg::SpecPriority{.text = hostile, .least = -1, .most = 1}, Language::kEnglish);
  EXPECT_NE(text.find(hostile), std::string::npos) << text;
}

TEST(Render, IsTotal) {
  EXPECT_EQ(Render(Message{}, Language::kEnglish), "");
  EXPECT_EQ(Render(Message{"no.such", {}}, Language::kChinese), "no.such");
  EXPECT_EQ(Render(Message{"no.such", {{"n", int64_t{3}}, {"x", 0.5}, {"who", "ann"}}}, Language::kEnglish),
            "no.such (n=3, x=0.5, who=ann)");
  EXPECT_EQ(Render(Message{"spec.name_like_id", {{"nmae", "12"}}}, Language::kEnglish),
            "spec.name_like_id (nmae=12)");
}

TEST(Render, ShowsAnArgumentOfAnUnexpectedKindAsItIs) {
  Message size{"spec.name_too_long", {{"size", "much"}, {"most", 1e300}}};
  EXPECT_EQ(Render(size, Language::kEnglish),
            "The name has much; at most 1e+300 bytes are allowed. Choose a shorter one.");
  size.args = {{"size", std::nan("")}, {"most", int64_t{200}}};
  EXPECT_EQ(Render(size, Language::kEnglish),
            "The name has NaN; at most 200 bytes are allowed. Choose a shorter one.");
}

TEST(Render, HasEveryChoiceInBothNumbers) {
  for (const CatalogueEntry& entry : Catalogue()) {
    if (entry.english.find('?') == std::string_view::npos ||
        entry.english.find('|') == std::string_view::npos)
      continue;
    Message one = Sample(entry, 1), two = Sample(entry, 2);
    EXPECT_NE(Render(one, Language::kEnglish), Render(two, Language::kEnglish)) << entry.id;
  }
}

TEST(Format, DurationsTakeTheirTwoLargestUnits) {
  struct Row {
    Duration length;
    const char *english, *chinese;
  };
  const Row kRows[] = {
      {seconds(0), "0 s", "0 秒"},
      {milliseconds(250), "250 ms", "250 毫秒"},
      {milliseconds(2500), "2.5 s", "2.5 秒"},
      {seconds(45), "45 s", "45 秒"},
      {seconds(90), "1 min 30 s", "1 分 30 秒"},
      {minutes(30), "30 min", "30 分钟"},
      {minutes(90), "1 h 30 min", "1 小时 30 分"},
      {hours(2) + seconds(5), "2 h", "2 小时"},
      {hours(27), "1 d 3 h", "1 天 3 小时"},
      {-seconds(5), "-5 s", "-5 秒"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(FormatDuration(row.length, Language::kEnglish), row.english);
    EXPECT_EQ(FormatDuration(row.length, Language::kChinese), row.chinese);
  }
  EXPECT_EQ(FormatDuration(Duration::min(), Language::kEnglish), "-106751 d 23 h");
}

TEST(Format, BytesAreShort) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1 KiB");
  EXPECT_EQ(FormatBytes(7ll << 29), "3.5 GiB");
  EXPECT_EQ(FormatBytes((1ll << 20) - 1), "1 MiB");
  EXPECT_EQ(FormatBytes(-2048), "-2 KiB");
  EXPECT_EQ(FormatBytes(INT64_MAX), "8 EiB");
  EXPECT_EQ(FormatBytes(INT64_MIN), "-8 EiB");
}

TEST(Format, RealsAreShort) {
  EXPECT_EQ(FormatReal(0.53124), "0.5312");
  EXPECT_EQ(FormatReal(1e-4), "0.0001");
  EXPECT_EQ(FormatReal(3), "3");
  EXPECT_EQ(FormatReal(123456.7), "123457");
  EXPECT_EQ(FormatReal(1e20), "1e+20");
  EXPECT_EQ(FormatReal(std::nan("")), "NaN");
  EXPECT_EQ(FormatReal(-INFINITY), "-Infinity");
}

class Zone : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "CST-8", 1);
    tzset();
  }
  void TearDown() override {
    unsetenv("TZ");
    tzset();
  }
};

TEST_F(Zone, TimesAreLocalAndTodayNeedsNoDate) {
  Time night = *ParseIso("2026-11-30T14:00:00Z");
  EXPECT_EQ(FormatTime(night, *ParseIso("2026-11-30T01:00:00Z")), "22:00");
  EXPECT_EQ(FormatTime(night, *ParseIso("2026-11-30T17:00:00Z")),
            "2026-11-30 22:00");  // already the 1st there
  EXPECT_EQ(FormatTime(night), "2026-11-30 22:00");
}

TEST(ChooseLanguage, TheOptionWinsThenLocaleVariablesInPosixOrder) {
  EXPECT_EQ(ChooseLanguage("zh", "en_US.UTF-8", "", ""), Language::kChinese);
  EXPECT_EQ(ChooseLanguage("en", "zh_CN.UTF-8", "", ""), Language::kEnglish);
  EXPECT_EQ(ChooseLanguage("", "zh_CN.UTF-8", "en_US", "en_US"), Language::kChinese);
  EXPECT_EQ(ChooseLanguage("", "C", "zh_CN", "zh_CN"), Language::kEnglish);
  EXPECT_EQ(ChooseLanguage("", "", "zh_CN", "en_US"), Language::kChinese);
  EXPECT_EQ(ChooseLanguage("", "", "", "zh_CN.UTF-8"), Language::kChinese);
  EXPECT_EQ(ChooseLanguage("", "", "", "de_DE.UTF-8"), Language::kEnglish);
  EXPECT_EQ(ChooseLanguage("", "", "", ""), Language::kEnglish);
}

TEST(ChooseLanguage, NamesAreReadInEveryCustomaryForm) {
  for (const char* name : {"zh", "ZH", "zh-CN", "zh_CN.UTF-8", "zh-Hans-CN", " zh "})
    EXPECT_EQ(ParseLanguage(name), Language::kChinese) << name;
  for (const char* name : {"", "z", "zhx", "zho", "de", "中文"}) EXPECT_FALSE(ParseLanguage(name)) << name;
}

TEST(AcceptLanguage, TheBestLikedOfOursIsTaken) {
  EXPECT_EQ(FromAcceptLanguage("zh-CN,zh;q=0.9,en;q=0.8"), Language::kChinese);
  EXPECT_EQ(FromAcceptLanguage("en-GB,zh;q=0.9"), Language::kEnglish);
  EXPECT_EQ(FromAcceptLanguage("de, en;q=0.3, zh;q=0.7"), Language::kChinese);
  EXPECT_EQ(FromAcceptLanguage("zh;q=0"), Language::kEnglish);
  EXPECT_EQ(FromAcceptLanguage("de-DE, *"), Language::kEnglish);
  for (const char* header : {"", ",,,", ";q=1", "zh;q=x", "zh;level=1"})
    EXPECT_EQ(FromAcceptLanguage(header), Language::kEnglish) << header;
}

}  // namespace
}  // namespace ty
