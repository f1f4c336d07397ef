#include "posix/core_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "posix/clocks.h"
#include "posix/files.h"

namespace ty {
namespace {

class CoreFile : public ::testing::Test {
 protected:
  CoreFile() {
    char name[] = "/tmp/core_file_test.XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~CoreFile() override { (void)RemoveTree(folder_); }
  void Write(const std::string& name) {
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (folder_ + "/" + name).c_str(), "core"));
  }
  std::string Find(const char* pattern, bool uses_pid = false) {
    return FindCoreFile(pattern, uses_pid, 4242, folder_, began_);
  }

  std::string folder_;
  const int64_t began_ = WallNanos();
};

TEST_F(CoreFile, LiesInTheWorkingFolderUnderThePlainName) {
  EXPECT_EQ(Find("core"), "");
  Write("core");
  EXPECT_EQ(Find("core"), folder_ + "/core");
  EXPECT_EQ(Find("core", true), "");
  Write("core.4242");
  EXPECT_EQ(Find("core", true), folder_ + "/core.4242");
}

TEST_F(CoreFile, IsFoundThoughOnlyTheKernelKnowsPartsOfItsName) {
  Write("core.python3.4242.1764490000");
  Write("core.python3.4243.1764490000");
  EXPECT_EQ(Find("core.%e.%p.%t"), folder_ + "/core.python3.4242.1764490000");
  EXPECT_EQ(Find((folder_ + "/core.%e.%p.%t").c_str()), folder_ + "/core.python3.4242.1764490000");
  EXPECT_EQ(CoreNames("c[%%]%p%", true, 7), "c\\[%\\]7");
}

TEST_F(CoreFile, OfAnEarlierRunIsNotTakenForThisOne) {
  Write("core");
  EXPECT_EQ(FindCoreFile("core", false, 4242, folder_, WallNanos() + 60'000'000'000), "");
}

TEST_F(CoreFile, IsNotLookedForWhereAProgramTakesIt) {
  Write("core");
  EXPECT_EQ(Find("|/usr/share/apport/apport %p %s"), "");
  EXPECT_EQ(Find("@@/run/core.socket"), "");
  EXPECT_EQ(Find(""), "");
}

TEST_F(CoreFile, MayBeALinkOrAFolderOfThatNameButThenItIsNone) {
  ASSERT_EQ(::mkdir((folder_ + "/core").c_str(), 0700), 0);
  EXPECT_EQ(Find("core"), "");
  ASSERT_EQ(::symlink("/etc/passwd", (folder_ + "/core.4242").c_str()), 0);
  EXPECT_EQ(Find("core", true), "");
}

}  // namespace
}  // namespace ty
