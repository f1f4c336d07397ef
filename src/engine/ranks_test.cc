// Attempts of several processes.
#include "engine/testing.h"
#include "wire/spec.h"

namespace ty {
namespace {

TEST_P(LocalEngineTest, StartsOneProcessARankWithItsOwnVariablesAndLog) {
  LaunchOrder order =
      Ranks(3, "echo rank $RANK of $WORLD_SIZE $TRAINYARD_ID; echo $$ > pid.$RANK; read x < gate");
  ASSERT_EQ(::mkfifo((home_ + "/gate").c_str(), 0600), 0);
  order.environment = {"RANK=9", "PATH=/usr/bin:/bin", "WORLD_SIZE=3", "RANKS=3"};
  order.ranks[1].environment.push_back("TRAINYARD_ID=stolen");
  const Ulid attempt = Launch(std::move(order));
  const auto running = desk_->Wait<AttemptRunning>(attempt);
  ASSERT_TRUE(running);
  for (int rank = 0; rank < 3; ++rank) {
    const int pid = ReadPid("pid." + std::to_string(rank));
    if (rank == 0) {
      EXPECT_EQ(running->pid, pid);
    }
    const auto stat = ReadProcessStat(pid);
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->session, pid);
    EXPECT_EQ(stat->group, pid);
    EXPECT_EQ(stat->parent, ShimOf(attempt));
    EXPECT_EQ(Log(attempt, rank), "rank " + std::to_string(rank) + " of 3 " + attempt.Text() + "\n");
    if (GetParam() == Containment::kSubreaper) continue;
    const std::vector<int> held = OpenCgroupRoot(instance_, GetParam()).Attempt(attempt.Text()).Processes();
    EXPECT_NE(std::find(held.begin(), held.end(), pid), held.end());
  }
  EXPECT_FALSE(Exists(Folder(attempt).paths().Log()));
  Restart({Row(attempt)});
  EXPECT_EQ(desk_->Wait<AttemptRunning>(attempt)->pid, running->pid);
  const UniqueFd gate(::open((home_ + "/gate").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(WriteAll(gate.get(), "go\ngo\ngo\n"));
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.exit_code, 0);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{0, {}}, {0, {}}, {0, {}}}));
  EXPECT_FALSE(record.failed_rank);

  engine_->Acknowledge(attempt);
  EXPECT_TRUE(Eventually([&] { return !Exists(Folder(attempt).paths().Control()); }));
  EXPECT_FALSE(Log(attempt, 2).empty());
  engine_->Remove(attempt);
  EXPECT_TRUE(Eventually([&] { return !Exists(Folder(attempt).paths().folder); }));
}

TEST_P(LocalEngineTest, PinsEachRankToItsOwnCpus) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mine)) cpus.push_back(cpu);
  }
  LaunchOrder order = Ranks(2, "grep Cpus_allowed_list /proc/self/status");
  order.cpus = {cpus.front()};
  order.ranks[1].cpus = {cpus.back()};
  const Ulid attempt = order.attempt;
  RunToEnd(std::move(order));
  EXPECT_EQ(Log(attempt, 0), "Cpus_allowed_list:\t" + std::to_string(cpus.front()) + "\n");
  EXPECT_EQ(Log(attempt, 1), "Cpus_allowed_list:\t" + std::to_string(cpus.back()) + "\n");
}

TEST_P(LocalEngineTest, ARankThatFailsStopsTheOthersAndDecidesTheOutcome) {
  const Ulid attempt =
      Launch(Ranks(3,
                   "trap 'echo stopped; exit 0' TERM; [ $RANK = 2 ] && echo $$ > early && exit 0; echo ready;"
                   "while [ $RANK = 0 ] || [ ! -e fail ]; do sleep 0.02; done; exit 3"));
  ASSERT_TRUE(Eventually([&] { return Log(attempt, 0) == "ready\n"; }));
  const int early = ReadPid("early");
  ASSERT_TRUE(Eventually([&] { return !IsAlive(early); }));
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/fail").c_str(), ""));
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.exit_code, 3);
  EXPECT_FALSE(record.signal);
  EXPECT_EQ(record.failed_rank, 1);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{0, {}}, {3, {}}, {0, {}}}));
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
  EXPECT_FALSE(record.killed_by_shim);
  EXPECT_TRUE(Log(attempt, 0).ends_with("stopped\n"));
  EXPECT_FALSE(Exists(Folder(attempt).paths().Stop()));
}

