#include "posix/browse.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace ty {
namespace {

class Browse : public ::testing::Test {
 protected:
  Browse() : base_(::testing::TempDir() + "browse-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(base_ + "/top/inner");
    Write("secret");
    Write("top/a");
    Write("top/inner/b");
  }
  ~Browse() override { std::filesystem::remove_all(base_); }

  void Write(const std::string& path) const { std::ofstream(base_ + "/" + path) << path; }
  std::vector<std::string> Found(size_t most = 100, int depth = 8) const {
    std::vector<std::string> paths;
    for (const FoundFile& file : FindFiles(base_, "top", most, depth).files) paths.push_back(file.path);
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  int ErrorOf(const std::string& path) const {
    auto file = OpenBelow(base_, path);
    return file ? 0 : file.error();
  }

  std::string base_;
};

TEST_F(Browse, FindsPlainFilesAlone) {
  ::symlink("../secret", (base_ + "/top/link").c_str());
  ::symlink("..", (base_ + "/top/up").c_str());
  ::mkfifo((base_ + "/top/pipe").c_str(), 0600);
  EXPECT_EQ(Found(), (std::vector<std::string>{"a", "inner/b"}));
  EXPECT_EQ(FindFiles(base_, "top/up", 100, 8).files.size(), 0u);
  EXPECT_EQ(FindFiles(base_, "none", 100, 8).files.size(), 0u);
}

TEST_F(Browse, LooksNoFurtherThanAsked) {
  EXPECT_FALSE(FindFiles(base_, "top", 100, 8).cut);
  EXPECT_TRUE(FindFiles(base_, "top", 2, 8).cut);
  EXPECT_EQ(Found(100, 1), std::vector<std::string>{"a"});
  EXPECT_TRUE(FindFiles(base_, "top", 100, 1).cut);
}

TEST_F(Browse, OpensNothingThroughALink) {
  EXPECT_EQ(ErrorOf("top/inner/b"), 0);
  ::symlink("../secret", (base_ + "/top/link").c_str());
  ::symlink(base_.c_str(), (base_ + "/top/folder").c_str());
  ::mkfifo((base_ + "/top/pipe").c_str(), 0600);
  EXPECT_EQ(ErrorOf("top/link"), ELOOP);
  EXPECT_EQ(ErrorOf("top/folder/secret"), ELOOP);
  EXPECT_EQ(ErrorOf("top/pipe"), ELOOP);
  EXPECT_EQ(ErrorOf("top/inner"), ELOOP);
  EXPECT_EQ(ErrorOf("top/none"), ENOENT);
  const std::vector<std::string> paths = {
      "top/../secret", "../secret", "/etc/passwd", "top//a", "top/./a",
      "top/",          "",          ".",           "top/..", std::string("top/a\0b", 7)};
  for (const std::string& path : paths) {
    EXPECT_NE(ErrorOf(path), 0) << path;
  }
}

// Somebody changes a folder into a link and back as fast as they can.
TEST_F(Browse, NeverLeavesTheFolderWhileItIsSwapped) {
  std::filesystem::create_directories(base_ + "/outside");
  Write("outside/b");
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    const std::string inner = base_ + "/top/inner", aside = base_ + "/aside";
    while (!stop) {
      ::rename(inner.c_str(), aside.c_str());
      ::symlink((base_ + "/outside").c_str(), inner.c_str());
      ::unlink(inner.c_str());
      ::rename(aside.c_str(), inner.c_str());
    }
  });
  for (int i = 0; i < 5000; ++i) {
    auto file = OpenBelow(base_, "top/inner/b");
    if (!file) continue;
    char text[32] = {};
    ASSERT_GT(::read(file->get(), text, sizeof text), 0);
    ASSERT_STREQ(text, "top/inner/b");
  }
  stop = true;
  swapper.join();
}

}  // namespace
}  // namespace ty
