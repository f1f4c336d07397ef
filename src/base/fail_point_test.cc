#include "base/fail_point.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace ty {
namespace {

// What becomes of a process that is armed so and passes "here" three times: how it ended, and its passings.
struct Fate {
  int status = 0;
  int passed = 0;
};
Fate Live(const std::string& setting) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (!ArmFailPoints(setting.c_str())) _exit(2);
    for (int i = 0; i < 3; ++i) {
      FAIL_POINT("here");
      if (write(ends[1], "x", 1) != 1) _exit(3);
    }
    _exit(0);
  }
  close(ends[1]);
  Fate fate;
  waitpid(child, &fate.status, WUNTRACED);
  if (WIFSTOPPED(fate.status)) {
    kill(child, SIGCONT);
    int end = 0;
    waitpid(child, &end, 0);
    EXPECT_TRUE(WIFEXITED(end));
  }
  char byte;
  while (read(ends[0], &byte, 1) == 1) ++fate.passed;
  close(ends[0]);
  return fate;
}

TEST(FailPoint, NothingHappensUnlessArmed) {
  EXPECT_TRUE(ArmFailPoints(nullptr));
  EXPECT_TRUE(ArmFailPoints(""));
  EXPECT_EQ(ArmedFailPoints(), nullptr);
  FAIL_POINT("here");
}

TEST(FailPoint, KillsAtTheNthPassing) {
  const Fate fate = Live("elsewhere=kill,here=kill@3");
  ASSERT_TRUE(WIFSIGNALED(fate.status));
  EXPECT_EQ(WTERMSIG(fate.status), SIGKILL);
  EXPECT_EQ(fate.passed, 2);
}

TEST(FailPoint, HaltsUntilSomebodyLetsItGoOn) {
  const Fate fate = Live("here=stop@2");
  EXPECT_TRUE(WIFSTOPPED(fate.status));
  EXPECT_EQ(fate.passed, 3);
}

TEST(FailPoint, OtherNamesPassUnhurt) {
  const Fate fate = Live("her=kill,heres=kill");
  EXPECT_TRUE(WIFEXITED(fate.status));
  EXPECT_EQ(fate.passed, 3);
}

TEST(FailPoint, LeavesALineBeforeItActs) {
  const std::string path = testing::TempDir() + "fail_point_hits." + std::to_string(getpid());
  Live("here=kill@1,log=" + path);
  std::ifstream file(path);
  std::string name, pid, more;
  file >> name >> pid;
  EXPECT_EQ(name, "here");
  EXPECT_FALSE(pid.empty());
  EXPECT_FALSE(file >> more);
  unlink(path.c_str());
}

TEST(FailPoint, RefusesWhatItCannotRead) {
  for (const char* setting :
       {"here", "here=", "=kill", "here=explode", "here=kill@0", "here=kill,", "log="}) {
    const Fate fate = Live(setting);
    ASSERT_TRUE(WIFEXITED(fate.status)) << setting;
    EXPECT_EQ(WEXITSTATUS(fate.status), 2) << setting;
  }
}

}  // namespace
}  // namespace ty
