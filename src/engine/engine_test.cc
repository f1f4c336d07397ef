// How an attempt starts: what its task gets, and what a launch leaves when it cannot be.
#include "engine/engine.h"

#include "engine/testing.h"
#include "wire/spec.h"

namespace ty {
namespace {

TEST_P(LocalEngineTest, NeverLooksForABareNameInTheWorkingFolder) {
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/train").c_str(), "#!/bin/sh\ntouch ran\n", 0700));
  EXPECT_EQ(RunToEnd(Order({"train"})).exec_errno, ENOENT);
  EXPECT_FALSE(Exists(home_ + "/ran"));
}

TEST_P(LocalEngineTest, HandsArgumentsOverByteForByte) {
  LaunchOrder order = Order({"/bin/sh", "-c", R"(printf '[%s]' "$@")", "sh", "", "a b", "-n", "*$HOME`x`",
                             "\"'\n\t\\", "🚂", "\xff\xfe\x80"});
  const Ulid attempt = order.attempt;
  RunToEnd(std::move(order));
  EXPECT_EQ(Log(attempt), "[][a b][-n][*$HOME`x`][\"'\n\t\\][🚂][\xff\xfe\x80]");
}

TEST_P(LocalEngineTest, GivesTheTaskItsOwnEnvironmentAndNoOther) {
  ::setenv("LEAK", "daemon", 1);
  LaunchOrder order = Order({"/usr/bin/env"});
  order.environment = {"B=\xff", "LD_LIBRARY_PATH=/nowhere", "PYTHONHOME=/x"};
  const Ulid attempt = order.attempt;
  EXPECT_EQ(RunToEnd(std::move(order)).exit_code, 0);
  ::unsetenv("LEAK");
  EXPECT_EQ(Log(attempt),
            "B=\xff\nLD_LIBRARY_PATH=/nowhere\nPYTHONHOME=/x\nTRAINYARD_ID=" + attempt.Text() + "\n");
}

TEST_P(LocalEngineTest, CarriesAnEnvironmentOfTwoMegabytes) {
  LaunchOrder order = Order({"/bin/sh", "-c", "echo ${#V19}"});
  for (int i = 0; i < 20; ++i)
    order.environment.push_back("V" + std::to_string(i) + "=" + std::string(100'000, 'x'));
  const Ulid attempt = order.attempt;
  EXPECT_EQ(RunToEnd(std::move(order)).exit_code, 0);
  EXPECT_EQ(Log(attempt), "100000\n");
}

TEST_P(LocalEngineTest, LeavesTheTaskNoDescriptorButTheStandardThree) {
  UniqueFd ours(::open("/dev/null", O_RDONLY));  // not close-on-exec
  // The shell looks at itself once it runs: seen from outside, its loader may still hold a library open.
  const Ulid attempt = LaunchScript("ls /proc/$$/fd; for i in 0 1 2; do readlink /proc/$$/fd/$i; done");
  desk_->Wait<AttemptExited>(attempt);
  const std::string log = Folder(attempt).paths().Log();
  EXPECT_EQ(Log(attempt), "0\n1\n2\n/dev/null\n" + log + "\n" + log + "\n");
}

TEST_P(LocalEngineTest, LeavesTheTaskPlainSignalsASessionAndAUsualUmask) {
  const Ulid attempt =
      LaunchScript("grep -E 'SigBlk|SigIgn' /proc/self/status; umask; ps -o sid= -p $$; echo $$");
  desk_->Wait<AttemptExited>(attempt);
  std::string log = Log(attempt);
  EXPECT_EQ(log.rfind("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0022\n", 0), 0U) << log;
}

TEST_P(LocalEngineTest, PinsTheTaskToItsCpus) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) last = CPU_ISSET(cpu, &mine) ? cpu : last;
  LaunchOrder order = Order({"/bin/grep", "Cpus_allowed_list", "/proc/self/status"});
  order.cpus = {last};
  const Ulid attempt = order.attempt;
  RunToEnd(std::move(order));
  EXPECT_EQ(Log(attempt), "Cpus_allowed_list:\t" + std::to_string(last) + "\n");
}

TEST_P(LocalEngineTest, WorksInAStateFolderWithAVeryLongPath) {
  engine_.reset();
  const std::string short_home = home_;
  home_ += "/" + std::string(120, 'd');
  Open();
  const Ulid attempt = LaunchScript("sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  Restart({Row(attempt)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(attempt)->adopted);
  engine_->Stop(attempt, {.reason = "x", .signal = 9});
  desk_->Wait<AttemptExited>(attempt);
  engine_.reset();
  home_ = short_home;
  Open();
}

TEST_P(LocalEngineTest, MakesTheResultsFolderAndTheLogHead) {
  LaunchOrder order = Order({"/bin/true"});
  order.out_folder = home_ + "/tasks/7";
  order.head = R"({"lines":[]})";
  const Ulid attempt = order.attempt;
  RunToEnd(std::move(order));
  EXPECT_TRUE(Exists(home_ + "/tasks/7"));
  EXPECT_EQ(ReadFile(Folder(attempt).paths().Head(), 100).value(), R"({"lines":[]})");
  EXPECT_TRUE(Exists(Folder(attempt).paths().Files()));
}

TEST_P(LocalEngineTest, RefusesAndLeavesNothingWhenAFolderCannotBeMade) {
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/tasks").c_str(), "in the way"));
  LaunchOrder order = Order({"/bin/true"});
  order.out_folder = home_ + "/tasks/7";
  const Ulid attempt = Launch(std::move(order));
  EXPECT_EQ(desk_->Wait<AttemptRefused>(attempt)->error.message.id, "engine.out_folder");
  EXPECT_FALSE(Exists(Folder(attempt).paths().folder));
}

TEST_P(LocalEngineTest, NeverLaunchesIntoAFolderThatIsThere) {
  LaunchOrder order = Order({"/bin/true"});
  ASSERT_TRUE(MakeFolders(Folder(order.attempt).paths().folder));
  const Ulid attempt = Launch(std::move(order));
  EXPECT_EQ(desk_->Wait<AttemptRefused>(attempt)->error.message.id, "engine.folder");
}

TEST_P(LocalEngineTest, SaysAtOpeningThatTheSupervisorIsMissing) {
  auto engine = OpenLocalEngine({home_, home_ + "/no-shim", instance_}, [](AttemptNews) {});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().message.id, "engine.supervisor_missing");
}

TEST_P(LocalEngineTest, AVoidedAttemptStaysVoidForAShimThatIsSlowerThanItsAcknowledgement) {
  LaunchOrder order = Order({"/bin/sh", "-c", "> ran"});
  const AttemptFolder folder = Folder(order.attempt);
  wire::ShimSpec spec;
  spec.attempt = order.attempt.Text();
  spec.uid = ::geteuid();
  spec.argv = order.argv;
  spec.workdir = home_;
  spec.containment = "subreaper";
  ASSERT_TRUE(folder.Make(order, wire::EncodeSpec(spec)));
  const std::string slot = folder.paths().Slot();
  const std::string content = *ReadFile(slot, 1 << 20);
  EXPECT_TRUE(folder.Void("cancelled"));
  folder.Acknowledge();
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, slot.c_str(), content));  // it had opened the slot before that went
  EXPECT_EQ(::system((kShim + " " + folder.paths().folder).c_str()), 0);
  EXPECT_FALSE(Exists(home_ + "/ran"));
  EXPECT_FALSE(folder.ReadDecision()->go);
}

