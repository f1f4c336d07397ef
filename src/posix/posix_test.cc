#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "posix/cgroups.h"
#include "posix/clocks.h"
#include "posix/files.h"
#include "posix/locks.h"
#include "posix/process.h"
#include "posix/sockets.h"

namespace ty {
namespace {

class Posix : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* base = ::getenv("TMPDIR");
    std::string name = std::string(base != nullptr ? base : "/tmp") + "/posix_test.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { EXPECT_TRUE(RemoveTree(folder_)); }
  std::string folder_;
};

struct Sleeper {
  Sleeper(std::vector<std::string> environment = {}, CloneOptions options = {}) {
    for (auto& variable : environment) pointers.push_back(variable.data());
    pointers.push_back(nullptr);
    auto child = CloneChild(options, Begin, this);
    if (child) pid = child->pid;
    // It goes on a moment before its variables can be read.
    const std::string words = "/proc/" + std::to_string(pid) + "/cmdline";
    while (pid > 0 && ReadFile(words, 1 << 16).value_or("").empty()) ::usleep(1000);
  }
  ~Sleeper() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  static int Begin(void* raw) {
    RestoreSignals();
    const char* argv[] = {"sleep", "1000", nullptr};
    ::execve("/bin/sleep", const_cast<char**>(argv), static_cast<Sleeper*>(raw)->pointers.data());
    return 127;
  }
  std::vector<char*> pointers;
  int pid = 0;
};

TEST_F(Posix, WritesAndReadsWholeFiles) {
  const std::string path = folder_ + "/a";
  EXPECT_TRUE(WriteNewFileAt(AT_FDCWD, path.c_str(), "hello"));
  EXPECT_EQ(WriteNewFileAt(AT_FDCWD, path.c_str(), "again").error(), EEXIST);
  EXPECT_EQ(ReadFile(path, 5).value(), "hello");
  EXPECT_EQ(ReadFile(path, 4).error(), EFBIG);
  EXPECT_EQ(ReadFile(path + "b", 4).error(), ENOENT);
  EXPECT_TRUE(WriteFileAt(AT_FDCWD, path.c_str(), "x"));
  EXPECT_EQ(ReadFile(path, 5).value(), "x");
  EXPECT_GT(ReadFile("/proc/self/status", 1 << 20).value().size(), 100U);
}

TEST_F(Posix, MakesAndRemovesTrees) {
  EXPECT_TRUE(MakeFolders(folder_ + "/a/b/c"));
  EXPECT_TRUE(MakeFolders(folder_ + "/a/b/c"));
  EXPECT_TRUE(WriteFileAt(AT_FDCWD, (folder_ + "/a/b/file").c_str(), ""));
  EXPECT_EQ(MakeFolders(folder_ + "/a/b/file").error(), ENOTDIR);
  EXPECT_TRUE(MakeFolders(folder_ + "/kept"));
  ASSERT_EQ(::symlink((folder_ + "/kept").c_str(), (folder_ + "/a/b/link").c_str()), 0);
  ASSERT_EQ(::chmod((folder_ + "/a/b/c").c_str(), 0500), 0);
  EXPECT_TRUE(RemoveTree(folder_ + "/a"));
  EXPECT_FALSE(Exists(folder_ + "/a"));
  EXPECT_TRUE(Exists(folder_ + "/kept"));
  EXPECT_TRUE(RemoveTree(folder_ + "/a"));
}

TEST_F(Posix, HoldsALockUntilTheLastCopyIsClosed) {
  const std::string path = folder_ + "/lock";
  auto first = OpenAt(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT, 0600);
  auto second = OpenAt(AT_FDCWD, path.c_str(), O_RDWR);
  EXPECT_TRUE(TryLock(first->get()).value());
  EXPECT_FALSE(TryLock(second->get()).value());
  UniqueFd copy(::dup(first->get()));
  first->Reset();
  EXPECT_FALSE(TryLock(second->get()).value());
  copy.Reset();
  EXPECT_TRUE(TryLock(second->get()).value());
}

TEST_F(Posix, ListensInAFolderWithAVeryLongPath) {
  std::string deep = folder_;
  for (int i = 0; i < 6; ++i) deep += "/" + std::string(60, 'd');
  ASSERT_TRUE(MakeFolders(deep));
  auto at = OpenFolder(deep);
  auto listener = ListenPackets(at->get(), "ctl.sock");
  ASSERT_TRUE(listener);
  struct stat info;
  ASSERT_EQ(::stat((deep + "/ctl.sock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  auto client = ConnectPackets(at->get(), "ctl.sock");
  ASSERT_TRUE(client);
  auto served = AcceptPackets(listener->get());
  ASSERT_TRUE(served);
  EXPECT_TRUE(PeerIsTrusted(served->get()));
  EXPECT_TRUE(SendPacket(client->get(), "one"));
  EXPECT_TRUE(SendPacket(client->get(), std::string(20'000, 'x')));
  EXPECT_EQ(ReceivePacket(served->get()).value(), "one");
  EXPECT_EQ(ReceivePacket(served->get()).value().size(), 20'000U);
  EXPECT_EQ(ReceivePacket(served->get()).error(), EAGAIN);
  client->Reset();
  EXPECT_TRUE(WaitReadable(served->get(), 10'000));
  EXPECT_EQ(ReceivePacket(served->get()).value(), "");
  EXPECT_EQ(SendPacket(served->get(), "late").error(), EPIPE);
}

TEST(Process, KnowsItself) {
  EXPECT_EQ(BootId().size(), 36U);
  const auto stat = ReadProcessStat(::getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_EQ(stat->session, ::getsid(0));
  EXPECT_GT(stat->start, 0U);
  EXPECT_FALSE(ReadProcessStat(1 << 30));
}

TEST(Process, ChildSeesWhatEntrySetsAndItsExitCodeArrives) {
  int value = 1;
  auto child = CloneChild(
      {},
      [](void* raw) {
        *static_cast<int*>(raw) = 42;
        return 7;
      },
      &value);
  ASSERT_TRUE(child);
  EXPECT_EQ(value, 42);
  int status = 0;
  EXPECT_EQ(::waitpid(child->pid, &status, 0), child->pid);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Process, ChildHasNoBlockedOrIgnoredSignals) {
  ::signal(SIGUSR1, SIG_IGN);
  Sleeper sleeper;
  ::signal(SIGUSR1, SIG_DFL);
  const std::string status = ReadFile("/proc/" + std::to_string(sleeper.pid) + "/status", 1 << 16).value();
  EXPECT_NE(status.find("SigBlk:\t0000000000000000"), std::string::npos);
  EXPECT_NE(status.find("SigIgn:\t0000000000000000"), std::string::npos);
}

TEST(Process, FindsOnlyWhoeverCarriesTheWholeMarker) {
  Sleeper marked({"A=1", "TRAINYARD_ID=01TESTMARKER" + std::to_string(::getpid())});
  Sleeper longer({"TRAINYARD_ID=01TESTMARKER" + std::to_string(::getpid()) + "X"});
  Sleeper other({"XTRAINYARD_ID=01TESTMARKER" + std::to_string(::getpid())});
  const auto found = FindMarked("TRAINYARD_ID=01TESTMARKER" + std::to_string(::getpid()));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pid, marked.pid);
}

TEST(Process, NeverSignalsWhoeverElseHasTheNumber) {
  Sleeper innocent;
  const uint64_t start = ProcessStartTime(innocent.pid).value();
  EXPECT_EQ(SignalProcess({innocent.pid, start + 1}, SIGKILL).error(), ESRCH);
  EXPECT_EQ(::waitpid(innocent.pid, nullptr, WNOHANG), 0);
  EXPECT_TRUE(SignalProcess({innocent.pid, start}, SIGKILL));
  int status = 0;
  ::waitpid(innocent.pid, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  innocent.pid = 0;
}

TEST(Process, FindsDescendants) {
  Sleeper sleeper;
  const auto found = FindDescendants(::getpid());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pid, sleeper.pid);
}

TEST_F(Posix, TellsWhoWritesToAFile) {
  const std::string path = folder_ + "/log";
  auto reader = OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_CREAT, 0600);
  EXPECT_FALSE(WritesTo(::getpid(), path));
  auto writer = OpenAt(AT_FDCWD, path.c_str(), O_WRONLY | O_APPEND);
  EXPECT_TRUE(WritesTo(::getpid(), path));
}

class Cgroups : public ::testing::TestWithParam<Containment> {
 protected:
  void SetUp() override {
    root_ = OpenCgroupRoot(instance_, GetParam());
    if (root_.kind != GetParam()) GTEST_SKIP() << Name(GetParam()) << " cannot be had here";
    leaf_ = root_.Attempt("01TEST");
    ASSERT_TRUE(leaf_.Make());
  }
  void TearDown() override {
    if (root_.folder.empty()) return;
    EXPECT_TRUE(leaf_.Remove());
    (void)root_.Shims().Remove();
    EXPECT_EQ(::rmdir(root_.folder.c_str()), 0);
  }
  CloneOptions Inside() {
    CloneOptions options;
    if (GetParam() == Containment::kCgroup2) {
      fd_ = std::move(*OpenFolder(leaf_.path));
      options.cgroup = fd_.get();
    } else {
      fd_ = std::move(*OpenAt(AT_FDCWD, (leaf_.path + "/cgroup.procs").c_str(), O_WRONLY));
      options.join_procs = fd_.get();
    }
    return options;
  }
  const std::string instance_ = "posix-test-" + std::to_string(::getpid());
  CgroupRoot root_;
  Cgroup leaf_;
  UniqueFd fd_;
};

TEST_P(Cgroups, HoldsFreezesAndKills) {
  EXPECT_FALSE(leaf_.Populated());
  Sleeper sleeper({}, Inside());
  ASSERT_GT(sleeper.pid, 0);
  EXPECT_EQ(leaf_.Processes(), std::vector<int>{sleeper.pid});
  EXPECT_TRUE(leaf_.Populated());
  EXPECT_EQ(leaf_.Remove().error(), EBUSY);
  EXPECT_TRUE(leaf_.Freeze(true));
  EXPECT_TRUE(leaf_.Freeze(false));
  EXPECT_TRUE(leaf_.Freeze(true));
  leaf_.Kill();
  int status = 0;
  EXPECT_EQ(::waitpid(sleeper.pid, &status, 0), sleeper.pid);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  sleeper.pid = 0;
  EXPECT_FALSE(leaf_.Populated());
}

TEST_P(Cgroups, AreFoundAgainByTheirInstance) {
  bool found = false;
  for (const CgroupRoot& root : KnownCgroupRoots(instance_)) found = found || root.folder == root_.folder;
  EXPECT_TRUE(found);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Cgroups, ::testing::Values(Containment::kCgroup2, Containment::kFreezer),
                         [](const auto& info) { return std::string(Name(info.param)); });

TEST(Cgroup, NamesAreReadBack) {
  EXPECT_EQ(ParseContainment("cgroup2"), Containment::kCgroup2);
  EXPECT_EQ(ParseContainment("subreaper"), Containment::kSubreaper);
  EXPECT_FALSE(ParseContainment("jail"));
}

}  // namespace
}  // namespace ty
