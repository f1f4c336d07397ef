#include "cli/complete.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ty {
namespace {

using Words = std::vector<std::string>;
using Also = Completion::Also;

// A yard with two tasks and two cards; says what it was asked.
struct Yard {
  std::string asked;
  YardWords words() {
    return {.tasks =
                [this](const std::string& state) {
                  asked = "tasks " + state;
                  return std::vector<Candidate>{{"12", "digits"}, {"13", "chars"}, {"digits", "12"}};
                },
            .devices =
                [this] {
                  asked = "devices";
                  return std::vector<Candidate>{{"GPU0", ""}, {"GPU1", ""}};
                },
            .tags =
                [this] {
                  asked = "tags";
                  return std::vector<Candidate>{{"mnist", ""}};
                }};
  }
  Completion At(const Words& typed) {
    asked.clear();
    return Complete(typed, words(), [](const char* id) { return std::string(id); });
  }
  Words Offered(const Words& typed) {
    Words offered;
    for (const Candidate& candidate : At(typed).words) offered.push_back(candidate.word);
    return offered;
  }
};

bool Has(const Words& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Completion, BeginsWithTheCommandsButNotTheHiddenOnes) {
  Yard yard;
  EXPECT_EQ(yard.Offered({"canc"}), Words{"cancel"});
  EXPECT_TRUE(Has(yard.Offered({""}), "devices"));
  EXPECT_FALSE(Has(yard.Offered({""}), "complete-words"));
  EXPECT_EQ(yard.Offered({"--lang", "zh", "canc"}), Words{"cancel"});
  EXPECT_EQ(yard.Offered({"help", "canc"}), Words{"cancel"});
  EXPECT_EQ(yard.asked, "");
  EXPECT_EQ(yard.At({"canc"}).words.front().about, "cli.about_cancel");
}

TEST(Completion, OptionsAreThoseOfTheCommandThatWereNotGivenYet) {
  Yard yard;
  EXPECT_EQ(yard.Offered({"run", "--sh"}), (Words{"--share", "--shell"}));
  EXPECT_EQ(yard.Offered({"run", "--share", "0.5", "--sh"}), Words{"--shell"});
  EXPECT_EQ(yard.Offered({"run", "--tag", "a", "--ta"}), Words{"--tag"});  // may be repeated
  EXPECT_EQ(yard.Offered({"logs", "--ra"}), (Words{"--raw", "--rank"}));
  EXPECT_EQ(yard.Offered({"up", "--ready"}), Words{});
}

TEST(Completion, AValueIsOfTheKindThatTheHelpNames) {
  Yard yard;
  EXPECT_EQ(yard.Offered({"run", "--gpu-ids", ""}), (Words{"uuid", "index"}));
  EXPECT_EQ(yard.Offered({"run", "--priority", ""}), (Words{"high", "normal", "low"}));
  EXPECT_EQ(yard.Offered({"run", "--share", "0.5:"}), Words{"0.5:turns"});
  EXPECT_EQ(yard.Offered({"run", "--after", "1"}), (Words{"12", "13"}));
  EXPECT_EQ(yard.Offered({"run", "--tag", ""}), Words{"mnist"});
  EXPECT_EQ(yard.Offered({"ls", "--lang=z"}), Words{"--lang=zh"});
  EXPECT_EQ(yard.Offered({"ls", "--state", "su"}), Words{"succeeded"});
  EXPECT_EQ(yard.Offered({"--lang", ""}), (Words{"en", "zh"}));
  EXPECT_EQ(yard.Offered({"run", "-g", ""}), Words{});
  EXPECT_EQ(yard.At({"run", "-C", ""}).also, Also::kFolders);
  EXPECT_EQ(yard.At({"ls", "--config", ""}).also, Also::kFiles);
}

TEST(Completion, TasksAreThoseTheCommandCanActOn) {
  Yard yard;
  EXPECT_EQ(yard.Offered({"cancel", "12", ""}), (Words{"12", "13", "digits"}));
  EXPECT_EQ(yard.asked, "tasks open");
  yard.At({"rm", ""});
  EXPECT_EQ(yard.asked, "tasks ended");
  yard.At({"release", ""});
  EXPECT_EQ(yard.asked, "tasks held");
  EXPECT_EQ(yard.Offered({"show", "dig"}), Words{"digits"});
  EXPECT_EQ(yard.asked, "tasks ");
}

TEST(Completion, WordsAreReadInTheirOrder) {
  Yard yard;
  EXPECT_EQ(yard.Offered({"priority", "h"}), Words{"high"});
  EXPECT_EQ(yard.Offered({"priority", "high", "12", "1"}), (Words{"12", "13"}));
  EXPECT_EQ(yard.Offered({"priority", "--first", "1"}), (Words{"12", "13"}));
  EXPECT_EQ(yard.Offered({"devices", ""}), (Words{"hold", "release"}));
  EXPECT_EQ(yard.Offered({"devices", "hold", "--until", "22:00", "GPU0", "G"}), (Words{"GPU0", "GPU1"}));
  EXPECT_EQ(yard.Offered({"completion", "z"}), Words{"zsh"});
  EXPECT_EQ(yard.Offered({"completion", "zsh", ""}), Words{});
  EXPECT_EQ(yard.At({"submit", ""}).also, Also::kFiles);
}

TEST(Completion, TheTasksOwnCommandIsLeftToItsProgram) {
  Yard yard;
  Completion own = yard.At({"run", "-g", "2", "python3", "--ver"});
  EXPECT_EQ(own.also, Also::kCommand);
  EXPECT_EQ(own.command_at, 4u);
  EXPECT_TRUE(own.words.empty());
  EXPECT_EQ(yard.At({"run", "-q", "pyth"}).command_at, 3u);
  EXPECT_EQ(yard.At({"run", "--", "-x"}).command_at, 3u);
  EXPECT_EQ(yard.At({"run", "-q", "--", "python3", ""}).command_at, 4u);
}

TEST(Completion, WhatItDoesNotKnowIsNoTrouble) {
  Yard yard;
  EXPECT_EQ(yard.Offered({"nonsense", ""}), Words{});
  EXPECT_EQ(yard.Offered({"ls", "--nonsense", "--al"}), Words{"--all"});
  EXPECT_FALSE(yard.Offered({}).empty());
}

}  // namespace
}  // namespace ty
