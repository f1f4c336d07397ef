// Stops, limits, and what does not die of them.
#include <sys/wait.h>
#include <algorithm>

#include "engine/testing.h"

namespace ty {
namespace {

TEST_P(LocalEngineTest, StopsByTheAskedSignalAndLeavesTheReason) {
  const Ulid attempt = LaunchScript("trap 'cat $STOP; exit 3' USR1; STOP=" + home_ +
                                    "/stop-file; echo ready; "
                                    "while :; do sleep 0.02; done");
  ASSERT_TRUE(Eventually([&] { return Log(attempt) == "ready\n"; }));
  ASSERT_EQ(::symlink(Folder(attempt).paths().Stop().c_str(), (home_ + "/stop-file").c_str()), 0);
  engine_->Stop(attempt, {.reason = "cancelled by ann", .signal = SIGUSR1});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.exit_code, 3);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kOrder);
  EXPECT_FALSE(record.killed_by_shim);
  EXPECT_TRUE(Log(attempt).ends_with("cancelled by ann\n"));  // the shell may say more about its sleep
}

// Case 52: Nukesor/pueue#372.
TEST_P(LocalEngineTest, StopsTheWholeGroupOfAShell) {
  const Ulid attempt = Launch(Order({"/bin/bash", "-c", "sleep 1000 & echo $! > pid; wait; :"}));
  const int sleeper = ReadPid("pid");
  engine_->Stop(attempt, {.reason = "x"});
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.signal, SIGTERM);
  EXPECT_FALSE(IsAlive(sleeper));
}

TEST_P(LocalEngineTest, KillsWhoeverIgnoresTerm) {
  const Ulid attempt = LaunchScript("trap '' TERM INT HUP; echo ready; while :; do sleep 0.02; done");
  ASSERT_TRUE(Eventually([&] { return Log(attempt) == "ready\n"; }));
  engine_->Stop(attempt, {.reason = "x", .grace = milliseconds(50)});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.signal, SIGKILL);
  EXPECT_TRUE(record.killed_by_shim);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kOrder);
}

TEST_P(LocalEngineTest, WakesAStoppedTaskToLetItEnd) {
  const Ulid attempt =
      LaunchScript("trap 'exit 4' TERM; echo ready; kill -STOP $$; while :; do sleep 0.02; done");
  const int pid = desk_->Wait<AttemptRunning>(attempt)->pid;
  ASSERT_TRUE(Eventually([&] { return ReadProcessStat(pid)->state == 'T'; }));
  engine_->Stop(attempt, {.reason = "x"});
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 4);
}

TEST_P(LocalEngineTest, EndsATreeThatKeepsForkingOutOfItsSession) {
  const Ulid attempt = LaunchScript(
      "trap '' TERM; while :; do setsid sh -c 'trap \"\" TERM; sleep 0.3' & setsid setsid sleep 1000 & echo "
      "$! > pid; sleep 0.01; done");
  const int first = ReadPid("pid");
  engine_->Stop(attempt, {.reason = "x", .grace = {}});
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.signal, SIGKILL);
  EXPECT_FALSE(IsAlive(first));
  EXPECT_TRUE(FindMarked("TRAINYARD_ID=" + attempt.Text()).empty());
}

TEST_P(LocalEngineTest, EndsWhatTheLeaderLeftBehindAndKeepsItsOutcome) {
  const Ulid attempt = LaunchScript("setsid sleep 1000 & echo $! > pid; exit 3");
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.exit_code, 3);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
  EXPECT_FALSE(record.killed_by_shim);  // TERM was enough
  EXPECT_FALSE(IsAlive(ReadPid("pid")));
}