TEST_P(LocalEngineTest, KillsTheOtherRanksWhenTermIsNotEnough) {
  LaunchOrder order =
      Ranks(2,
            "trap '' TERM; [ $RANK = 0 ] && echo > ready; while [ ! -e ready ]; do sleep 0.01; "
            "done; [ $RANK = 1 ] && kill -ABRT $$; while :; do sleep 0.02; done");
  order.grace = milliseconds(50);
  const ExitRecord record = RunToEnd(std::move(order));
  EXPECT_EQ(record.signal, SIGABRT);
  EXPECT_FALSE(record.exit_code);
  EXPECT_EQ(record.failed_rank, 1);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{{}, SIGKILL}, {{}, SIGABRT}}));
  EXPECT_TRUE(record.killed_by_shim);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
}

TEST_P(LocalEngineTest, TheFirstFailureByTimeWinsEvenWhenBothAreSeenAtOnce) {
  const Ulid attempt =
      Launch(Ranks(4, "echo $$ > pid.$RANK; while [ ! -e fail.$RANK ]; do sleep 0.01; done; exit 1$RANK"));
  std::vector<int> pids;
  for (int rank = 0; rank < 4; ++rank) pids.push_back(ReadPid("pid." + std::to_string(rank)));
  desk_->Wait<AttemptRunning>(attempt);
  const int shim = ShimOf(attempt);
  ::kill(shim, SIGSTOP);  // it sees all of them only when everything has happened
  for (const int rank : {2, 3, 0, 1}) {
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/fail." + std::to_string(rank)).c_str(), ""));
    ASSERT_TRUE(Eventually([&] { return !IsAlive(pids[static_cast<size_t>(rank)]); }));
  }
  ::kill(shim, SIGCONT);
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.failed_rank, 2);
  EXPECT_EQ(record.exit_code, 12);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{10, {}}, {11, {}}, {12, {}}, {13, {}}}));
}

TEST_P(LocalEngineTest, RanksThatFailBecauseOfAStopHaveNotFailed) {
  const Ulid attempt =
      Launch(Ranks(3,
                   "trap \"exit 1$RANK\" USR1; echo ready; [ $RANK = 2 ] && echo $$ > early && exit 0;"
                   "while :; do sleep 0.02; done"));
  for (int rank = 0; rank < 2; ++rank)
    ASSERT_TRUE(Eventually([&] { return Log(attempt, rank) == "ready\n"; }));
  const int early = ReadPid("early");
  ASSERT_TRUE(Eventually([&] { return !IsAlive(early); }));
  engine_->Stop(attempt, {.reason = "cancelled", .signal = SIGUSR1});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kOrder);
  EXPECT_FALSE(record.failed_rank);
  EXPECT_GE(record.exit_code.value_or(0), 10);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{10, {}}, {11, {}}, {0, {}}}));
  EXPECT_EQ(ReadFile(Folder(attempt).paths().Stop(), 100).value(), "cancelled\n");
}

TEST_P(LocalEngineTest, RunsAllRanksOrNone) {
  LaunchOrder order = Ranks(3, "setsid sleep 1000 & exec sleep 1000");
  order.ranks[1].cpus = {16'000};  // no machine of ours has it
  const Ulid attempt = order.attempt;
  const ExitRecord record = RunToEnd(std::move(order));
  EXPECT_EQ(record.kind, ExitRecord::Kind::kExecFailed);
  EXPECT_EQ(record.exec_step, "affinity");
  EXPECT_EQ(record.exec_errno, EINVAL);
  EXPECT_EQ(record.failed_rank, 1);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{{}, SIGKILL}, {}, {}}));
  EXPECT_FALSE(record.exit_code);
  EXPECT_FALSE(record.signal);
  EXPECT_EQ(desk_->Count<AttemptRunning>(attempt), 0);
  EXPECT_TRUE(FindMarked("TRAINYARD_ID=" + attempt.Text()).empty());
}

