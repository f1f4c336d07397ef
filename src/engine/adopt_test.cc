// What a daemon finds of the attempts of the one before it.
#include <sys/wait.h>

#include "engine/testing.h"

namespace ty {
namespace {

TEST_P(LocalEngineTest, FindsTheEndOfATaskThatEndedWhileTheDaemonWasDead) {
  const Ulid attempt = LaunchScript("while [ ! -e go ]; do sleep 0.02; done; exit 7");
  const auto running = desk_->Wait<AttemptRunning>(attempt);
  engine_.reset();
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  ASSERT_TRUE(Eventually([&] { return !Running(attempt); }));
  const int64_t gone = WallNanos();
  Open();
  Adopt({Row(attempt)});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.exit_code, 7);
  EXPECT_EQ(record.started, running->started);
  EXPECT_LE(ToNanos(record.ended), gone);
  EXPECT_TRUE(desk_->WaitForAdoption().empty());
}

TEST_P(LocalEngineTest, AdoptsARunningTaskAndHearsItsEnd) {
  const Ulid attempt =
      LaunchScript("echo x >> runs; while [ ! -e go ]; do echo tick; sleep 0.02; done; exit 9");
  const auto before = desk_->Wait<AttemptRunning>(attempt);
  Restart({Row(attempt)});
  const auto after = desk_->Wait<AttemptRunning>(attempt);
  EXPECT_TRUE(after->adopted);
  EXPECT_EQ(after->pid, before->pid);
  EXPECT_EQ(after->started, before->started);
  EXPECT_TRUE(desk_->WaitForAdoption().empty());
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 9);
  EXPECT_EQ(Content("runs"), "x\n");
}

TEST_P(LocalEngineTest, StopsAnAdoptedTask) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  engine_.reset();
  Open();
  Adopt({Row(attempt)});
  engine_->Stop(attempt, {.reason = "right after the start"});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.signal, SIGTERM);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kOrder);
}

TEST_P(LocalEngineTest, SurvivesKillNineOfTheDaemonItself) {
  engine_.reset();  // no thread may be there while we fork
  LaunchOrder order =
      Order({"/bin/sh", "-c", "echo x >> runs; while [ ! -e go ]; do echo tick; sleep 0.01; done; exit 5"});
  const Ulid attempt = order.attempt;
  launched_.push_back(attempt);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    Open();
    engine_->Launch(std::move(order));
    ::pause();
  }
  ASSERT_TRUE(Eventually([&] { return Content("runs") == "x\n"; }));
  ::kill(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  EXPECT_TRUE(Running(attempt));
  Open();
  Adopt({Row(attempt)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(attempt)->adopted);
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 5);
  EXPECT_EQ(Content("runs"), "x\n");
}

TEST_P(LocalEngineTest, LosesAnAttemptOnlyOnceEverythingOfADeadSupervisorIsDead) {
  const Ulid attempt = LaunchScript(
      "setsid sh -c 'trap \"\" TERM HUP; (setsid sleep 1000 & echo $! > grandchild); sleep 1000' & echo $$ > "
      "pid; wait");
  const int grandchild = ReadPid("grandchild"), leader = ReadPid("pid");
  desk_->Wait<AttemptRunning>(attempt);
  ::kill(ShimOf(attempt), SIGKILL);
  const AttemptNews end = desk_->WaitForEnd(attempt);
  EXPECT_FALSE(IsAlive(grandchild));
  EXPECT_FALSE(IsAlive(leader));
  ASSERT_TRUE(std::holds_alternative<AttemptLost>(end.what));
  EXPECT_EQ(std::get<AttemptLost>(end.what).why, AttemptLost::Why::kShimDied);
}

TEST_P(LocalEngineTest, FindsAnAttemptLostWhoseSupervisorDiedWithTheDaemon) {
  const Ulid attempt = LaunchScript("setsid sleep 1000 & echo $! > pid; wait");
  const int sleeper = ReadPid("pid");
  desk_->Wait<AttemptRunning>(attempt);
  const int shim = ShimOf(attempt);
  engine_.reset();
  ::kill(shim, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !Running(attempt); }));
  EXPECT_TRUE(IsAlive(sleeper));
  Open();
  Adopt({Row(attempt)});
  desk_->Wait<AttemptLost>(attempt);
  EXPECT_FALSE(IsAlive(sleeper));
  // A crash before the loss was recorded: told again, the same.
  Restart({Row(attempt)});
  EXPECT_EQ(desk_->Wait<AttemptLost>(attempt)->why, AttemptLost::Why::kShimDied);
}