TEST_P(LocalEngineTest, EitherVoidsOrStopsButNeverBoth) {
  std::vector<Ulid> attempts;
  for (int i = 0; i < 40; ++i) {
    const std::string mark = home_ + "/ran-" + std::to_string(i);
    attempts.push_back(LaunchScript("> " + mark + "; exec sleep 1000"));
    if (i % 3 == 1) ::usleep(static_cast<useconds_t>(100 * i));
    if (i % 3 == 2) desk_->Wait<AttemptRunning>(attempts.back());
    engine_->Stop(attempts.back(), {.reason = "changed my mind", .signal = SIGKILL});
  }
  int voided = 0, stopped = 0;
  for (int i = 0; i < 40; ++i) {
    const AttemptNews end = desk_->WaitForEnd(attempts[i]);
    const auto decision = Folder(attempts[i]).ReadDecision();
    ASSERT_TRUE(decision);
    if (std::holds_alternative<AttemptNotStarted>(end.what)) {
      ++voided;
      EXPECT_FALSE(decision->go);
      EXPECT_FALSE(Exists(home_ + "/ran-" + std::to_string(i)));
      EXPECT_FALSE(Exists(Folder(attempts[i]).paths().folder + "/log.idx"));
    } else {
      ++stopped;
      EXPECT_TRUE(decision->go);
      ASSERT_TRUE(std::holds_alternative<AttemptExited>(end.what));
    }
    EXPECT_TRUE(Eventually([&] { return !Running(attempts[i]); }));
    EXPECT_EQ(desk_->CountEnds(attempts[i]), 1);
  }
  EXPECT_GE(stopped, 13);
  EXPECT_GE(voided, 1);
}

// A leader, a child in its group and a child in a session of its own, each of which says whom a signal
// reached.
constexpr char kFamily[] =
    "trap 'echo leader >> heard; while [ ! -e end ]; do sleep 0.02; done; exit 3' USR1; "
    "sh -c 'trap \"echo member >> heard; exit\" USR1; echo r >> ready; while :; do sleep 0.02; done' & "
    "setsid sh -c 'trap \"echo stranger >> heard; exit\" USR1; echo r >> ready; while :; do sleep 0.02; "
    "done' & "
    "echo r >> ready; while :; do sleep 0.02; done";

TEST_P(LocalEngineTest, AStopIsHeardByTheLeaderTheGroupOrEveryProcess) {
  struct Case {
    StopTarget target;
    std::vector<std::string> heard;
  };
  const Case cases[] = {{StopTarget::kLeader, {"leader"}},
                        {StopTarget::kGroup, {"leader", "member"}},
                        {StopTarget::kAll, {"leader", "member", "stranger"}}};
  for (const Case& one : cases) {
    for (const char* file : {"heard", "ready", "end"}) ::unlink((home_ + "/" + file).c_str());
    const Ulid attempt = LaunchScript(kFamily);
    ASSERT_TRUE(Eventually([&] { return Content("ready") == "r\nr\nr\n"; }));
    engine_->Stop(attempt, {.reason = "x", .signal = SIGUSR1, .target = one.target});
    const auto heard = [&] {
      const std::string text = Content("heard");
      std::vector<std::string> names;
      for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
        names.push_back(text.substr(at, end - at));
      std::sort(names.begin(), names.end());
      return names;
    };
    EXPECT_TRUE(Eventually([&] { return heard().size() >= one.heard.size(); }));
    LetOthersRun();  // whoever else heard it would have said so by now
    EXPECT_EQ(heard(), one.heard);
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/end").c_str(), ""));
    const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
    EXPECT_EQ(record.exit_code, 3);
    EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kOrder);
    EXPECT_TRUE(FindMarked("TRAINYARD_ID=" + attempt.Text()).empty());
  }
}

TEST_P(LocalEngineTest, ALimitStopsWhomTheTaskSaidShouldHearIt) {
  for (const int limit : {5, 20, 40}) {  // the first at which all three are ready to hear it
    for (const char* file : {"heard", "ready", "end"}) ::unlink((home_ + "/" + file).c_str());
    const int64_t until = MonotonicNanos() + (limit - 1) * 1'000'000'000LL;
    LaunchOrder order = Order({"/bin/sh", "-c", kFamily});
    order.time_limit = seconds(limit);
    order.stop_signal = SIGUSR1;
    order.stop_target = StopTarget::kAll;
    const Ulid attempt = Launch(std::move(order));
    const auto ready = [&] { return Content("ready") == "r\nr\nr\n"; };
    (void)Eventually([&] { return ready() || MonotonicNanos() > until; });
    const bool in_time = ready() && MonotonicNanos() < until;
    if (in_time) {
      EXPECT_TRUE(Eventually([&] { return Content("heard").find("stranger") != std::string::npos; }));
    }
    // Only now: once the leader has ended the others are not waited for.
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/end").c_str(), ""));
    const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
    EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kTimeLimit);
    if (in_time) return;
  }
  FAIL() << "never ready in time";
}

