// Logs that cannot hurt, and their index by time.
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "base/log_gaps.h"
#include "engine/testing.h"

namespace ty {
namespace {

TEST_P(LocalEngineTest, IndexesTheLogByTime) {
  const Ulid attempt = LaunchScript("echo one; while [ ! -e go ]; do sleep 0.02; done; sleep 1.1; echo two");
  ASSERT_TRUE(Eventually([&] {  // the first is indexed before the second is said
    return ReadFile(Folder(attempt).paths().LogIndex(), 1 << 20).value_or("").size() == 16U;
  }));
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  const ExitRecord exit = desk_->Wait<AttemptExited>(attempt)->record;
  const std::string index = ReadFile(Folder(attempt).paths().LogIndex(), 1 << 20).value_or("");
  ASSERT_EQ(index.size(), 32U);
  int64_t records[4];
  memcpy(records, index.data(), sizeof records);
  EXPECT_EQ(records[0], 4);
  EXPECT_EQ(records[2], 8);
  EXPECT_GE(records[1], ToNanos(exit.started));
  EXPECT_GE(records[3], records[1] + 1'000'000'000);
}

int64_t BytesOnDisk(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? info.st_blocks * 512 : 0;
}

LogGaps GapsOf(const std::string& log) {
  return DecodeGaps(ReadFile(AttemptPaths::GapsOf(log), kMostGapBytes).value_or(""));
}

std::string Piece(const std::string& path, int64_t from, size_t size) {
  std::string bytes(size, '\0');
  const auto file = OpenAt(AT_FDCWD, path.c_str(), O_RDONLY);
  const ssize_t got = file ? ::pread(file->get(), bytes.data(), size, from) : 0;
  bytes.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

constexpr int64_t kMiB = 1 << 20;
// Lines of 64 bytes that say at which line they stand.
constexpr char kNumberedLines[] = "seq -f %063.0f 0 1048575";  // 64 MiB

TEST_P(LocalEngineTest, ALogIsKeptWholeWhenNobodyAskedForALimit) {
  LaunchOrder order = Order({"/bin/sh", "-c", kNumberedLines});
  const Ulid attempt = order.attempt;
  EXPECT_EQ(RunToEnd(std::move(order)).exit_code, 0);
  EXPECT_GE(BytesOnDisk(Folder(attempt).paths().Log()), 64 * kMiB);
  EXPECT_FALSE(Exists(AttemptPaths::GapsOf(Folder(attempt).paths().Log())));
}

TEST_P(LocalEngineTest, ALogOverItsLimitLosesItsMiddleAndKeepsHeadTailAndOffsets) {
  LaunchOrder order = Order(
      {"/bin/sh", "-c", std::string(kNumberedLines) + "; while [ ! -e go ]; do sleep 0.02; done; echo end"});
  order.log_limit = 32 * kMiB;
  const Ulid attempt = Launch(std::move(order));
  const std::string log = Folder(attempt).paths().Log();
  ASSERT_TRUE(Eventually([&] {
    const LogGaps gaps = GapsOf(log);
    struct stat info;
    return !gaps.empty() && ::stat(log.c_str(), &info) == 0 && info.st_size == 64 * kMiB &&
           info.st_size - gaps[0].size() <= 32 * kMiB && BytesOnDisk(log) <= 33 * kMiB;
  }));
  const LogGaps gaps = GapsOf(log);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].why, LogGap::Why::kLimit);
  EXPECT_EQ(gaps[0].from, 8 * kMiB);
  EXPECT_GE(64 * kMiB - gaps[0].to, 8 * kMiB);
  // Every line that is there stands where it stood.
  for (const int64_t at : {int64_t{0}, gaps[0].from - 64, gaps[0].to, 64 * kMiB - 64}) {
    EXPECT_EQ(atoll(Piece(log, at, 63).c_str()), at / 64) << at;
  }
  EXPECT_EQ(Piece(log, gaps[0].from, 8), std::string(8, '\0'));
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 0);
  EXPECT_EQ(Piece(log, 64 * kMiB, 8), "end\n");
}

TEST_P(LocalEngineTest, ALogThatGrewTooFastToBeSeenIsWithinItsLimitOnceItsTaskHasEnded) {
  LaunchOrder order = Order({"/bin/sh", "-c", "head -c 100M /dev/zero"});
  order.log_limit = 32 * kMiB;
  const Ulid attempt = order.attempt;
  EXPECT_EQ(RunToEnd(std::move(order)).exit_code, 0);
  EXPECT_LE(BytesOnDisk(Folder(attempt).paths().Log()), 33 * kMiB);
}

TEST_P(LocalEngineTest, EachRanksLogHasALimitOfItsOwn) {
  LaunchOrder order =
      Ranks(2, "[ $RANK = 0 ] || seq -f %063.0f 0 1048575; while [ ! -e go ]; do sleep 0.02; done");
  order.log_limit = 32 * kMiB;
  const Ulid attempt = Launch(std::move(order));
  const AttemptPaths paths = Folder(attempt).paths();
  ASSERT_TRUE(Eventually([&] { return !GapsOf(paths.Log(1)).empty(); }));
  EXPECT_FALSE(Exists(AttemptPaths::GapsOf(paths.Log(0))));
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 0);
}