TEST_P(LocalEngineTest, TheSupervisorShrugsOffSignalsOfAShutdown) {
  const Ulid attempt = LaunchScript("while [ ! -e go ]; do sleep 0.02; done; exit 6");
  desk_->Wait<AttemptRunning>(attempt);
  for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGPIPE, SIGUSR1}) ::kill(ShimOf(attempt), signal);
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 6);
}

TEST_P(LocalEngineTest, ReportsASupervisorThatDoesNotAnswerAndHearsItLater) {
  const Ulid attempt = LaunchScript("while [ ! -e go ]; do sleep 0.02; done; exit 6");
  desk_->Wait<AttemptRunning>(attempt);
  const int shim = ShimOf(attempt);
  ::kill(shim, SIGSTOP);
  Restart({Row(attempt)});
  desk_->Wait<AttemptStuck>(attempt);
  desk_->WaitForAdoption();
  EXPECT_EQ(desk_->CountEnds(attempt), 0);
  ::kill(shim, SIGCONT);
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(attempt)->adopted);
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 6);
}

TEST_P(LocalEngineTest, NeverTouchesAStrangerThatGotTheNumberOfOurTask) {
  // A supervisor long dead, whose slot names the number of an innocent process.
  int innocent = 0;
  ASSERT_GE(innocent = ::fork(), 0);
  if (innocent == 0) {
    ::setsid();
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(127);
  }
  LaunchOrder order = Order({"/bin/true"});
  const AttemptFolder folder = Folder(order.attempt);
  ASSERT_TRUE(folder.Make(order, "spec"));
  wire::SlotRecord record;
  record.sequence = 1;
  record.attempt = order.attempt.Text();
  record.pid = innocent;
  record.start = static_cast<int64_t>(ProcessStartTime(innocent).value()) - 1;
  ASSERT_TRUE(WriteAllAt(folder.OpenSlot().get(), wire::EncodeSlotHalf(record), wire::SlotOffset(1)));
  wire::Decision go;
  go.go = true;
  go.boot = BootId();
  go.pid = innocent;
  go.start = record.start;
  ASSERT_EQ(::symlink(wire::EncodeDecision(go).c_str(), folder.paths().Decision().c_str()), 0);

  Adopt({Row(order.attempt)});
  EXPECT_EQ(desk_->Wait<AttemptLost>(order.attempt)->why, AttemptLost::Why::kShimDied);
  desk_->WaitForAdoption();
  EXPECT_EQ(::waitpid(innocent, nullptr, WNOHANG), 0);
  ::kill(innocent, SIGKILL);
  ::waitpid(innocent, nullptr, 0);
}

TEST_P(LocalEngineTest, OneDamagedSlotDoesNotKeepTheOthersFromBeingAdopted) {
  const Ulid fine = LaunchScript("exec sleep 1000"), truncated = LaunchScript("exec sleep 1000"),
             garbled = LaunchScript("exec sleep 1000");
  for (const Ulid& attempt : {fine, truncated, garbled}) desk_->Wait<AttemptRunning>(attempt);
  const int dead = ShimOf(truncated), dead_too = ShimOf(garbled);
  engine_.reset();
  for (const int shim : {dead, dead_too}) ::kill(shim, SIGKILL);
  for (const Ulid& attempt : {truncated, garbled}) ASSERT_TRUE(Eventually([&] { return !Running(attempt); }));
  ASSERT_EQ(::truncate(Folder(truncated).paths().Slot().c_str(), 100), 0);
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, Folder(garbled).paths().Slot().c_str(), std::string(8192, '\x5a')));
  Open();
  Adopt({Row(fine), Row(truncated), Row(garbled)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(fine)->adopted);
  desk_->Wait<AttemptLost>(truncated);
  desk_->Wait<AttemptLost>(garbled);
  EXPECT_EQ(ReadFile(Folder(garbled).paths().folder + "/slot.damaged", 1 << 20).value(),
            std::string(8192, '\x5a'));
  EXPECT_TRUE(desk_->WaitForAdoption().empty());
}

TEST_P(LocalEngineTest, LosesWhatRanBeforeAReboot) {
  LaunchOrder order = Order({"/bin/true"});
  ASSERT_TRUE(Folder(order.attempt).Make(order, "spec"));
  const Ulid vanished = Ulid::Make(FromNanos(WallNanos()));  // its folder did not survive the power cut
  Adopt({Row(order.attempt, "another-boot"), Row(vanished, "another-boot")});
  EXPECT_EQ(desk_->Wait<AttemptLost>(order.attempt)->why, AttemptLost::Why::kReboot);
  EXPECT_EQ(desk_->Wait<AttemptLost>(vanished)->why, AttemptLost::Why::kReboot);
}

