#include "os/host_leases.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <thread>

#include "os/users.h"
#include "posix/files.h"

namespace ty {
namespace {

const std::string kGpu = "GPU-8f6a2b9c";

HostNote Note(int64_t task, const std::string& name) {
  return {.task = {task}, .task_name = name, .since = *ParseIso("2026-11-30T09:12:27.000Z")};
}

class Leases : public testing::Test {
 protected:
  Leases() {
    char name[] = "/tmp/leases-test-XXXXXX";
    root_ = mkdtemp(name);
    folder_ = root_ + "/trainyard";
    umask_ = umask(077);  // as a daemon's
  }
  ~Leases() override {
    umask(umask_);
    EXPECT_TRUE(RemoveTree(root_));
  }
  std::unique_ptr<HostLeases> Yard(const std::string& instance) { return OpenHostLeases(instance, folder_); }
  std::optional<HostHolder> Holder(const std::string& instance) {
    return FindHostHolder(kGpu, instance, folder_);
  }
  std::string Path(const std::string& file) { return folder_ + "/" + file; }
  void Write(const std::string& file, const std::string& text) {
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, Path(file).c_str(), text, 0644));
  }

  std::string root_, folder_;
  mode_t umask_;
};

HostClaim Whole(HostLeases& yard, int64_t task = 1) {
  return yard.Claim(kGpu, false, false, Note(task, "whole"));
}

TEST_F(Leases, OneYardHasADeviceAndTheOtherLearnsWhoHasIt) {
  auto ann = Yard("ann"), bob = Yard("bob");
  HostClaim got = ann->Claim(kGpu, false, false, Note(12, "train"));
  ASSERT_TRUE(got.lock);
  EXPECT_FALSE(got.holder);
  const HostClaim refused = Whole(*bob);
  EXPECT_FALSE(refused.lock);
  EXPECT_FALSE(refused.again);
  ASSERT_TRUE(refused.holder);
  EXPECT_EQ(refused.holder->instance, "ann");
  EXPECT_EQ(refused.holder->user, UserNameOf(geteuid()));
  EXPECT_EQ(refused.holder->task, 12);
  EXPECT_EQ(refused.holder->task_name, "train");
  EXPECT_EQ(refused.holder->since, ParseIso("2026-11-30T09:12:27.000Z"));
  EXPECT_EQ(Holder("bob"), refused.holder);
  got = {};
  ann->Leave(kGpu);
  EXPECT_FALSE(Holder("bob"));
  EXPECT_TRUE(Whole(*bob).lock);
}

TEST_F(Leases, OtherDevicesAreFree) {
  auto ann = Yard("ann"), bob = Yard("bob");
  const HostClaim got = Whole(*ann);
  EXPECT_TRUE(bob->Claim("GPU-8f6a2b9", false, false, Note(1, "")).lock) << "a beginning of the other's name";
  EXPECT_FALSE(FindHostHolder("GPU-8f6a2b9c0", "bob", folder_));
}

TEST_F(Leases, ADeviceStaysTakenWhileAProcessThatInheritedItLives) {
  auto ann = Yard("ann"), bob = Yard("bob");
  HostClaim got = Whole(*ann, 3);
  ASSERT_TRUE(got.lock);
  const int child = fork();
  if (child == 0) {
    for (;;) pause();  // keeps what was open at the fork
  }
  got = {};
  ann.reset();  // yard and supervisor are gone
  ASSERT_TRUE(Whole(*bob).holder);
  EXPECT_EQ(Holder("bob")->task, 3);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(Holder("bob"));
  EXPECT_TRUE(Whole(*bob).lock) << "the note that nobody took away keeps nobody out";
}

TEST_F(Leases, WhatIsLeftOfAnEarlierAttemptIsNamedAsOurs) {
  auto before = Yard("ann"), after = Yard("ann");
  const HostClaim left = Whole(*before, 5);
  const HostClaim refused = Whole(*after, 6);
  ASSERT_TRUE(refused.holder);
  EXPECT_EQ(refused.holder->instance, "ann");
  EXPECT_EQ(refused.holder->task, 5);
  EXPECT_EQ(Holder("ann")->instance, "ann");
}

