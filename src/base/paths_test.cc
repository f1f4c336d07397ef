#include "base/paths.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace ty {
namespace {

// Sets or clears the variables that decide the state folder, and puts them back.
class StateFolder : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kNames) {
      const char* value = std::getenv(name);
      before_.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }

  static constexpr const char* kNames[] = {"TRAINYARD_HOME", "XDG_STATE_HOME", "HOME"};
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

TEST_F(StateFolder, IsNamedByTheFirstVariableThatIsSet) {
  EXPECT_EQ(StatePaths::FromEnvironment().home, "");
  setenv("HOME", "/home/ann", 1);
  EXPECT_EQ(StatePaths::FromEnvironment().home, "/home/ann/.local/state/trainyard");
  setenv("XDG_STATE_HOME", "/var/state", 1);
  EXPECT_EQ(StatePaths::FromEnvironment().home, "/var/state/trainyard");
  setenv("TRAINYARD_HOME", "/yard/", 1);
  EXPECT_EQ(StatePaths::FromEnvironment().home, "/yard");
}

TEST_F(StateFolder, EmptyAndRelativeVariablesAreNotMistakenForFolders) {
  setenv("HOME", "/home/ann", 1);
  setenv("TRAINYARD_HOME", "", 1);
  setenv("XDG_STATE_HOME", "state", 1);
  EXPECT_EQ(StatePaths::FromEnvironment().home, "/home/ann/.local/state/trainyard");
}

TEST_F(StateFolder, ARelativeHomeMeansTheSameAfterChdir) {
  setenv("TRAINYARD_HOME", "yard", 1);
  char here[4096];
  ASSERT_TRUE(getcwd(here, sizeof here));
  EXPECT_EQ(StatePaths::FromEnvironment().home, std::string(here) + "/yard");
}

TEST(Program, KnowsItsFolderAndWhatIsShippedBesideIt) {
  std::string folder = ProgramFolder();
  EXPECT_EQ(access((folder + "/base_test").c_str(), X_OK), 0) << folder;
  ASSERT_TRUE(folder.ends_with("/bin"));
  EXPECT_EQ(ShareFolder(), folder.substr(0, folder.size() - 4) + "/share/trainyard");
}

TEST(AttemptFolder, IsNamedByItsUlid) {
  StatePaths paths{"/yard"};
  EXPECT_EQ(paths.Attempt(Ulid{}), "/yard/attempts/00000000000000000000000000");
  EXPECT_EQ(paths.Out(TaskId{12}), "/yard/tasks/12");
}

}  // namespace
}  // namespace ty
