// The demo's facts on hand-written records: each holds for a demo as it should be, and each is false, saying
// what was seen, as soon as the record tells another story.
#include "cli/demo_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <initializer_list>
#include <set>

namespace ty {
namespace {

namespace json = boost::json;

constexpr int kA = 1, kB = 2, kC = 3;

// A record that is written event by event; seconds are from its start.
class Record {
 public:
  int Add(double second, const char* kind, int task, int attempt = 1, const json::object& data = {}) {
    const int seq = static_cast<int>(events_.size()) + 1;
    const Time at = *ParseIso("2026-11-30T09:00:00Z") + milliseconds(static_cast<int64_t>(second * 1000));
    events_.push_back(json::object{{"seq", seq},
                                   {"at", FormatIso(at)},
                                   {"kind", kind},
                                   {"task", task},
                                   {"attempt", attempt},
                                   {"data", data}});
    return seq;
  }
  int Lease(double second, const char* kind, int task, const char* device, int share, int attempt = 1) {
    return Add(second, kind, task, attempt, {{"device", device}, {"label", device}, {"share_milli", share}});
  }
  int Mark(double second, int task, int done, int attempt = 1) {
    return Add(second, "progress.mark", task, attempt, {{"done", done}, {"total", 400}});
  }
  const json::array& events() const { return events_; }

 private:
  json::array events_;
};

// What differs from a demo as it should be.
struct Differently {
  const char* a_ended = "data_loading";
  const char* a_resumed = "/out/step-40.pt";
  int a_second_mark = 40;
  bool a_shares = false;
  const char* c_device = "cpu:1";
  double turn = 1, late = 0.01;  // of the freeze behind the thaw: negative when it comes first, as it should
  int turns = 6;                 // of each
  int step_beside = 10, step_alone = 20;  // of C in a second
  bool c_grows = true;
  bool other_comes = false;
  bool c_reports = true;
};

Record Story(const Differently& how = {}) {
  Record record;
  record.Lease(0, "lease.granted", kA, "cpu:0", 1000);
  record.Lease(0, "lease.granted", kB, "cpu:1", 1000);
  record.Add(0.1, "attempt.started", kA);
  record.Add(0.1, "attempt.started", kB);
  record.Lease(0.2, "lease.changed", kB, "cpu:1", 500);
  record.Lease(0.2, "lease.granted", kC, how.c_device, 500);
  if (how.a_shares) record.Lease(0.3, "lease.granted", 9, "cpu:0", 500);
  record.Add(0.3, "attempt.started", kC);
  record.Add(0.31, "attempt.frozen", kB);
  // A to its failure.
  record.Mark(0.4, kA, 0);
  record.Add(0.5, "checkpoint.saved", kA, 1, {{"path", "/out/step-20.pt"}, {"step", 20}});
  record.Add(0.6, "checkpoint.saved", kA, 1, {{"path", "/out/step-40.pt"}, {"step", 40}});
  record.Add(0.7, "attempt.ended", kA, 1,
             {{"outcome", json::object{{"kind", "failed"}, {"class", how.a_ended}}}});
  record.Lease(0.7, "lease.released", kA, "cpu:0", 0);
  // B and C in turns; C reports at the start of each of its turns but the first.
  double now = 0.4;
  record.Mark(now, kC, 0);
  record.Mark(now, kB, 0);
  int c_done = 0;
  for (int i = 0; i < how.turns; i++) {
    for (int goes : {kB, kC}) {
      const int rests = goes == kB ? kC : kB;
      now += how.turn;
      record.Add(std::min(now, now + how.late), how.late < 0 ? "attempt.frozen" : "attempt.thawed",
                 how.late < 0 ? rests : goes);
      record.Add(std::max(now, now + how.late), how.late < 0 ? "attempt.thawed" : "attempt.frozen",
                 how.late < 0 ? goes : rests);
      if (goes == kB) record.Mark(now + 0.02, kB, 20 * (i + 1));
      if (goes == kC && how.c_reports)
        record.Mark(now + 0.02, kC, c_done += static_cast<int>(2 * how.turn * how.step_beside));
    }
  }
  record.Add(now + how.turn, "attempt.ended", kB, 1, {{"outcome", json::object{{"kind", "succeeded"}}}});
  record.Lease(now + how.turn, "lease.released", kB, "cpu:1", 0);
  now += how.turn;
  if (how.c_grows) record.Lease(now, "lease.changed", kC, how.c_device, 1000);
  if (how.other_comes) record.Lease(now + 1, "lease.granted", 9, "cpu:1", 500);
  // A again.
  record.Lease(now, "lease.granted", kA, "cpu:0", 1000, 2);
  record.Add(now, "attempt.started", kA, 2, {{"resume", how.a_resumed}});
  record.Mark(now + 0.1, kA, how.a_second_mark, 2);
  record.Lease(now + 1, "lease.released", kA, "cpu:0", 0, 2);
  // C alone; at its end its last mark is told once more, later.
  if (how.c_reports) {
    for (int i = 1; i <= 4; i++) record.Mark(now + i, kC, c_done += how.step_alone);
    record.Mark(now + 5, kC, c_done);
  }
  record.Lease(now + 5, "lease.released", kC, how.c_device, 0);
  return record;
}

std::vector<DemoFact> FactsOf(const Record& record) {
  return ComputeDemoFacts(record.events(), DemoTasks{kA, kB, kC});
}

DemoFact FactOf(std::string_view name, const Differently& how) {
  const std::vector<DemoFact> facts = FactsOf(Story(how));
  auto found =
      std::find_if(facts.begin(), facts.end(), [&](const DemoFact& one) { return one.name == name; });
  EXPECT_NE(found, facts.end()) << name;
  return *found;
}

// The facts that do not hold.
std::set<std::string> False(const Differently& how) {
  std::set<std::string> names;
  for (const DemoFact& fact : FactsOf(Story(how)))
    if (!fact.holds) names.insert(fact.name);
  return names;
}

TEST(DemoFacts, AllHoldForADemoAsItShouldBe) {
  const std::vector<DemoFact> facts = FactsOf(Story({.late = -0.01}));
  std::vector<std::string> names;
  for (const DemoFact& fact : facts) {
    names.push_back(fact.name);
    EXPECT_TRUE(fact.holds) << fact.name << " " << fact.seen.id;
    EXPECT_FALSE(fact.events.empty()) << fact.name;
    EXPECT_TRUE(std::is_sorted(fact.events.begin(), fact.events.end())) << fact.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a_exclusive", "a_restarted_from_checkpoint", "b_c_shared",
                                             "b_c_took_turns", "c_alone_after_b", "c_rate_up_after_b"}));
}

