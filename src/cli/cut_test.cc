#include "cli/cut.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/parse.h"
#include "cli/task_request.h"

namespace ty {
namespace {

using Words = std::vector<std::string>;

const std::vector<Option>& TaskOptions() {
  static const std::vector<Option> options(std::begin(kTaskOptions), std::end(kTaskOptions));
  return options;
}

Result<Cut> CutRun(const Words& words) {
  return CutCommand(words, TaskOptions());
}

std::string Refusal(const Words& words) {
  auto cut = CutRun(words);
  return cut ? "taken" : cut.error().message.id;
}

std::string NearestNamed(const Words& words) {
  auto cut = CutRun(words);
  if (cut) return "taken";
  for (const auto& [name, value] : cut.error().message.args)
    if (name == "nearest") return std::get<std::string>(value);
  return "none";
}

TEST(RunWords, OptionsStopAtTheFirstWordOfTheCommand) {
  auto cut = CutRun({"-n", "seven", "--wait", "python", "-n", "--wait", "train.py", "--", "-f"});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->options, (Words{"-n", "seven", "--wait"}));
  EXPECT_EQ(cut->command, (Words{"python", "-n", "--wait", "train.py", "--", "-f"}));
}

TEST(RunWords, TwoHyphensAreOptionalAndTheirFirstOneIsNotPartOfTheCommand) {
  EXPECT_EQ(CutRun({"-f", "--", "--strange-program", "x"})->command, (Words{"--strange-program", "x"}));
  EXPECT_EQ(CutRun({"--", "--", "x"})->command, (Words{"--", "x"}));
}

TEST(RunWords, TheCommandIsKeptByteForByte) {
  Words command = {"prog", "", "a b", "\"'$*\\", "line\nbreak", "-", "--x=y", "é😀", "\xff\xfe raw", " "};
  EXPECT_EQ(CutRun(command)->command, command);
}

TEST(RunWords, AValueMayBeginWithADash) {
  auto cut = CutRun({"--priority", "-5", "-e", "-A=--", "true"});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->options, (Words{"--priority", "-5", "-e", "-A=--"}));
  EXPECT_EQ(cut->command, Words{"true"});
}

TEST(RunWords, ShortOptionsMayStandTogetherOrWithTheirValue) {
  EXPECT_EQ(CutRun({"-fq", "true"})->command, Words{"true"});
  EXPECT_EQ(CutRun({"-nseven", "true"})->command, Words{"true"});
  EXPECT_EQ(CutRun({"-fn", "seven", "true"})->command, Words{"true"});
  EXPECT_EQ(CutRun({"--name=seven", "true"})->command, Words{"true"});
}

TEST(RunWords, AMisspeltOptionIsRefusedNamingTheNearest) {
  EXPECT_EQ(NearestNamed({"--wiat", "true"}), "--wait");
  EXPECT_EQ(NearestNamed({"--prioriti=3", "true"}), "--priority");
  EXPECT_EQ(NearestNamed({"-wait", "true"}), "--wait");
  EXPECT_EQ(NearestNamed({"--prio", "high", "true"}), "--priority");
  EXPECT_EQ(Refusal({"--zzzzzzzzz", "true"}), "cli.unknown_option");
  EXPECT_EQ(Refusal({"-Z", "true"}), "cli.unknown_option");
  EXPECT_EQ(Refusal({"--wait=yes", "true"}), "cli.unknown_option_near");
}

TEST(RunWords, ALongDashTypedForTwoHyphensIsNamed) {
  EXPECT_EQ(Refusal({"—wait", "true"}), "cli.long_dash");
  EXPECT_EQ(Refusal({"–", "true"}), "cli.long_dash");
  EXPECT_EQ(Refusal({"-f", "—", "true"}), "cli.long_dash");
  EXPECT_EQ(Refusal({"true", "—"}), "taken");
}

TEST(RunWords, AnOptionWithoutItsValueIsRefused) {
  EXPECT_EQ(Refusal({"-n"}), "cli.needs_value");
  EXPECT_EQ(Refusal({"--wait", "--time"}), "cli.needs_value");
}

// ---- What the shell makes of braces.

std::string Braces(const Words& words) {
  const Command run = {"run", "", "", kTaskOptions, nullptr, true};
  auto invocation = Parse(run, words);
  if (!invocation) return invocation.error().message.id;
  Status fine = CheckBraces(*invocation, invocation->words);
  if (fine) return "taken";
  return std::get<std::string>(fine.error().message.args.at(1).second);
}

TEST(Braces, SpreadByTheShellAreToldToBeQuoted) {
  EXPECT_EQ(Braces({"-g", "1", "2", "4", "python3", "train.py"}), "1,2,4");  // -g {1,2,4}
  EXPECT_EQ(Braces({"--gpus=1", "--gpus=2", "python3"}), "1,2");             // --gpus={1,2}
  EXPECT_EQ(Braces({"-g", "{1,2,4}", "python3", "4"}), "taken");
  EXPECT_EQ(Braces({"-g", "2", "python3", "4"}), "taken");
  EXPECT_EQ(Braces({"python3", "1", "2"}), "taken");
}