TEST_F(Leases, WhoLeavesWhatIsStillHeldKeepsTheNoteUntilItIsFree) {
  auto ann = Yard("ann"), bob = Yard("bob");
  HostClaim left_behind = Whole(*ann, 12);
  EXPECT_FALSE(ann->Leave(kGpu));
  ASSERT_TRUE(Holder("ann"));
  EXPECT_EQ(Holder("ann")->instance, "ann");
  EXPECT_EQ(Whole(*bob).holder->task, 12);
  left_behind = {};
  EXPECT_TRUE(ann->Leave(kGpu));
  EXPECT_FALSE(Exists(Path(kGpu + ".by.ann")));
}

TEST_F(Leases, WhoKeepsTheGateIsNamedByTheKernelAndNotByWhoMadeTheFile) {
  auto ann = Yard("ann");
  EXPECT_EQ(ann->WhoHasGate(kGpu).user, "") << "there is none";
  Whole(*ann);
  EXPECT_EQ(ann->WhoHasGate(kGpu).user, "") << "nobody has it";
  const UniqueFd gate(open(Path(kGpu + ".gate").c_str(), O_RDONLY));
  ASSERT_EQ(flock(gate.get(), LOCK_EX | LOCK_NB), 0);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(Path(kGpu + ".gate").c_str(), 65534, 65534), 0);
  }
  EXPECT_EQ(ann->WhoHasGate(kGpu).user, UserNameOf(geteuid()));
  EXPECT_TRUE(Whole(*ann).again);
}

TEST_F(Leases, SharesOfOneYardGoTogetherAndKeepOthersOut) {
  auto ann = Yard("ann"), bob = Yard("bob");
  HostClaim first = ann->Claim(kGpu, true, false, Note(1, "b"));
  ASSERT_TRUE(first.lock);
  HostClaim second = ann->Claim(kGpu, true, true, Note(2, "c"));
  ASSERT_TRUE(second.lock);
  EXPECT_TRUE(Whole(*bob).holder);
  EXPECT_TRUE(bob->Claim(kGpu, true, false, Note(9, "")).holder) << "a share is of one's own yard's device";
  first = {};
  EXPECT_TRUE(Whole(*bob).holder) << "the other share still has it";
  second = {};
  EXPECT_TRUE(Whole(*bob).lock);
}

TEST_F(Leases, TheFirstShareNeedsAFreeDevice) {
  auto ann = Yard("ann"), bob = Yard("bob");
  const HostClaim whole = Whole(*bob);
  EXPECT_TRUE(ann->Claim(kGpu, true, false, Note(1, "")).holder);
}

