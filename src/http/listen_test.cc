#include "http/listen.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/paths.h"
#include "posix/files.h"

namespace ty {
namespace {

class ListenTest : public ::testing::Test {
 protected:
  ListenTest() : home_(::testing::TempDir() + "listen-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(home_);
  }
  ~ListenTest() override { std::filesystem::remove_all(home_); }
  std::string home_;
};

TEST_F(ListenTest, ComesBackOnThePortOfTheLastTimeWhereItIsOursToChoose) {
  const ListenAddress any{"127.0.0.1", 0, false};
  const int first = ListenTcp(any)->port;
  EXPECT_EQ(ListenTcp(any, first)->port, first);
  const Bound holder = ListenTcp(any).value();  // the kept port is taken: another one, not a failure
  EXPECT_NE(ListenTcp(any, holder.port)->port, holder.port);
  // The standard port, or the next free one, then kept.
  const ListenAddress standard{"127.0.0.1", holder.port, true};
  EXPECT_EQ(ListenTcp(standard, first)->port, first);
  // A port that was asked for is that port.
  EXPECT_FALSE(ListenTcp({"127.0.0.1", holder.port, false}, first));
}

TEST_F(ListenTest, KeepsThePortInTheStateFolder) {
  EXPECT_EQ(KeptPort(home_), 0);
  KeepPort(home_, 7790);
  EXPECT_EQ(KeptPort(home_), 7790);
  KeepPort(home_, 7791);
  EXPECT_EQ(KeptPort(home_), 7791);
  for (const char* damage : {"", "\n", "x7791\n", "0\n", "-1\n", "65536\n", "99999999999999999999\n"}) {
    ASSERT_TRUE(ReplaceFile(StatePaths{home_}.Port(), damage));
    EXPECT_EQ(KeptPort(home_), 0) << damage;
  }
  KeepPort(home_ + "/missing", 7790);  // nowhere to write: nothing breaks
}

}  // namespace
}  // namespace ty
