#include "model/outcome.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>

#include "model/event.h"
#include "model/task.h"

namespace ty {
namespace {

namespace json = boost::json;

Outcome Failed() {
  Outcome outcome{OutcomeKind::kFailed, FailureClass::kScript, 7, std::nullopt, {}, "ValueError: bad"};
  outcome.reason = {"outcome.script", {{"code", int64_t{7}}, {"share", 0.5}, {"who", "ann \"q\" \x1b"}}};
  return outcome;
}

TEST(Outcome, HasTheShapeOfTheContract) {
  Outcome outcome = Failed();
  outcome.reason = {"a.b", {{"n", int64_t{1}}}};
  EXPECT_EQ(json::serialize(ToJson(outcome)),
            R"({"kind":"failed","class":"script","exit_code":7,"signal":null,)"
            R"("reason":{"id":"a.b","args":{"n":1}},"evidence":"ValueError: bad"})");
  EXPECT_EQ(
      json::serialize(ToJson(Outcome{})),
      R"({"kind":"succeeded","class":null,"exit_code":null,"signal":null,"reason":null,"evidence":""})");
}

TEST(Outcome, SurvivesJsonAndBack) {
  Outcome killed{OutcomeKind::kLost, FailureClass::kKilledFromOutside, std::nullopt, 9, {}, ""};
  Outcome of_ranks = Failed();
  of_ranks.failed_rank = 1;
  Outcome dumped = killed;
  dumped.core_dumped = true;
  Outcome found = dumped;
  found.core_file = "/work/core";
  for (const Outcome& outcome : {Outcome{}, Failed(), killed, of_ranks, dumped, found}) {
    Result<Outcome> back = ParseOutcome(json::parse(json::serialize(ToJson(outcome))));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, outcome);
  }
}

TEST(Outcome, EveryKindAndClassHasANameOfItsOwn) {
  for (int i = 0; i <= static_cast<int>(OutcomeKind::kLost); ++i)
    EXPECT_EQ(ParseOutcomeKind(Name(static_cast<OutcomeKind>(i))), static_cast<OutcomeKind>(i));
  for (int i = 0; i <= static_cast<int>(FailureClass::kScript); ++i)
    EXPECT_EQ(ParseFailureClass(Name(static_cast<FailureClass>(i))), static_cast<FailureClass>(i));
  EXPECT_EQ(Name(FailureClass::kDataLoading), "data_loading");
  EXPECT_FALSE(ParseOutcomeKind("Failed"));
  EXPECT_FALSE(ParseFailureClass("other"));
}

TEST(Outcome, EvidenceThatIsNotTextIsMadeReadable) {
  Outcome outcome = Failed();
  outcome.evidence = "caf\xe9\r";
  EXPECT_EQ(ParseOutcome(json::parse(json::serialize(ToJson(outcome))))->evidence, "caf\xEF\xBF\xBD\\r");
}

TEST(Outcome, DamagedRecordsAreNamedAsOurFault) {
  for (const char* text :
       {"[]", "{}", "null", R"({"kind":"won"})", R"({"kind":"failed","class":"bad luck"})",
        R"({"kind":"failed","exit_code":"7"})", R"({"kind":"failed","exit_code":99999999999})",
        R"({"kind":"failed","reason":{"args":{}}})", R"({"kind":7})"}) {
    Result<Outcome> outcome = ParseOutcome(json::parse(text));
    ASSERT_FALSE(outcome) << text;
    EXPECT_EQ(outcome.error().code, Code::kInternal);
    EXPECT_EQ(outcome.error().message.id, "record.damaged");
  }
}

TEST(ExitCode, FollowsTheContract) {
  auto with = [](OutcomeKind kind, std::optional<int> code, std::optional<int> signal) {
    return ExitCodeOf(Outcome{kind, FailureClass::kNone, code, signal, {}, ""});
  };
  EXPECT_EQ(with(OutcomeKind::kSucceeded, 0, {}), 0);
  EXPECT_EQ(with(OutcomeKind::kFailed, 7, {}), 7);
  EXPECT_EQ(with(OutcomeKind::kFailed, {}, 11), 139);
  EXPECT_EQ(with(OutcomeKind::kCancelled, {}, 15), 130);
  EXPECT_EQ(with(OutcomeKind::kTimeout, {}, 9), 124);
  EXPECT_EQ(with(OutcomeKind::kLost, {}, {}), 125);
  EXPECT_EQ(with(OutcomeKind::kPreempted, 0, {}), 125);
  EXPECT_EQ(with(OutcomeKind::kFailed, {}, {}), 125);  // could not be executed, or never ran
  EXPECT_EQ(with(OutcomeKind::kFailed, 0, {}), 1);     // a failure never looks like success
}

TEST(MessageJson, KeepsTheKindsOfArguments) {
  Message message{"a.b", {{"n", int64_t{3}}, {"x", 2.0}, {"big", INT64_MAX}, {"who", ""}, {"small", 1e-300}}};
  EXPECT_EQ(*ParseMessage(json::parse(json::serialize(ToJson(message)))), message);
  EXPECT_EQ(*ParseMessage(ToJson(Message{})), Message{});
  EXPECT_EQ(ParseMessage(json::parse(R"({"id":"a.b"})"))->id, "a.b");
}

TEST(MessageJson, NumbersThatJsonLacksBecomeTheirNames) {
  Message message{"a.b", {{"x", std::nan("")}, {"y", -HUGE_VAL}, {"z", HUGE_VAL}}};
  EXPECT_EQ(json::serialize(ToJson(message)),
            R"({"id":"a.b","args":{"x":"NaN","y":"-Infinity","z":"Infinity"}})");
}

TEST(MessageJson, OtherJsonIsRefused) {
  for (const char* text :
       {"7", "[]", "{}", R"({"id":""})", R"({"id":"a","args":[]})", R"({"id":"a","args":{"n":null}})",
        R"({"id":"a","args":{"n":18446744073709551615}})"})
    EXPECT_FALSE(ParseMessage(json::parse(text))) << text;
}

TEST(Event, IsOneLineInTheShapeOfTheContract) {
  Event event{7, *ParseIso("2026-11-30T09:12:27.123Z"), "attempt.started", TaskId{12}, 2, "{}"};
  EXPECT_EQ(
      ToJsonLine(event),
      R"({"seq":7,"at":"2026-11-30T09:12:27.123Z","kind":"attempt.started","task":12,"attempt":2,"data":{}})");
  event = {8, event.at, "queue.paused", std::nullopt, 0, R"({"why":"cancel --all"})"};
  EXPECT_EQ(ToJsonLine(event),
            R"({"seq":8,"at":"2026-11-30T09:12:27.123Z","kind":"queue.paused","task":null,"attempt":null,)"
            R"("data":{"why":"cancel --all"}})");
}

TEST(States, HaveNamesThatReadBack) {
  for (const char* name : {"waiting", "starting", "running", "stopping", "ended"}) {
    std::optional<TaskState> state = ParseTaskState(name);
    ASSERT_TRUE(state) << name;
    EXPECT_EQ(Name(*state), name);
  }
  EXPECT_FALSE(ParseTaskState("done"));
  for (AttemptState state :
       {AttemptState::kStarting, AttemptState::kRunning, AttemptState::kStopping, AttemptState::kEnded})
    EXPECT_EQ(ParseAttemptState(Name(state)), state);
  EXPECT_FALSE(ParseAttemptState(""));
}

}  // namespace
}  // namespace ty