TEST_P(LocalEngineTest, KeepsTheTimeLimitWithNobodyWatching) {
  LaunchOrder order = Order({"/bin/sh", "-c", "exec sleep 1000"});
  order.time_limit = milliseconds(300);
  const Ulid attempt = Launch(std::move(order));
  desk_->Wait<AttemptRunning>(attempt);
  engine_.reset();
  EXPECT_TRUE(Eventually([&] { return !Running(attempt); }));
  Open();
  Adopt({Row(attempt)});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kTimeLimit);
  EXPECT_EQ(record.signal, SIGTERM);
  EXPECT_EQ(ReadFile(Folder(attempt).paths().Stop(), 100).value(), "time limit\n");
}

TEST_P(LocalEngineTest, KeepsTheIdleLimitOnceTheTaskFallsSilent) {
  LaunchOrder order =
      Order({"/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done; exec sleep 1000"});
  order.idle_limit = milliseconds(400);
  const Ulid attempt = order.attempt;
  const ExitRecord record = RunToEnd(std::move(order));
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kIdleLimit);
  ExpectSilence(record, Folder(attempt).paths().Log());
}

// A freezer of the test's own: what sits in it does not even die of KILL, as a process that waits for a
// driver.
class DeepFreeze {
 public:
  explicit DeepFreeze(const std::string& name) : leaf_{Containment::kFreezer, ""} {
    for (const CgroupRoot& root : KnownCgroupRoots(name)) {
      if (root.kind == Containment::kFreezer) leaf_.path = root.folder;
    }
    if (leaf_ && !leaf_.Make()) leaf_.path.clear();
  }
  ~DeepFreeze() {
    if (!leaf_) return;
    Thaw();
    EXPECT_TRUE(Eventually([&] { return leaf_.Remove().has_value(); }));
  }
  explicit operator bool() const { return static_cast<bool>(leaf_); }
  void Take(int pid) const {
    ASSERT_TRUE(PokeFile(leaf_.path + "/cgroup.procs", std::to_string(pid)));
    ASSERT_TRUE(leaf_.Freeze(true));
    ASSERT_TRUE(Eventually(
        [&] { return ReadFile(leaf_.path + "/freezer.state", 64).value_or("").starts_with("FROZEN"); }));
  }
  void Thaw() const { (void)leaf_.Freeze(false); }

 private:
  Cgroup leaf_;
};

TEST_P(LocalEngineTest, WhatSurvivesKillIsSaidToBeUnkillableAndHoldsItsCardUntilItIsGone) {
  const DeepFreeze freezer("frozen-" + instance_);
  if (!freezer) GTEST_SKIP() << "no v1 freezer here";
  LaunchOrder order = Order({"/bin/sh", "-c", "trap '' TERM; echo ready; exec sleep 1000"});
  order.leases = {TakeLease("card")};
  order.unkillable_after = milliseconds(50);
  const Ulid attempt = Launch(std::move(order));
  ASSERT_TRUE(Eventually([&] { return Log(attempt) == "ready\n"; }));  // it ignores TERM from here on
  freezer.Take(desk_->Wait<AttemptRunning>(attempt)->pid);
  engine_->Stop(attempt, {.reason = "x", .grace = milliseconds(10)});
  desk_->Wait<AttemptUnkillable>(attempt);
  EXPECT_EQ(desk_->CountEnds(attempt), 0);
  EXPECT_TRUE(Running(attempt));
  EXPECT_TRUE(IsHeld("card"));
  LetOthersRun();  // others go on, and it does not end meanwhile
  EXPECT_EQ(desk_->CountEnds(attempt), 0);
  freezer.Thaw();
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.signal, SIGKILL);
  EXPECT_TRUE(record.killed_by_shim);
  EXPECT_EQ(desk_->Count<AttemptUnkillable>(attempt), 1);
}