TEST(TaskOptions, WhatIsWantedOfDevicesBecomesThatOfTheApi) {
  const Command run = {"run", "", "", kTaskOptions, nullptr, true};
  auto invocation = Parse(run, {"--ranks", "--share", "0.5:turns:3s", "--gpu-memory", "8G", "--exclusive",
                                "--gpu-ids", "index", "prog"});
  ASSERT_TRUE(invocation);
  boost::json::object task;
  ASSERT_TRUE(ApplyTaskOptions(*invocation, Time(), task));
  EXPECT_EQ(boost::json::serialize(task.at("resources")),
            R"({"share":"0.5:turns:3s","gpu_memory":8589934592,"gpu_ids":"index","exclusive":true})");
  EXPECT_EQ(task.at("ranks"), boost::json::value(true));
}

TEST(TaskOptions, ABadWishNamesItsValue) {
  auto refusal = [](const Words& words) {
    const Command run = {"run", "", "", kTaskOptions, nullptr, true};
    auto invocation = Parse(run, words);
    boost::json::object task;
    Status applied = ApplyTaskOptions(*invocation, Time(), task);
    return applied ? "taken" : applied.error().message.id;
  };
  EXPECT_EQ(refusal({"--share", "1.5", "prog"}), "spec.share");
  EXPECT_EQ(refusal({"--share", "0.5:alone", "prog"}), "spec.share");
  EXPECT_EQ(refusal({"--gpu-memory", "much", "prog"}), "cli.gpu_memory");
  EXPECT_EQ(refusal({"--gpu-ids", "name", "prog"}), "cli.gpu_ids");
}

// ---- The parser, on the words of a command that is not cut.

constexpr Option kOptions[] = {
    {"-t,--tag", Option::Takes::kValues, "TAG", ""},
    {"--limit", Option::Takes::kValue, "N", ""},
    {"--all", Option::Takes::kNothing, "", ""},
};
const Command kCommand = {"things", "ID…", "", kOptions, nullptr};

TEST(Parser, OptionsAndWordsMayMix) {
  auto invocation = Parse(kCommand, {"3", "--tag", "a", "5", "--all", "-t", "b", "9-12"});
  ASSERT_TRUE(invocation);
  EXPECT_EQ(invocation->words, (Words{"3", "5", "9-12"}));
  EXPECT_EQ(invocation->Values("tag"), (Words{"a", "b"}));
  EXPECT_TRUE(invocation->Has("all"));
  EXPECT_FALSE(invocation->Has("limit"));
}

TEST(Parser, ValuesAreTakenAsTheyAre) {
  auto invocation = Parse(kCommand, {"--tag", "[a,b]", "--tag=", "--limit", "-3", "-7"});
  ASSERT_TRUE(invocation);
  EXPECT_EQ(invocation->Values("tag"), (Words{"[a,b]", ""}));
  EXPECT_EQ(invocation->Value("limit"), "-3");
  EXPECT_EQ(invocation->words, Words{"-7"});
}

TEST(Parser, TheLastOfARepeatedOptionCounts) {
  auto invocation = Parse(kCommand, {"--limit", "3", "--limit=4"});
  ASSERT_TRUE(invocation);
  EXPECT_EQ(invocation->Value("limit"), "4");
}

TEST(Parser, BehindTwoHyphensEverythingIsAWord) {
  auto invocation = Parse(kCommand, {"--all", "--", "--tag", "-x"});
  ASSERT_TRUE(invocation);
  EXPECT_EQ(invocation->words, (Words{"--tag", "-x"}));
}

TEST(Parser, WhatItDoesNotKnowIsRefused) {
  EXPECT_EQ(Parse(kCommand, {"--limti", "3"}).error().message.id, "cli.unknown_option_near");
  EXPECT_EQ(Parse(kCommand, {"—all"}).error().message.id, "cli.long_dash");
  EXPECT_EQ(Parse(kCommand, {"--limit"}).error().message.id, "cli.needs_value");
}

TEST(Parser, ACutCommandKeepsItsOwnHelpOptionForItself) {
  const Command run = {"run", "", "", kTaskOptions, nullptr, true};
  auto invocation = Parse(run, {"-n", "x", "prog", "--help", "--json"});
  ASSERT_TRUE(invocation);
  EXPECT_EQ(invocation->words, (Words{"prog", "--help", "--json"}));
  EXPECT_FALSE(invocation->Has("help"));
  EXPECT_EQ(invocation->Value("name"), "x");
}

}  // namespace
}  // namespace ty