TEST_P(LocalEngineTest, TakesBackWhatNobodyDecided) {
  LaunchOrder undecided = Order({"/bin/true"}), held = Order({"/bin/true"});
  const Ulid no_folder = Ulid::Make(FromNanos(WallNanos()));
  ASSERT_TRUE(Folder(undecided.attempt).Make(undecided, "spec"));
  ASSERT_TRUE(Folder(held.attempt).Make(held, "spec"));
  const UniqueFd slot = Folder(held.attempt).OpenSlot();  // a supervisor that hangs before GO
  ASSERT_TRUE(TryLock(slot.get()).value());
  Adopt({Row(undecided.attempt), Row(held.attempt), Row(no_folder)});
  for (const Ulid& attempt : {undecided.attempt, held.attempt, no_folder})
    desk_->Wait<AttemptNotStarted>(attempt);
  EXPECT_FALSE(Folder(undecided.attempt).ReadDecision()->go);
  EXPECT_FALSE(Folder(held.attempt).ReadDecision()->go);
}

TEST_P(LocalEngineTest, NamesFoldersNobodyKnowsAndKeepsTheirTasks) {
  const Ulid known = LaunchScript("exec sleep 1000"), running = LaunchScript("exec sleep 1000");
  const int pid = desk_->Wait<AttemptRunning>(running)->pid;
  desk_->Wait<AttemptRunning>(known);
  const Ulid ended = LaunchScript("exit 0");  // recorded, but the crash came before it was acknowledged
  desk_->Wait<AttemptExited>(ended);
  LaunchOrder dead = Order({"/bin/true"});
  ASSERT_TRUE(Folder(dead.attempt).Make(dead, "spec"));
  Restart({Row(known)});
  std::vector<std::string> expected = {running.Text(), dead.attempt.Text()};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(desk_->WaitForAdoption(), expected);
  EXPECT_TRUE(IsAlive(pid));
  EXPECT_TRUE(Exists(Folder(running).paths().folder));
  EXPECT_TRUE(Exists(home_ + "/attempts/.quarantine/" + dead.attempt.Text() + "/slot"));
  EXPECT_FALSE(Exists(Folder(ended).paths().Slot()));
  Restart({Row(known), Row(running)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(running)->adopted);
}

TEST_P(LocalEngineTest, AdoptsTwentyAtOnce) {
  std::vector<Attempt> rows;
  for (int i = 0; i < 20; ++i) rows.push_back(Row(LaunchScript("exec sleep 1000")));
  for (const Attempt& row : rows) desk_->Wait<AttemptRunning>(row.uid);
  Restart(rows);
  desk_->WaitForAdoption();
  for (const Attempt& row : rows) EXPECT_TRUE(desk_->Wait<AttemptRunning>(row.uid)->adopted);
}

TEST_P(LocalEngineTest, KeepsLogAndFilesUntilRemoved) {
  const Ulid attempt = LaunchScript("echo kept");
  desk_->Wait<AttemptExited>(attempt);
  engine_->Acknowledge(attempt);
  const AttemptPaths paths = Folder(attempt).paths();
  EXPECT_TRUE(Eventually([&] { return !Exists(paths.Control()); }));
  EXPECT_TRUE(Eventually([&] { return !Exists(paths.Slot()); }));
  EXPECT_TRUE(Eventually([&] { return !Exists(paths.Decision()); }));
  EXPECT_EQ(Log(attempt), "kept\n");
  for (const CgroupRoot& root : KnownCgroupRoots(instance_)) {
    EXPECT_TRUE(Eventually([&] { return !root.Attempt(attempt.Text()).Exists(); }));
  }
  engine_->Remove(attempt);
  EXPECT_TRUE(Eventually([&] { return !Exists(paths.folder); }));
}

TEST_P(LocalEngineTest, ARunWhoseFolderIsGoneIsEndedAndLostAndNeverStartedAgain) {
  const char* kHides =
      "(env -i setsid sh -c 'trap \"\" TERM; exec sleep 1000' &) ; setsid sleep 1000 & "
      "echo $$ > ready; exec sleep 1000";
  for (const bool recorded : {true, false}) {  // as running, or only as about to start
    ::unlink((home_ + "/ready").c_str());
    const Ulid attempt = LaunchScript(kHides);
    desk_->Wait<AttemptRunning>(attempt);
    ReadPid("ready");
    const int shim = ShimOf(attempt);
    ASSERT_TRUE(Eventually([&] { return FindInFolder(home_).size() == 3; }));
    Attempt row = Row(attempt);
    if (recorded) {
      row.state = AttemptState::kRunning;
      row.started = FromNanos(WallNanos());
    }
    engine_.reset();
    ASSERT_TRUE(RemoveTree(home_ + "/attempts"));
    Open();
    Adopt({row});
    EXPECT_TRUE(std::holds_alternative<AttemptLost>(desk_->WaitForEnd(attempt).what));
    EXPECT_TRUE(FindInFolder(home_).empty());
    EXPECT_TRUE(Eventually([&] { return !IsAlive(shim); }));  // it may be on its way out
    EXPECT_EQ(desk_->CountEnds(attempt), 1);
  }
  LaunchOrder never = Order({"/bin/true"});
  Restart({Row(never.attempt)});
  desk_->Wait<AttemptNotStarted>(never.attempt);
}

TEST_P(LocalEngineTest, ARunWhoseEndANewerStateTookInIsNotStartedAgainByAnOlderOne) {
  const Ulid attempt = LaunchScript("exit 0");
  desk_->Wait<AttemptExited>(attempt);
  engine_->Acknowledge(attempt);
  EXPECT_TRUE(Eventually([&] { return !Exists(Folder(attempt).paths().Slot()); }));
  Restart({Row(attempt)});  // as a copy has it that was made while it was being started
  EXPECT_TRUE(std::holds_alternative<AttemptLost>(desk_->WaitForEnd(attempt).what));
}

TEST_P(LocalEngineTest, ARunWhoseDecisionIsGoneIsStillFoundRunning) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  const int pid = desk_->Wait<AttemptRunning>(attempt)->pid;
  engine_.reset();
  ::unlink(Folder(attempt).paths().Decision().c_str());
  Attempt row = Row(attempt);
  row.state = AttemptState::kRunning;
  row.started = FromNanos(WallNanos());
  Open();
  Adopt({row});
  EXPECT_EQ(desk_->Wait<AttemptRunning>(attempt)->pid, pid);
  EXPECT_EQ(desk_->CountEnds(attempt), 0);
}

