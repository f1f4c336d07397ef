// The truth about an end.
#include <sys/wait.h>

#include "engine/testing.h"

namespace ty {
namespace {

TEST_P(LocalEngineTest, ReportsTheKernelsExitCode) {
  const Ulid attempt = LaunchScript("echo hello; echo trouble >&2; exit 7");
  const auto running = desk_->Wait<AttemptRunning>(attempt);
  ASSERT_TRUE(running);
  EXPECT_FALSE(running->adopted);
  EXPECT_GT(running->pid, 0);
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.kind, ExitRecord::Kind::kExited);
  EXPECT_EQ(record.exit_code, 7);
  EXPECT_FALSE(record.signal);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
  EXPECT_EQ(record.started, running->started);
  EXPECT_GE(record.ended, record.started);
  EXPECT_EQ(Log(attempt), "hello\ntrouble\n");
  struct stat info;
  ASSERT_EQ(::stat(Folder(attempt).paths().Log().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(desk_->CountEnds(attempt), 1);
}

TEST_P(LocalEngineTest, TellsADeathBySignalFromAnExitCodeLikeIt) {
  EXPECT_EQ(RunToEnd(Order({"/bin/sh", "-c", "exit 137"})).exit_code, 137);
  const ExitRecord killed = RunToEnd(Order({"/bin/sh", "-c", "kill -9 $$"}));
  EXPECT_EQ(killed.signal, 9);
  EXPECT_FALSE(killed.exit_code);
  EXPECT_FALSE(killed.killed_by_shim);
  EXPECT_EQ(killed.stopped_by, ExitRecord::StoppedBy::kNobody);
}

TEST_P(LocalEngineTest, SaysWhichStepOfAStartFailedAndWhy) {
  ExitRecord record = RunToEnd(Order({home_ + "/missing"}));
  EXPECT_EQ(record.kind, ExitRecord::Kind::kExecFailed);
  EXPECT_EQ(record.exec_step, "exec");
  EXPECT_EQ(record.exec_errno, ENOENT);

  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/plain").c_str(), "text"));
  record = RunToEnd(Order({home_ + "/plain"}));
  EXPECT_EQ(record.exec_errno, EACCES);

  LaunchOrder elsewhere = Order({"/bin/true"});
  elsewhere.workdir = home_ + "/gone";
  record = RunToEnd(std::move(elsewhere));
  EXPECT_EQ(record.exec_step, "chdir");
  EXPECT_EQ(record.exec_errno, ENOENT);
}

TEST_P(LocalEngineTest, HearsThatATaskWasKilledFromOutside) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  ::kill(desk_->Wait<AttemptRunning>(attempt)->pid, SIGKILL);
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.signal, SIGKILL);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
  EXPECT_FALSE(record.killed_by_shim);
}

TEST_P(LocalEngineTest, CountsCpuTimeOfTheWholeTree) {
  const Ulid attempt = LaunchScript("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; exit 0");
  EXPECT_GT(desk_->Wait<AttemptExited>(attempt)->record.cpu_ms, 20);
}

TEST_P(LocalEngineTest, SaysThatACoreWasDumped) {
  LaunchOrder order = Order({"/bin/sh", "-c", "ulimit -c unlimited || exit 9; kill -ABRT $$"});
  const ExitRecord record = RunToEnd(std::move(order));
  if (record.exit_code == 9) GTEST_SKIP() << "no cores are allowed here";
  EXPECT_EQ(record.signal, SIGABRT);
  EXPECT_TRUE(record.core_dumped);
  const ExitRecord plain = RunToEnd(Order({"/bin/sh", "-c", "ulimit -c 0; kill -ABRT $$"}));
  EXPECT_EQ(plain.signal, SIGABRT);
  EXPECT_FALSE(plain.core_dumped);
}

// A memory cgroup around this test and all it starts, for a while.
class NarrowMemory {
 public:
  NarrowMemory(const std::string& name, const char* limit) {
    const std::string counter = FindOomCounter(), file = "/memory.oom_control";
    if (!counter.ends_with(file) || ::geteuid() != 0) return;
    home_ = counter.substr(0, counter.size() - file.size());
    path_ = home_ + "/" + name;
    if (::mkdir(path_.c_str(), 0755) != 0) return;
    inside_ = PokeFile(path_ + "/memory.limit_in_bytes", limit) && Move(path_);
  }
  ~NarrowMemory() {
    Leave();
    if (path_.empty()) return;
    EXPECT_TRUE(Eventually([&] { return ::rmdir(path_.c_str()) == 0 || errno == ENOENT; }));
  }
  bool inside() const { return inside_; }
  void Leave() {
    if (!std::exchange(inside_, false)) return;
    EXPECT_TRUE(Move(home_));
  }

 private:
  static bool Move(const std::string& to) {
    return PokeFile(to + "/cgroup.procs", std::to_string(::getpid())).has_value();
  }
  std::string home_, path_;
  bool inside_ = false;
};

// Case 50: hashicorp/nomad#12735, HTCONDOR-3094.
TEST_P(LocalEngineTest, TellsAnOutOfMemoryKillFromSomebodysKillNine) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more memory than this test leaves";
#endif
  engine_.reset();
  NarrowMemory memory("trainyard-" + instance_, "200M");
  if (!memory.inside()) {
    Open();
    GTEST_SKIP() << "no v1 memory cgroup can be made here";
  }
  Open();
  const ExitRecord hungry = RunToEnd(Order({"/bin/sh", "-c", "exec tail /dev/zero"}));
  EXPECT_EQ(hungry.signal, SIGKILL);
  EXPECT_FALSE(hungry.killed_by_shim);
  EXPECT_GT(hungry.oom_kills + hungry.oom_kills_nearby, 0);
  const ExitRecord killed = RunToEnd(Order({"/bin/sh", "-c", "kill -9 $$"}));
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.oom_kills + killed.oom_kills_nearby, 0);
  const ExitRecord like_it = RunToEnd(Order({"/bin/sh", "-c", "exit 137"}));
  EXPECT_EQ(like_it.exit_code, 137);
  EXPECT_EQ(like_it.oom_kills + like_it.oom_kills_nearby, 0);
  memory.Leave();
}

}  // namespace
}  // namespace ty