TEST_F(Leases, WhoeverIsDecidingIsWaitedForByAskingAgain) {
  auto ann = Yard("ann");
  { const HostClaim made = Whole(*ann); }
  const UniqueFd gate(open(Path(kGpu + ".gate").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(gate.get(), LOCK_EX | LOCK_NB), 0);
  const HostClaim claim = Whole(*ann);
  EXPECT_TRUE(claim.again);
  EXPECT_FALSE(claim.lock || claim.holder);
  EXPECT_FALSE(Holder("bob")) << "nobody knows just now";
}

TEST_F(Leases, TheNewestNoteSaysWhoHasIt) {
  auto ann = Yard("ann"), bob = Yard("bob"), eve = Yard("eve");
  { const HostClaim died = Whole(*ann, 1); }  // its note stays
  const HostClaim got = Whole(*bob, 2);
  const timespec old[2] = {{1, 0}, {1, 0}};  // both may be of one tick of the clock
  ASSERT_EQ(utimensat(AT_FDCWD, Path(kGpu + ".by.ann").c_str(), old, 0), 0);
  EXPECT_EQ(Holder("eve")->instance, "bob");
  EXPECT_EQ(Holder("ann")->instance, "bob");
  EXPECT_EQ(Whole(*eve).holder->task, 2);
}

TEST_F(Leases, FolderAndFilesAreOpenToAllWhateverTheUmask) {
  auto ann = Yard("ann");
  HostClaim got = Whole(*ann);
  struct stat info;
  ASSERT_EQ(stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 01777u);
  for (const char* file : {"", ".gate", ".by.ann"}) {
    ASSERT_EQ(stat(Path(kGpu + file).c_str(), &info), 0) << file;
    EXPECT_EQ(info.st_mode & 07777, 0644u) << file;
  }
  EXPECT_EQ(ListFolder(folder_)->size(), 3u) << "nothing half made is left";
  EXPECT_TRUE(fcntl(got.lock->get(), F_GETFD) & FD_CLOEXEC) << "nobody inherits it by accident";
  got = {};
  ann->Leave(kGpu);
  EXPECT_FALSE(Exists(Path(kGpu + ".by.ann")));
}

TEST_F(Leases, AFolderThatOnlyPretendsToBeSharedIsNotUsed) {
  ASSERT_EQ(mkdir((root_ + "/real").c_str(), 0700), 0);
  ASSERT_EQ(symlink((root_ + "/real").c_str(), folder_.c_str()), 0);
  EXPECT_TRUE(Whole(*Yard("ann")).lock) << "then there is nobody to share with";
  EXPECT_TRUE(ListFolder(root_ + "/real")->empty());
  ASSERT_EQ(unlink(folder_.c_str()), 0);
  ASSERT_EQ(mkdir(folder_.c_str(), 0700), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);  // anybody could replace anybody's file
  EXPECT_TRUE(Whole(*Yard("ann")).lock);
  EXPECT_TRUE(ListFolder(folder_)->empty());
}

TEST_F(Leases, FilesThatCannotBeLockedKeepTheDeviceAndNameTheirOwner) {
  auto ann = Yard("ann");
  { const HostClaim made = Whole(*ann); }
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (root_ + "/victim").c_str(), "precious"));
  for (const std::string& file : {kGpu, kGpu + ".gate"}) {
    unlink(Path(file).c_str());
    ASSERT_EQ(symlink((root_ + "/victim").c_str(), Path(file).c_str()), 0);
    const HostClaim claim = Whole(*ann);
    ASSERT_TRUE(claim.holder) << file;
    EXPECT_EQ(claim.holder->user, UserNameOf(geteuid()));
    ASSERT_EQ(unlink(Path(file).c_str()), 0);
    ASSERT_EQ(mkfifo(Path(file).c_str(), 0644), 0);
    EXPECT_TRUE(Whole(*ann).holder) << "and nobody waits for a writer";
    ASSERT_EQ(unlink(Path(file).c_str()), 0);
  }
  EXPECT_EQ(*ReadFile(root_ + "/victim", 100), "precious");
  EXPECT_TRUE(Whole(*ann).lock);
}

TEST_F(Leases, HostileNotesTellNothingButTheirOwner) {
  auto ann = Yard("ann"), bob = Yard("bob");
  HostClaim got = Whole(*ann, 4);
  const auto holder = [&] { return *Whole(*bob).holder; };
  const std::string note = kGpu + ".by.ann";
  for (const std::string& text :
       {std::string("no json at all"), std::string("[1,2]"), std::string("{\"task\":\"12\",\"name\":7}"),
        std::string("{\"task\":-3}"), std::string(1 << 20, '{'), std::string()}) {
    Write(note, text);
    EXPECT_EQ(holder().user, UserNameOf(geteuid()));
    EXPECT_EQ(holder().task, 0) << text.substr(0, 40);
    EXPECT_EQ(holder().task_name, "");
  }
  Write(note,
        "{\"task\":12,\"user\":\"somebody else\",\"name\":\"\\u001b[31mred" + std::string(3000, 'x') + "\"}");
  EXPECT_EQ(holder().user, UserNameOf(geteuid())) << "of the file, not of the text";
  EXPECT_EQ(holder().task_name.find('\x1b'), std::string::npos);
  EXPECT_LT(holder().task_name.size(), 300u);
  ASSERT_EQ(unlink(Path(note).c_str()), 0);
  ASSERT_EQ(symlink("/etc/passwd", Path(note).c_str()), 0);
  ASSERT_EQ(mkfifo(Path(kGpu + ".by.fifo").c_str(), 0644), 0);
  EXPECT_EQ(holder().user, "") << "taken, by whom nobody can tell";
}