TEST_P(LocalEngineTest, ARunWhoseFolderGoesUnderItTellsItsEndAllTheSame) {
  const Ulid ends = LaunchScript("while [ ! -e go ]; do sleep 0.05; done; exit 6");
  const Ulid dies = LaunchScript("setsid sleep 1000 & exec sleep 1000");
  desk_->Wait<AttemptRunning>(ends);
  desk_->Wait<AttemptRunning>(dies);
  const int shim = ShimOf(dies);
  ASSERT_TRUE(RemoveTree(home_ + "/attempts"));
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(ends)->record.exit_code, 6);
  ::kill(shim, SIGKILL);  // now nobody can tell how it ended
  EXPECT_TRUE(std::holds_alternative<AttemptLost>(desk_->WaitForEnd(dies).what));
  EXPECT_TRUE(FindInFolder(home_).empty());
  EXPECT_EQ(RunToEnd(Order({"/bin/sh", "-c", "exit 3"})).exit_code, 3) << "the folder of all is made again";
}

TEST_P(LocalEngineTest, ARunThatNobodyKnowsSaysWhatItHoldsAndWhenItIsGone) {
  LaunchOrder order = Order({"/bin/sh", "-c", "exec sleep 1000"});
  order.devices = {"cpu:1", "GPU-1"};
  order.cpus = {0};
  order.number = 3;
  const Ulid stray = Launch(std::move(order));
  const int pid = desk_->Wait<AttemptRunning>(stray)->pid;
  const int shim = ShimOf(stray);
  Restart({});
  const auto found = desk_->Wait<StrayFound>(stray);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->task, TaskId{7});
  EXPECT_EQ(found->number, 3);
  EXPECT_EQ(found->shim, shim);
  EXPECT_EQ(found->command, "/bin/sh -c exec sleep 1000");
  EXPECT_EQ(found->devices, (std::vector<std::string>{"cpu:1", "GPU-1"}));
  EXPECT_EQ(found->cpus, std::vector<int>{0});
  EXPECT_EQ(desk_->WaitForAdoption(), std::vector<std::string>{stray.Text()});
  EXPECT_TRUE(IsAlive(pid));
  EXPECT_EQ(desk_->Count<StrayGone>(stray), 0);
  ::kill(pid, SIGKILL);
  desk_->Wait<StrayGone>(stray);
}

}  // namespace
}  // namespace ty
