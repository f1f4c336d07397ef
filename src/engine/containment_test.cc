// Cards held by the processes that use them, and the control groups around those.
#include "engine/testing.h"

namespace ty {
namespace {

TEST_P(LocalEngineTest, HandsHostLeasesToItsProcessesAndToNobodyElse) {
  LaunchOrder order = Ranks(2, "exec sleep 1000");
  order.leases = {TakeLease("card-0"), TakeLease("card-1")};
  const Ulid holder = Launch(std::move(order));
  desk_->Wait<AttemptRunning>(holder);
  const Ulid stranger = LaunchScript("exec sleep 1000");
  const int strange_task = desk_->Wait<AttemptRunning>(stranger)->pid;
  const auto record = Folder(holder).ReadSlot().newest;
  ASSERT_TRUE(record && record->others.size() == 1);
  const auto held_by = [&](int64_t pid) {
    std::vector<std::string> held;
    const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
    const auto names = ListFolder(folder);
    for (const std::string& fd : *names) {
      const std::string path = ReadLinkAt(AT_FDCWD, (folder + "/" + fd).c_str()).value_or("");
      if (path.starts_with(home_ + "/card-")) held.push_back(fd + path.substr(home_.size()));
    }
    return held;
  };
  const std::vector<std::string> both = {"10/card-0", "11/card-1"};
  EXPECT_EQ(held_by(record->pid), both);
  EXPECT_EQ(held_by(record->others[0].pid), both);
  EXPECT_EQ(held_by(ShimOf(holder)), both);
  EXPECT_TRUE(held_by(strange_task).empty());
  EXPECT_TRUE(held_by(ShimOf(stranger)).empty());
  // The two leases and the standard three, once its loader has closed what it read.
  EXPECT_TRUE(
      Eventually([&] { return ListFolder("/proc/" + std::to_string(record->pid) + "/fd")->size() == 5U; }));
}

TEST_P(LocalEngineTest, ACardStaysHeldUntilTheLastProcessOfTheTaskIsGone) {
  LaunchOrder order = Order({"/bin/sh", "-c", "exec sleep 1000"});
  order.leases = {TakeLease("card")};
  const Ulid attempt = Launch(std::move(order));
  const int task = desk_->Wait<AttemptRunning>(attempt)->pid;
  const int shim = ShimOf(attempt);
  EXPECT_TRUE(IsHeld("card"));
  engine_.reset();  // and with it every copy of the daemon's
  ::kill(shim, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !Running(attempt); }));
  EXPECT_TRUE(IsAlive(task));
  EXPECT_TRUE(IsHeld("card"));
  Open();
  Adopt({Row(attempt)});
  desk_->Wait<AttemptLost>(attempt);
  EXPECT_FALSE(IsHeld("card"));
}

TEST_P(LocalEngineTest, ACardIsFreeOnceItsTaskHasEnded) {
  LaunchOrder order = Order({"/bin/true"});
  order.leases = {TakeLease("card")};
  const Ulid attempt = Launch(std::move(order));
  desk_->Wait<AttemptExited>(attempt);
  EXPECT_FALSE(IsHeld("card"));
}

TEST_P(LocalEngineTest, AWaitingSupervisorIsSmall) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  const std::string status =
      ReadFile("/proc/" + std::to_string(ShimOf(attempt)) + "/status", 1 << 16).value();
  const int rss_kb = atoi(status.c_str() + status.find("VmRSS:") + 6);
  RecordProperty("rss_kb", rss_kb);
  EXPECT_GT(rss_kb, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(rss_kb, 1024);
#endif
}

TEST_P(LocalEngineTest, TheSupervisorStaysOutsideTheCgroupItKills) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  const int task = desk_->Wait<AttemptRunning>(attempt)->pid;
  if (GetParam() == Containment::kSubreaper) return;
  for (const CgroupRoot& root : KnownCgroupRoots(instance_)) {
    if (root.kind != GetParam()) continue;
    EXPECT_EQ(root.Attempt(attempt.Text()).Processes(), std::vector<int>{task});
    if (root.kind == Containment::kCgroup2) {
      EXPECT_EQ(root.Shims().Processes(), std::vector<int>{ShimOf(attempt)});
    }
  }
}

TEST_P(LocalEngineTest, LeavesNoEmptyCgroupBehindAndMakesItsOwnAgain) {
  if (GetParam() != Containment::kCgroup2) return;
  const std::string folder = OpenCgroupRoot(instance_, GetParam()).folder;
  ASSERT_EQ(::rmdir((folder + "/shims").c_str()), 0);
  ASSERT_EQ(::rmdir(folder.c_str()), 0);
  const Ulid attempt = LaunchScript("while [ ! -e go ]; do sleep 0.02; done");
  ASSERT_TRUE(desk_->Wait<AttemptRunning>(attempt));
  engine_.reset();
  EXPECT_TRUE(Exists(folder + "/shims"));  // in use
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  ASSERT_TRUE(Eventually([&] { return !Cgroup{GetParam(), folder}.Populated(); }));
  Open();
  engine_.reset();
  EXPECT_FALSE(Exists(folder));
  Open();
}

}  // namespace
}  // namespace ty