TEST_P(LocalEngineTest, WhatSurvivesItsSupervisorAndKillIsUnkillableTooAndLostOnlyWhenGone) {
  const DeepFreeze freezer("frozen-" + instance_);
  if (!freezer) GTEST_SKIP() << "no v1 freezer here";
  LaunchOrder order = Order({"/bin/sh", "-c", "exec sleep 1000"});
  order.unkillable_after = milliseconds(50);
  const Ulid attempt = Launch(std::move(order));
  const int task = desk_->Wait<AttemptRunning>(attempt)->pid;
  freezer.Take(task);
  ::kill(ShimOf(attempt), SIGKILL);
  desk_->Wait<AttemptUnkillable>(attempt);
  EXPECT_EQ(desk_->CountEnds(attempt), 0);
  freezer.Thaw();
  EXPECT_TRUE(std::holds_alternative<AttemptLost>(desk_->WaitForEnd(attempt).what));
  EXPECT_FALSE(IsAlive(task));
}

// Case 47: actions/runner#4601, windmill-labs/windmill#2403, flux-framework/flux-core#1412.
TEST_P(LocalEngineTest, NothingIsLeftOfAHundredHostileTrees) {
  // Its generations live for a millisecond or two and ignore TERM.
  ASSERT_TRUE(
      WriteFileAt(AT_FDCWD, (home_ + "/chain").c_str(), "trap '' TERM HUP\n: > $1\nsh ./chain $1 &\n"));
  const std::string trees[] = {
      "trap '' TERM; setsid sh -c 'trap \"\" TERM HUP; : > $1; sleep 1000' sh $1 & sleep 1000",
      "(setsid sh -c '(trap \"\" TERM HUP; : > $1; exec sleep 1000) & exit' sh $1 &); sleep 1000",
      "trap '' TERM INT HUP; : > $1; while :; do sleep 1000; done",
      "setsid sh -c 'exec 0<&- 1>&- 2>&-; trap \"\" HUP TERM; : > $1; sleep 1000 & wait' sh $1 & sleep 1000",
      "trap '' TERM; : > $1; while :; do setsid sh -c 'sleep 0.01 &' & sleep 0.005; done",
      "setsid sh ./chain $1 & sleep 1000",
      "trap '' TERM; setsid env -i sleep 1000 & : > $1; exit 0",
  };
  constexpr int kTrees = 100, kAtOnce = 10;
  for (int first = 0; first < kTrees; first += kAtOnce) {
    std::vector<Ulid> attempts;
    std::vector<int> shims;
    for (int i = first; i < first + kAtOnce; ++i) {
      attempts.push_back(
          Launch(Order({"/bin/sh", "-c", trees[i % std::size(trees)], "sh", "ready" + std::to_string(i)})));
    }
    for (int i = 0; i < kAtOnce; ++i) {
      ASSERT_TRUE(Eventually([&] { return Exists(home_ + "/ready" + std::to_string(first + i)); }));
      shims.push_back(ShimOf(attempts[i]));
    }
    for (const Ulid& attempt : attempts) engine_->Stop(attempt, {.reason = "x", .grace = milliseconds(1)});
    for (int i = 0; i < kAtOnce; ++i) {
      desk_->Wait<AttemptExited>(attempts[i]);
      EXPECT_TRUE(FindMarked("TRAINYARD_ID=" + attempts[i].Text()).empty()) << "tree " << first + i;
      EXPECT_TRUE(FindDescendants(shims[i]).empty());
    }
  }
  EXPECT_TRUE(FindInFolder(home_).empty());
}

TEST_P(LocalEngineTest, WhatCannotBeKilledIsStillSaidToBeSoAfterARestart) {
  const DeepFreeze freezer("frozen-" + instance_);
  if (!freezer) GTEST_SKIP() << "no v1 freezer here";
  LaunchOrder order = Order({"/bin/sh", "-c", "trap '' TERM; exec sleep 1000"});
  order.unkillable_after = milliseconds(50);
  const Ulid attempt = Launch(std::move(order));
  freezer.Take(desk_->Wait<AttemptRunning>(attempt)->pid);
  engine_->Stop(attempt, {.reason = "x", .grace = milliseconds(10)});
  desk_->Wait<AttemptUnkillable>(attempt);
  Restart({Row(attempt)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(attempt)->unkillable);
  EXPECT_EQ(desk_->Count<AttemptUnkillable>(attempt), 0) << "told with the rest of its state";
  freezer.Thaw();
  EXPECT_TRUE(desk_->Wait<AttemptExited>(attempt)->record.killed_by_shim);
}

}  // namespace
}  // namespace ty
