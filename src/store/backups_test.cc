// Copies of the state file: complete, the newest kept, and said when they are bad.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "store/backups.h"
#include "store/migrations.h"
#include "store/sqlite_rows.h"
#include "store/store_testing.h"

namespace ty {
namespace {

using namespace store_testing;

class BackupsOfAFile : public testing::Test {
 protected:
  void SetUp() override {
    connection_ = Connection::Open(folder_.File("yard.db")).value();
    ASSERT_TRUE(Migrate(*connection_));
  }
  void Add(int first, int count) {
    SqliteRows rows(*connection_);
    ASSERT_TRUE(connection_->Begin());
    for (int i = first; i < first + count; ++i) {
      Change change = TaskAdded{WaitingTask(i), PlainSpec()};
      ASSERT_TRUE(rows.Apply(change));
    }
    ASSERT_TRUE(connection_->Commit());
  }
  std::string Folder() const { return folder_.File("backups"); }
  // Until nothing is to do, the checking thread included.
  void WorkUntil(Backups& backups, const std::function<bool()>& done) {
    while (!done()) backups.Work(*connection_);
  }
  int64_t TasksIn(const std::string& copy) {
    const std::string elsewhere = folder_.File("elsewhere.db");
    std::filesystem::copy_file(copy, elsewhere, std::filesystem::copy_options::overwrite_existing);
    auto opened = Connection::Open(elsewhere).value();
    return opened->Number("SELECT count(*) FROM task").value();
  }

  TemporaryFolder folder_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(BackupsOfAFile, AreWholeCopiesThatPassTheirCheck) {
  Add(1, 500);
  Backups backups(Folder(), Duration{}, Duration{});
  WorkUntil(backups, [&] { return !ListBackups(Folder()).empty(); });
  const std::string copy = ListBackups(Folder()).front();
  EXPECT_EQ(CheckDatabase(copy), "");
  EXPECT_EQ(TasksIn(copy), 500);
  EXPECT_TRUE(TimeOfBackup(copy));
  EXPECT_EQ(backups.bad(), "");
}

TEST_F(BackupsOfAFile, TakeInWhatIsCommittedWhileTheyAreMade) {
  Add(1, 2000);
  auto copy = connection_->CopyTo(folder_.File("copy.db")).value();
  ASSERT_TRUE(copy->Step(5).value());
  Add(2001, 300);
  while (copy->Step(5).value()) {
  }
  copy.reset();
  EXPECT_EQ(CheckDatabase(folder_.File("copy.db")), "");
  EXPECT_EQ(TasksIn(folder_.File("copy.db")), 2300);
}

TEST_F(BackupsOfAFile, AreLeftOutWhenNothingChanged) {
  Backups backups(Folder(), Duration{}, Duration{});
  WorkUntil(backups, [&] { return !ListBackups(Folder()).empty(); });
  while (backups.Work(*connection_)) {
  }
  for (const auto& file : std::filesystem::directory_iterator(Folder())) std::filesystem::remove(file);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(backups.Work(*connection_));
  EXPECT_TRUE(std::filesystem::is_empty(Folder()));
  backups.NoteChange();
  WorkUntil(backups, [&] { return !ListBackups(Folder()).empty(); });
}

TEST_F(BackupsOfAFile, AreKeptTheNewestTwentyFour) {
  std::filesystem::create_directory(Folder());
  for (int i = 0; i < 30; ++i)
    std::ofstream(Folder() + "/yard-20200101T0000" + std::to_string(10 + i) + "Z.db") << "old";
  std::ofstream(Folder() + "/before-schema-1-20200101T000000Z.db") << "kept";
  Backups backups(Folder(), Duration{}, Duration{});
  WorkUntil(backups, [&] { return ListBackups(Folder()).size() == 24; });
  EXPECT_EQ(TasksIn(ListBackups(Folder()).front()), 0);
  EXPECT_EQ(ListBackups(Folder()).back(), Folder() + "/yard-20200101T000017Z.db");
  EXPECT_TRUE(std::filesystem::exists(Folder() + "/before-schema-1-20200101T000000Z.db"));
}

TEST_F(BackupsOfAFile, AreDueAnHourAfterTheLastWhoeverMadeIt) {
  std::filesystem::create_directory(Folder());
  Backups first(Folder(), Duration{}, Duration{});
  WorkUntil(first, [&] { return !ListBackups(Folder()).empty(); });
  Backups next(Folder(), hours(1), hours(24));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(next.Work(*connection_));
}

TEST_F(BackupsOfAFile, ThatFailTheirCheckAreSaidAndKeptAside) {
  Add(1, 500);
  ASSERT_TRUE(connection_->Script("PRAGMA wal_checkpoint(TRUNCATE)"));
  const int64_t root =
      connection_->Number("SELECT rootpage FROM sqlite_schema WHERE name = 'task_name'").value();
  connection_.reset();
  {
    std::fstream file(folder_.File("yard.db"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((root - 1) * 4096);
    file << std::string(4096, '\x7f');
  }
  connection_ = Connection::Open(folder_.File("yard.db")).value();
  Backups backups(Folder(), Duration{}, Duration{});
  WorkUntil(backups, [&] { return !backups.bad().empty(); });
  EXPECT_TRUE(backups.bad().ends_with(".db.bad"));
  EXPECT_TRUE(std::filesystem::exists(backups.bad()));
  EXPECT_TRUE(ListBackups(Folder()).empty());
}

}  // namespace
}  // namespace ty