TEST(DemoFacts, AnEmptyRecordShowsNothing) {
  for (const DemoFact& fact : FactsOf(Record{})) {
    EXPECT_FALSE(fact.holds) << fact.name;
    EXPECT_FALSE(fact.seen.empty()) << fact.name;
  }
}

TEST(DemoFacts, AnotherTaskOnAsDeviceIsNoExclusion) {
  EXPECT_EQ(False({.a_shares = true}), std::set<std::string>{"a_exclusive"});
  EXPECT_EQ(FactOf("a_exclusive", {.a_shares = true}).seen.id, "cli.demo.seen.other_there");
}

TEST(DemoFacts, ARestartCountsOnlyFromTheLastCheckpointAfterADataLoadingError) {
  const char* fact = "a_restarted_from_checkpoint";
  EXPECT_EQ(False({.a_ended = "script"}), std::set<std::string>{fact});
  EXPECT_EQ(FactOf(fact, {.a_ended = "script"}).seen.id, "cli.demo.seen.first_end");
  EXPECT_EQ(FactOf(fact, {.a_resumed = "/out/step-20.pt"}).seen.id, "cli.demo.seen.other_checkpoint");
  EXPECT_EQ(FactOf(fact, {.a_resumed = ""}).seen.id, "cli.demo.seen.other_checkpoint");
  EXPECT_EQ(FactOf(fact, {.a_second_mark = 39}).seen.id, "cli.demo.seen.behind");
}

