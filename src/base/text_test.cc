#include "base/text.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

namespace ty {
namespace {

using namespace std::string_literals;

TEST(Utf8, TellsTextFromBytes) {
  for (const char* text : {"", "plain", "数据集", "é", "🚂", "\xEF\xBF\xBD", "12345678é", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(IsUtf8(text)) << text;
  for (const char* bytes : {"\xff", "caf\xe9", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                            "\xe6\x95", "12345678\x80", "\xf8\x88\x80\x80\x80"})
    EXPECT_FALSE(IsUtf8(bytes));
  EXPECT_TRUE(IsUtf8("nul\0inside"s));
}

TEST(Base64, FollowsTheVectorsOfRfc4648) {
  const std::pair<const char*, const char*> kVectors[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (auto [bytes, text] : kVectors) {
    EXPECT_EQ(ToBase64(bytes), text);
    EXPECT_EQ(FromBase64(text), bytes);
  }
  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  EXPECT_EQ(FromBase64(ToBase64(every)), every);
}

TEST(Base64, RefusesOtherText) {
  for (const char* text : {"Z", "Zg=", "Zg", "Zh==", "Zm9=", "====", "Zg==Zg==", "Zm 9v", "Zm9-", "=Zm9"})
    EXPECT_FALSE(FromBase64(text)) << text;
}

TEST(Nearest, NamesTheWordThatWasMeant) {
  std::vector<std::string> known = {"command", "workdir", "priority", "time_limit", "gpus"};
  EXPECT_EQ(Nearest("comand", known), "command");
  EXPECT_EQ(Nearest("workdri", known), "workdir");
  EXPECT_EQ(Nearest("Time-Limit", known), "time_limit");
  EXPECT_EQ(Nearest("gpu", known), "gpus");
}

TEST(Nearest, TakesABeginningForItsWord) {
  EXPECT_EQ(Nearest("prio", {"priority", "name"}), "priority");
  EXPECT_EQ(Nearest("xyz", {"priority", "name"}), "");
}

TEST(Nearest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(Nearest("colour", {"command", "gpus"}), "");
  EXPECT_EQ(Nearest("", {"a"}), "");
  EXPECT_EQ(Nearest("x", {}), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'x'), {std::string(100'000, 'x')}), "");
}

// What a real shell makes of the words, each ended by NUL.
std::string ReadByShell(const std::string& words) {
  std::string script = "printf '%s\\0' " + words;
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    execl("/bin/sh", "sh", "-c", script.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string out;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << script;
  return out;
}

TEST(ShellQuote, IsReadBackByAShellByteForByte) {
  std::vector<std::string> words = {"my runs/it's \"q\"/$HOME",
                                    "two\nlines",
                                    "-x",
                                    "",
                                    "🚂 数据",
                                    "caf\xe9",
                                    "*",
                                    "~",
                                    "a;b",
                                    "`id`",
                                    "$(id)",
                                    "\\",
                                    "!x",
                                    "#no",
                                    "{1,2,4}",
                                    "A=b c",
                                    "\x1b[31m",
                                    "'"};
  std::string expected;
  for (const std::string& word : words) expected += word + '\0';
  EXPECT_EQ(ReadByShell(ShellQuote(words)), expected);
}

TEST(ShellQuote, LeavesPlainWordsPlain) {
  for (const char* word : {"train.py", "--lr=1e-4", "/data/set_1", "a,b", "user@host:22", "50%"})
    EXPECT_EQ(ShellQuote(word), word);
  EXPECT_EQ(ShellQuote(std::vector<std::string>{"python", "train.py", "a b"}), "python train.py 'a b'");
}

TEST(ShellQuote, KeepsAFirstWordFromSettingAVariable) {
  EXPECT_EQ(ShellQuote(std::vector<std::string>{"A=b", "A=b"}), "'A=b' A=b");
  EXPECT_EQ(ShellQuote("=python"), "'=python'");
}

TEST(Printable, ShowsWhatWouldDriveATerminal) {
  EXPECT_EQ(Printable("\x1b]0;owned\x07"), "\\x1b]0;owned\\x07");
  EXPECT_EQ(Printable("50%\r100%\n\tend\x7f"), "50%\\r100%\\n\\tend\\x7f");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            "\\x9b31m");  // CSI as one C1 character
  EXPECT_EQ(Printable("a\0b"s), "a\\x00b");
  EXPECT_EQ(Printable("gpj.\xE2\x80\xAE"
                      "exe"),
            "gpj.\\u202eexe");
  EXPECT_EQ(Printable("caf\xe9!"), "caf\xEF\xBF\xBD!");
}

TEST(Printable, LeavesTextAlone) {
  for (const char* text : {"", "plain", "loss 0.5 → 0.4", "数据集", "🚂", "👩‍🔬"})
    EXPECT_EQ(Printable(text), text);
}

TEST(ParseInt, TakesWholeNumbersOnly) {
  EXPECT_EQ(ParseInt("12"), 12);
  EXPECT_EQ(ParseInt("-7"), -7);
  EXPECT_EQ(ParseInt("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", "+1", " 1", "1 ", "1.0", "0x10", "1e3", "9223372036854775808", "-", "١"})
    EXPECT_FALSE(ParseInt(text)) << text;
}

TEST(ParseBytes, KnowsTheUsualSuffixes) {
  EXPECT_EQ(ParseBytes("8G"), 8ll << 30);
  EXPECT_EQ(ParseBytes("512MiB"), 512ll << 20);
  EXPECT_EQ(ParseBytes("1.5g"), 3ll << 29);
  EXPECT_EQ(ParseBytes("64 kB"), 64ll << 10);
  EXPECT_EQ(ParseBytes("1T"), 1ll << 40);
  EXPECT_EQ(ParseBytes("1000"), 1000);
  EXPECT_EQ(ParseBytes("10B"), 10);
  for (const char* text :
       {"", "G", "-1G", "1X", "1GG", "1.G", ".5G", "1 GiBs", "1bb", "9999999999999P", "1e9"})
    EXPECT_FALSE(ParseBytes(text)) << text;
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("task 12"), 7);
  EXPECT_EQ(DisplayWidth("任务"), 4);
  EXPECT_EQ(DisplayWidth("，。"), 4);
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1);  // e with a combining accent
  EXPECT_EQ(DisplayWidth("🚂"), 2);
  EXPECT_EQ(DisplayWidth("é→"), 2);
  EXPECT_EQ(DisplayWidth("\xff"), 1);
}

TEST(Log, WritesOneLineWithTheTimeEvenForHostileText) {
  testing::internal::CaptureStderr();
  Log("first\nforged \x1b[2J");
  std::string line = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(line.ends_with("Z first\\nforged \\x1b[2J\n")) << line;
  EXPECT_EQ(line.find("20"), 0u);
}

}  // namespace
}  // namespace ty