TEST_P(LocalEngineTest, AVoidedAttemptNeverRuns) {
  LaunchOrder order = Order({"/bin/sh", "-c", "> ran"});
  const AttemptFolder folder = Folder(order.attempt);
  wire::ShimSpec spec;
  spec.attempt = order.attempt.Text();
  spec.uid = ::geteuid();
  spec.argv = order.argv;
  spec.workdir = home_;
  spec.containment = "subreaper";
  ASSERT_TRUE(folder.Make(order, wire::EncodeSpec(spec)));
  EXPECT_TRUE(folder.Void("cancelled"));
  EXPECT_EQ(::system((kShim + " " + folder.paths().folder).c_str()), 0);
  EXPECT_FALSE(Exists(home_ + "/ran"));
  EXPECT_FALSE(folder.ReadDecision()->go);
}

TEST_P(LocalEngineTest, RefusesASpecThatWasDamagedOnDisk) {
  LaunchOrder order = Order({"/bin/true"});
  const AttemptFolder folder = Folder(order.attempt);
  ASSERT_TRUE(folder.Make(order, "{\"format\":1}\n00000000\n"));
  EXPECT_NE(::system((kShim + " " + folder.paths().folder).c_str()), 0);
  EXPECT_FALSE(folder.ReadDecision());
}

INSTANTIATE_TEST_SUITE_P(Held, LocalEngineTest,
                         ::testing::Values(Containment::kCgroup2, Containment::kFreezer,
                                           Containment::kSubreaper),
                         [](const auto& info) { return std::string(Name(info.param)); });

}  // namespace
}  // namespace ty