// A disk of the test's own; nothing where mounting is not allowed.
class SmallDisk {
 public:
  SmallDisk(std::string path, const char* size) : path_(std::move(path)) {
    mounted_ = ::mkdir(path_.c_str(), 0700) == 0 || errno == EEXIST;
    mounted_ = mounted_ && ::mount("small", path_.c_str(), "tmpfs", 0, size) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST_P(LocalEngineTest, ALogMayBeManyTimesLargerThanItsDiskAndItsTaskLivesOn) {
  SmallDisk disk(home_ + "/attempts", "size=96m");
  if (!disk.mounted()) GTEST_SKIP() << "no file system can be mounted here";
  // Writes on however full the disk is, as what logs through a library does; each megabyte starts with its
  // number. The pace is the test's, not the machine's: no further than a disk's worth ahead of the
  // supervisor.
  const Ulid attempt = LaunchScript(
      "i=0; while [ $i -lt 300 ]; do "
      "until { printf '%015d\\n' $i; head -c 1048560 /dev/zero | tr '\\0' x; } 2>> errors; do sleep 0.01; "
      "done; "
      "i=$((i+1)); while [ $((i % 30)) = 0 -a ! -e go$((i/30)) ]; do sleep 0.01; done; done; echo; echo "
      "last");
  const std::string log = Folder(attempt).paths().Log();
  for (int part = 1; part <= 10; ++part) {
    struct stat info = {};
    ASSERT_TRUE(Eventually([&] {
      struct statvfs room = {};
      ::stat(log.c_str(), &info);
      ::statvfs(log.c_str(), &room);
      return info.st_size >= part * 30 * kMiB &&
             static_cast<int64_t>(room.f_bfree * room.f_frsize) > 11 * kMiB;
    })) << part
        << ": " << info.st_size;
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go" + std::to_string(part)).c_str(), ""));
  }
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 0);
  const LogGaps gaps = GapsOf(log);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].why, LogGap::Why::kDiskFull);
  EXPECT_EQ(Piece(log, 0, 16), "000000000000000\n");
  struct stat info;
  ASSERT_EQ(::stat(log.c_str(), &info), 0);
  EXPECT_EQ(Piece(log, info.st_size - 5, 5), "last\n");
  EXPECT_GT(info.st_size, 290 * kMiB);
}

TEST_P(LocalEngineTest, ALogThatItsTaskCutShortBeginsAnew) {
  LaunchOrder order = Order({"/bin/sh", "-c",
                             std::string(kNumberedLines) + "; while [ ! -e go ]; do sleep 0.02; done; "
                                                           "truncate -s 0 attempts/*/log; echo anew; "
                                                           "while [ ! -e end ]; do sleep 0.02; done"});
  order.log_limit = 32 * kMiB;
  const Ulid attempt = Launch(std::move(order));
  const std::string log = Folder(attempt).paths().Log();
  ASSERT_TRUE(Eventually([&] { return !GapsOf(log).empty(); }));
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_TRUE(Eventually([&] { return Log(attempt) == "anew\n" && GapsOf(log).empty(); }));
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/end").c_str(), ""));
  desk_->Wait<AttemptExited>(attempt);
}

}  // namespace
}  // namespace ty