TEST(DemoFacts, WithBAndCOnTwoDevicesNothingIsShared) {
  EXPECT_EQ(False({.c_device = "cpu:2"}),
            (std::set<std::string>{"b_c_shared", "b_c_took_turns", "c_alone_after_b", "c_rate_up_after_b"}));
  EXPECT_EQ(FactOf("b_c_shared", {.c_device = "cpu:2"}).seen.id, "cli.demo.seen.apart");
}

TEST(DemoFacts, FiveSecondsTogetherAreWanted) {
  EXPECT_EQ(FactOf("b_c_shared", {.turn = 0.5, .turns = 4}).seen.id, "cli.demo.seen.together_short");
  EXPECT_TRUE(FactOf("b_c_shared", {.turn = 0.5, .turns = 6}).holds);
}

TEST(DemoFacts, BothMustGetOnWhileTheyShare) {
  EXPECT_EQ(FactOf("b_c_shared", {.c_reports = false}).seen.id, "cli.demo.seen.no_progress");
}

TEST(DemoFacts, TwoTurnsOfEachAreWanted) {
  EXPECT_FALSE(FactOf("b_c_took_turns", {.late = -0.01, .turns = 1}).holds);
  EXPECT_EQ(FactOf("b_c_took_turns", {.late = -0.01, .turns = 1}).seen.id, "cli.demo.seen.turns_few");
  EXPECT_TRUE(FactOf("b_c_took_turns", {.late = -0.01, .turns = 2}).holds);
}

TEST(DemoFacts, BothMayBeAwakeForHalfASecondAtAStretchAndNotLonger) {
  EXPECT_TRUE(FactOf("b_c_took_turns", {.late = 0.5}).holds);
  EXPECT_EQ(FactOf("b_c_took_turns", {.late = 0.501}).seen.id, "cli.demo.seen.both_ran");
}

TEST(DemoFacts, CIsAloneOnlyWhenNobodyComesAndItsShareGrows) {
  EXPECT_EQ(False({.late = -0.01, .other_comes = true}), std::set<std::string>{"c_alone_after_b"});
  EXPECT_EQ(FactOf("c_alone_after_b", {.other_comes = true}).seen.id, "cli.demo.seen.other_there");
  EXPECT_EQ(FactOf("c_alone_after_b", {.c_grows = false}).seen.id, "cli.demo.seen.not_grown");
  EXPECT_EQ(FactOf("c_alone_after_b", {.c_reports = false}).seen.id, "cli.demo.seen.no_progress");
}

TEST(DemoFacts, TheRateIsMeasuredBetweenMarksThatRise) {
  const DemoFact fact = FactOf("c_rate_up_after_b", {});
  ASSERT_TRUE(fact.number);
  EXPECT_NEAR(*fact.number, 2, 0.03);  // the mark told once more at the end does not count
  EXPECT_EQ(fact.events.size(), 4u);
}

TEST(DemoFacts, ARateThatRisesTooLittleIsToldWithItsNumber) {
  const DemoFact fact = FactOf("c_rate_up_after_b", {.step_alone = 12});
  EXPECT_FALSE(fact.holds);
  EXPECT_EQ(fact.seen.id, "cli.demo.seen.rate_low");
  EXPECT_NEAR(*fact.number, 1.2, 0.02);
  EXPECT_FALSE(FactOf("c_rate_up_after_b", {.c_reports = false}).number);
}

TEST(DemoLosses, AreThoseOfTheTaskInOrder) {
  Record record;
  record.Add(1, "progress.mark", kA, 1, {{"metrics", json::object{{"loss", 2.5}, {"acc", 0.1}}}});
  record.Add(2, "progress.mark", kB, 1, {{"metrics", json::object{{"loss", 9}}}});
  record.Add(3, "progress.mark", kA, 1, {{"done", 3}});
  record.Add(4, "progress.mark", kA, 1, {{"metrics", json::object{{"val_loss", 1}}}});
  EXPECT_EQ(LossesOf(record.events(), kA), (std::vector<double>{2.5, 1}));
}

}  // namespace
}  // namespace ty
