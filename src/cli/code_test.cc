#include "cli/code.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/files.h"

namespace ty {
namespace {

class Folder : public ::testing::Test {
 protected:
  Folder() {
    std::string name = ::testing::TempDir() + "ty-code-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() override { std::filesystem::remove_all(path_); }

  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name) << text;
  }

  std::string path_;
  const std::string commit_ = "0123456789abcdef0123456789abcdef01234567";
};

TEST_F(Folder, ScriptsNamedInTheCommandAreFoundOnce) {
  Write("train.py", "print()");
  Write("conf/a.yaml", "x: 1");
  Write("data.bin", "x");
  mkdir((path_ + "/folder.py").c_str(), 0700);
  mkfifo((path_ + "/pipe.py").c_str(), 0600);
  EXPECT_EQ(ScriptsIn({"python", "train.py", "./train.py", "--config=conf/a.yaml", "data.bin", "folder.py",
                       "pipe.py", "missing.py"},
                      path_),
            (std::vector<std::string>{path_ + "/train.py", path_ + "/conf/a.yaml"}));
}

TEST_F(Folder, TheCommitIsReadFromLooseAndPackedBranches) {
  Write(".git/HEAD", "ref: refs/heads/main\n");
  EXPECT_EQ(FindRepository(path_).folder, path_);
  EXPECT_EQ(FindRepository(path_).commit, "");  // no commit yet
  Write(".git/packed-refs", "# pack-refs with: peeled\n" + std::string(40, 'a') + " refs/heads/old\n" +
                                commit_ + " refs/heads/main\n");
  EXPECT_EQ(FindRepository(path_).commit, commit_);
  Write(".git/refs/heads/main", std::string(40, 'b') + "\n");
  EXPECT_EQ(FindRepository(path_).commit, std::string(40, 'b'));
  Write(".git/HEAD", commit_ + "\n");
  mkdir((path_ + "/deep").c_str(), 0700);
  EXPECT_EQ(FindRepository(path_ + "/deep").commit, commit_);
}

TEST_F(Folder, AWorktreePointsToItsRepository) {
  Write("main/.git/HEAD", "ref: refs/heads/main\n");
  Write("main/.git/refs/heads/side", commit_ + "\n");
  Write("main/.git/worktrees/side/HEAD", "ref: refs/heads/side\n");
  Write("main/.git/worktrees/side/commondir", "../..\n");
  Write("side/.git", "gitdir: " + path_ + "/main/.git/worktrees/side\n");
  EXPECT_EQ(FindRepository(path_ + "/side").commit, commit_);
}

TEST_F(Folder, ProgramsAreFoundOnThePathOfTheTask) {
  Write("bin/tool", "#!/bin/sh\n");
  Write("bin/plain", "text");
  chmod((path_ + "/bin/tool").c_str(), 0755);
  mkdir((path_ + "/bin/folder").c_str(), 0755);
  EXPECT_EQ(FindProgram("tool", "/nowhere:" + path_ + "/bin", "/"), path_ + "/bin/tool");
  EXPECT_EQ(FindProgram("tool", "/nowhere:bin", path_), path_ + "/bin/tool");
  EXPECT_EQ(FindProgram("plain", path_ + "/bin", "/"), "");
  EXPECT_EQ(FindProgram("folder", path_ + "/bin", "/"), "");
  EXPECT_EQ(FindProgram("tool", "", "/"), "");
}

}  // namespace
}  // namespace ty