TEST_P(LocalEngineTest, RefusesMoreRanksThanItCanKeepTrackOf) {
  const Ulid attempt = Launch(Ranks(wire::kMostRanks + 1, "exit 0"));
  EXPECT_EQ(desk_->Wait<AttemptRefused>(attempt)->error.message.id, "engine.ranks");
  EXPECT_FALSE(Exists(Folder(attempt).paths().folder));
}

TEST_P(LocalEngineTest, RunsAsManyRanksAsItMay) {
  LaunchOrder order = Ranks(wire::kMostRanks, "exit $((RANK > 99))");
  const ExitRecord record = RunToEnd(std::move(order));
  EXPECT_EQ(record.exit_code, 1);
  EXPECT_GE(record.failed_rank.value_or(0), 100);
  EXPECT_EQ(record.ranks.size(), wire::kMostRanks);
}

TEST_P(LocalEngineTest, NoRankIsIdleAsLongAsOneSpeaks) {
  LaunchOrder order =
      Ranks(2, "[ $RANK = 1 ] && for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done; exec sleep 1000");
  order.idle_limit = milliseconds(400);
  const Ulid attempt = order.attempt;
  const ExitRecord record = RunToEnd(std::move(order));
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kIdleLimit);
  ExpectSilence(record, Folder(attempt).paths().Log(1));
}

TEST_P(LocalEngineTest, FreezesAllRanks) {
  const Ulid attempt = Launch(Ranks(3, "while :; do echo x; sleep 0.01; done"));
  for (int rank = 0; rank < 3; ++rank) ASSERT_TRUE(Eventually([&] { return !Log(attempt, rank).empty(); }));
  engine_->Freeze(attempt, minutes(10));
  desk_->Wait<AttemptFrozen>(attempt);
  LetOthersRun();
  std::vector<size_t> sizes;
  for (int rank = 0; rank < 3; ++rank) sizes.push_back(Log(attempt, rank).size());
  LetOthersRun();
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(Log(attempt, rank).size(), sizes[static_cast<size_t>(rank)]);
  engine_->Thaw(attempt);
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_TRUE(Eventually([&] { return Log(attempt, rank).size() > sizes[static_cast<size_t>(rank)]; }));
}

TEST_P(LocalEngineTest, FindsTheSessionsOfAllRanksOfADeadSupervisor) {
  // None of them can be told by its variables. Rank 1 leaves a child in its session, which still writes to
  // its log.
  const Ulid attempt =
      Launch(Ranks(3,
                   "env -i sleep 1000 & echo $! > child.$RANK; [ $RANK = 1 ] && exec env -i sleep "
                   "1001; exec env -i sleep 1000"));
  const auto running = desk_->Wait<AttemptRunning>(attempt);
  std::vector<int> pids = {running->pid};
  for (int rank = 0; rank < 3; ++rank) pids.push_back(ReadPid("child." + std::to_string(rank)));
  const auto record = Folder(attempt).ReadSlot().newest;
  ASSERT_TRUE(record && record->others.size() == 2);
  for (const wire::RankProcess& other : record->others) pids.push_back(static_cast<int>(other.pid));
  ASSERT_TRUE(Eventually([&] { return FindMarked("TRAINYARD_ID=" + attempt.Text()).empty(); }));
  const int shim = ShimOf(attempt);
  engine_.reset();
  ::kill(shim, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !Running(attempt); }));
  const int first_of_rank_1 = static_cast<int>(record->others[0].pid);
  ::kill(first_of_rank_1, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !IsAlive(first_of_rank_1); }));
  EXPECT_TRUE(IsAlive(pids[2]));
  Open();
  Adopt({Row(attempt)});
  desk_->Wait<AttemptLost>(attempt);
  for (const int pid : pids) EXPECT_FALSE(IsAlive(pid)) << pid;
}

}  // namespace
}  // namespace ty