TEST_F(Leases, ASquattedNoteCostsTheNoteAndNotTheDevice) {
  auto ann = Yard("ann");
  { const HostClaim made = Whole(*ann); }
  ann->Leave(kGpu);
  ASSERT_EQ(mkdir(Path(kGpu + ".by.ann").c_str(), 0700), 0);
  ASSERT_EQ(mkdir(Path(kGpu + ".by.ann.new").c_str(), 0700), 0);
  EXPECT_TRUE(Whole(*ann).lock);
}

TEST_F(Leases, NamesOfDevicesAreNoPaths) {
  auto ann = Yard("ann"), bob = Yard("bob");
  const HostClaim got = ann->Claim("MIG-GPU-1/../7/0", false, false, Note(1, ""));
  EXPECT_TRUE(got.lock);
  EXPECT_TRUE(bob->Claim("MIG-GPU-1/../7/0", false, false, Note(1, "")).holder);
  EXPECT_TRUE(Exists(Path("MIG-GPU-1____7_0")));
}

TEST_F(Leases, ALockFileThatWasRemovedAndMadeAgainIsTheOneThatCounts) {
  auto ann = Yard("ann"), bob = Yard("bob");
  { const HostClaim made = Whole(*ann); }
  ASSERT_EQ(unlink(Path(kGpu).c_str()), 0);
  const HostClaim got = Whole(*ann);
  ASSERT_TRUE(got.lock);
  EXPECT_TRUE(Whole(*bob).holder);
}

TEST_F(Leases, UsersKeepEachOtherOutAndAreNamedByTheirFiles) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(chmod(root_.c_str(), 01777), 0);
  auto root = Yard("root");
  { const HostClaim made = Whole(*root); }  // the files are root's
  int said[2];
  ASSERT_EQ(pipe2(said, O_CLOEXEC), 0);
  const int child = fork();
  if (child == 0) {
    if (setresuid(kNobody, kNobody, kNobody) != 0) _exit(1);
    const HostClaim got = Whole(*Yard("nobody"), 8);
    const char answer = got.lock && !got.holder ? 'y' : 'n';
    if (write(said[1], &answer, 1) < 0) _exit(1);
    for (;;) pause();
  }
  close(said[1]);
  char answer = '?';
  ASSERT_EQ(read(said[0], &answer, 1), 1);
  close(said[0]);
  EXPECT_EQ(answer, 'y');
  const HostClaim refused = Whole(*root);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(refused.holder);
  EXPECT_EQ(refused.holder->user, UserNameOf(kNobody));
  EXPECT_EQ(refused.holder->task, 8);
  EXPECT_TRUE(Whole(*root).lock);
}

TEST_F(Leases, AFolderThatWasClearedAwayIsMadeAgainForAll) {
  auto ann = Yard("ann"), bob = Yard("bob");
  { const HostClaim before = Whole(*ann); }
  ASSERT_TRUE(RemoveTree(folder_));
  const HostClaim got = Whole(*ann);
  ASSERT_TRUE(got.lock);
  EXPECT_EQ(Whole(*bob).holder->instance, "ann");
}

TEST_F(Leases, TwoYardsAtTheSameInstantNeverGetOneDevice) {
  constexpr int kRounds = 200;
  std::atomic<int> holding = 0, twice = 0, got = 0;
  std::barrier start(2), end(2);
  const auto yard = [&](const std::string& instance) {
    auto leases = Yard(instance);
    for (int round = 0; round < kRounds; ++round) {
      start.arrive_and_wait();
      HostClaim claim;
      do {
        claim = leases->Claim(kGpu, round % 2 == 0, false, Note(round + 1, instance));
      } while (claim.again);
      if (claim.lock) {
        ++got;
        if (++holding > 1) ++twice;
      }
      end.arrive_and_wait();
      if (claim.lock) --holding;
    }
  };
  std::thread other(yard, "bob");
  yard("ann");
  other.join();
  EXPECT_EQ(twice, 0);
  EXPECT_EQ(got, kRounds) << "one of the two each time";
}

}  // namespace
}  // namespace ty
