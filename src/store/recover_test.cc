// A damaged state is made whole again from what is left: rows, backups, folders of attempts.
#include "store/recover.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <fstream>

#include "store/backups.h"
#include "store/store.h"
#include "store/store_testing.h"

namespace ty {
namespace {

using namespace store_testing;

FoundRun RunOf(int task, int number, bool open) {
  FoundRun run;
  run.uid = UidOf(task * 1000 + number);
  run.task = TaskId{task};
  run.number = number;
  run.name = "task-" + std::to_string(task);
  run.boot = "boot";
  run.spec = PlainSpec();
  run.open = open;
  run.created = kNoon;
  return run;
}

class Recovering : public testing::Test {
 protected:
  void Open() { desk_.Take(OpenSqliteStore(folder_.path()).value()); }
  std::string Database() const { return folder_.File("yard.db"); }
  std::string Refusal() {
    const auto store = OpenSqliteStore(folder_.path());
    return store ? "" : store.error().message.id;
  }
  Recovery Recover(std::vector<FoundRun> runs = {}) {
    const Result<Recovery> done = RecoverStore(folder_.path(), runs, kNoon + hours(3));
    EXPECT_TRUE(done) << done.error().message.id;
    return done.value_or(Recovery{});
  }
  // A copy as the store makes them, of what is there now.
  void BackUp() {
    std::filesystem::create_directory(folder_.File("backups"));
    auto connection = Connection::Open(Database()).value();
    auto copy = connection->CopyTo(folder_.File("backups/yard-20261130T090000Z.db")).value();
    while (copy->Step(100).value()) {
    }
  }
  // Everything into the one file, so that a blow hits it.
  int64_t FoldAndFind(const std::string& table) {
    auto connection = Connection::Open(Database()).value();
    EXPECT_TRUE(connection->Script("PRAGMA wal_checkpoint(TRUNCATE)"));
    return connection->Number("SELECT rootpage FROM sqlite_schema WHERE name = ?", {table}).value();
  }
  void Overwrite(int64_t at, const std::string& bytes) {
    std::fstream file(Database(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << bytes;
  }
  void BreakHeader() {
    FoldAndFind("task");
    Overwrite(0, std::string(8192, 'x'));
    std::filesystem::remove(Database() + "-wal");
  }
  // A leaf somewhere in the middle of the table.
  void BreakALeafOf(const std::string& table) {
    FoldAndFind(table);
    int64_t page = 0;
    {
      auto connection = Connection::Open(Database()).value();
      page = connection
                 ->Number(
                     "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path "
                     "LIMIT 1 OFFSET 3",
                     {table})
                 .value_or(0);
    }
    ASSERT_GT(page, 0);
    Overwrite((page - 1) * 4096, std::string(4096, '\x7f'));
  }
  std::string StateOf(int task) { return std::string(Name(desk_.Find(task).task.state)); }

  TemporaryFolder folder_;
  Desk desk_;
};

TEST_F(Recovering, LeavesAGoodStateAlone) {
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
  desk_.Close();
  EXPECT_TRUE(Recover({RunOf(9, 1, false)}).healthy) << "a run that is over may have been removed on purpose";
  Open();
  EXPECT_EQ(desk_.LoadOpen().tasks.size(), 1u);
}

TEST_F(Recovering, TakesTheBackupWhenNothingCanBeReadAndKeepsTheDamagedFile) {
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{FullTask(7), FullSpec()}, SettingChanged{"instance", "abc"},
                           AttemptAdded{FullAttempt(7, 4)}));
  desk_.Close();
  BackUp();
  BreakHeader();
  EXPECT_EQ(Refusal(), "store.damaged");
  const Recovery done = Recover();
  EXPECT_FALSE(done.healthy);
  EXPECT_FALSE(done.read_damaged);
  EXPECT_TRUE(done.backup.ends_with("yard-20261130T090000Z.db"));
  EXPECT_EQ(done.tasks, 1);
  EXPECT_TRUE(std::filesystem::exists(done.moved_to));
  EXPECT_FALSE(std::filesystem::exists(folder_.File("recovery")));
  Open();
  EXPECT_TRUE(*desk_.Find(7).spec == FullSpec());
  EXPECT_EQ(desk_.LoadOpen().settings[0].second, "abc");
  desk_.Close();
  EXPECT_TRUE(Recover().healthy) << "a second time there is nothing to do";
}

TEST_F(Recovering, ReadsAllWhenOnlyAnIndexIsDamaged) {
  Open();
  std::vector<Change> tasks;
  for (int i = 1; i <= 500; ++i) tasks.push_back(TaskAdded{WaitingTask(i), PlainSpec()});
  ASSERT_TRUE(desk_.CommitAll(std::move(tasks)));
  desk_.Close();
  const int64_t root = FoldAndFind("task_name");
  Overwrite((root - 1) * 4096, std::string(4096, '\x7f'));
  const Recovery done = Recover();
  EXPECT_TRUE(done.read_whole);
  EXPECT_EQ(done.tasks, 500);
  EXPECT_TRUE(done.backup.empty());
  Open();
  EXPECT_EQ(desk_.LoadOpen().tasks.size(), 500u);
}

TEST_F(Recovering, FillsWhatAPageTookWithItFromTheBackupAndKeepsWhatIsNewer) {
  Open();
  std::vector<Change> tasks;
  for (int i = 1; i <= 1000; ++i) tasks.push_back(TaskAdded{WaitingTask(i), PlainSpec()});
  ASSERT_TRUE(desk_.CommitAll(std::move(tasks)));
  desk_.Close();
  BackUp();
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1001), PlainSpec()},
                           TaskChanged{.from = Waiting{}, .attempts_before = 0, .task = EndedTask(1000)}));
  desk_.Close();
  BreakALeafOf("task");
  const Recovery done = Recover();
  EXPECT_TRUE(done.read_damaged);
  EXPECT_FALSE(done.read_whole);
  EXPECT_EQ(done.tasks, 1001);
  Open();
  EXPECT_EQ(StateOf(1001), "waiting");
  EXPECT_EQ(StateOf(1000), "ended") << "and not once more from the backup";
  EXPECT_EQ(desk_.LoadOpen().tasks.size(), 1000u);
}

TEST_F(Recovering, TakesInARunThatTheBackupDoesNotKnowSoThatNothingRunsTwice) {
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, TaskAdded{WaitingTask(2), PlainSpec()},
                           TaskAdded{WaitingTask(3), PlainSpec()}));
  desk_.Close();
  BackUp();
  BreakHeader();
  FoundRun running = RunOf(1, 1, true);
  running.devices = {"GPU-1"};
  const Recovery done = Recover({running, RunOf(2, 1, false)});
  EXPECT_EQ(done.runs_taken_in, 2);
  EXPECT_TRUE(done.made.empty());
  Open();
  EXPECT_EQ(StateOf(1), "starting") << "the next start finds out what became of it";
  EXPECT_EQ(StateOf(2), "ended");
  EXPECT_EQ(desk_.Find(2).task.outcome->reason.id, "outcome.end_unknown");
  EXPECT_EQ(StateOf(3), "waiting");
  const OpenState state = desk_.LoadOpen();
  ASSERT_EQ(state.attempts.size(), 1u);
  EXPECT_EQ(state.attempts[0].uid, running.uid);
  EXPECT_EQ(state.leases, std::vector<Lease>({{.attempt = running.uid, .device = "GPU-1"}}));
}

TEST_F(Recovering, MakesTasksAnewFromTheirFoldersWhenThereIsNothingElse) {
  std::ofstream(Database()) << std::string(8192, 'x');
  FoundRun second = RunOf(7, 2, true);
  second.spec = FullSpec();
  FoundRun first = RunOf(7, 1, false);
  first.spec = FullSpec();
  const Recovery done = Recover({first, second});
  EXPECT_EQ(done.made, std::vector<TaskId>{TaskId{7}});
  Open();
  const TaskRecord record = desk_.Find(7);
  EXPECT_EQ(record.spec->argv, FullSpec().argv);
  EXPECT_EQ(record.spec->environment, FullSpec().environment);
  EXPECT_EQ(record.task.attempts, 2);
  ASSERT_EQ(record.attempts.size(), 2u);
  EXPECT_EQ(record.attempts[0].outcome->kind, OutcomeKind::kLost);
  EXPECT_EQ(StateOf(7), "starting");
}

TEST_F(Recovering, HoldsATaskThatTheEventsSawLaunched) {
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
  desk_.Close();
  BackUp();
  Open();
  Event planned = EventOf(1);
  planned.kind = "attempt.planned";
  planned.task = TaskId{1};
  planned.attempt = 1;
  ASSERT_TRUE(desk_.Commit(EventAdded{planned}));
  desk_.Close();
  const int64_t root = FoldAndFind("task");
  Overwrite((root - 1) * 4096, std::string(4096, '\x7f'));
  const Recovery done = Recover();
  EXPECT_EQ(done.held, std::vector<TaskId>{TaskId{1}});
  Open();
  EXPECT_TRUE(desk_.Find(1).task.held);
  EXPECT_EQ(desk_.Find(1).task.held_reason->id, "why.recovered");
}

TEST_F(Recovering, MendsARunningTaskWhoseAttemptIsGone) {
  Open();
  Task running = WaitingTask(1);
  running.state = Running{};
  running.attempts = 1;
  ASSERT_TRUE(desk_.Commit(TaskAdded{running, PlainSpec()}));
  desk_.Close();
  const int64_t root = FoldAndFind("task_name");
  Overwrite((root - 1) * 4096, std::string(4096, '\x7f'));
  const Recovery done = Recover();
  EXPECT_EQ(done.held.size(), 1u);
  Open();
  EXPECT_EQ(StateOf(1), "waiting");
  EXPECT_TRUE(desk_.Find(1).task.held);
}

TEST_F(Recovering, NeverGivesANumberAgain) {
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
  desk_.Close();
  BackUp();
  BreakHeader();
  std::filesystem::create_directories(folder_.File("tasks/41"));
  Recover();
  Open();
  EXPECT_EQ(desk_.LoadOpen().last_task, 41);
}

TEST_F(Recovering, SaysSoWhenThereIsNothingToRecoverFrom) {
  std::ofstream(Database()) << std::string(8192, 'x');
  const Result<Recovery> done = RecoverStore(folder_.path(), {}, kNoon);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message.id, "store.nothing_to_recover");
  EXPECT_TRUE(std::filesystem::exists(Database()));
}

TEST_F(Recovering, BringsBackAStateFileThatIsGone) {
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
  desk_.Close();
  BackUp();
  std::filesystem::remove(Database());
  std::filesystem::remove(Database() + "-wal");
  EXPECT_EQ(Refusal(), "store.missing");
  EXPECT_FALSE(std::filesystem::exists(Database()));
  EXPECT_EQ(Recover().tasks, 1);
  Open();
  EXPECT_EQ(StateOf(1), "waiting");
}

TEST_F(Recovering, TakesNoEmptyFileForAnEmptyQueueAsLongAsThereIsABackup) {
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
  desk_.Close();
  BackUp();
  std::ofstream(Database(), std::ios::trunc).close();
  std::filesystem::remove(Database() + "-wal");
  EXPECT_EQ(Refusal(), "store.missing");
  EXPECT_EQ(std::filesystem::file_size(Database()), 0u);
  EXPECT_EQ(Recover().tasks, 1);
  Open();
  EXPECT_EQ(StateOf(1), "waiting");
}

TEST_F(Recovering, ReadsTheLogWhenItsFileIsEmptyOrGone) {
  for (const bool gone : {false, true}) {
    Open();
    ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(gone ? 2 : 1), PlainSpec()}));
    desk_.Close();
    if (gone) {
      std::filesystem::remove(Database());
    } else {
      std::ofstream(Database(), std::ios::trunc).close();
    }
    EXPECT_EQ(Refusal(), "store.missing");
    ASSERT_GT(std::filesystem::file_size(Database() + "-wal"), 0u) << "nobody has thrown it away";
    const Recovery done = Recover();
    EXPECT_TRUE(done.read_damaged);
    EXPECT_TRUE(done.read_whole);
    EXPECT_EQ(done.tasks, 1);
    Open();
    EXPECT_EQ(StateOf(gone ? 2 : 1), "waiting");
    desk_.Close();
    for (const char* part : {"", "-wal"}) std::filesystem::remove(Database() + part);
  }
}

TEST_F(Recovering, BuildsTheStateFromFoldersOfRunsWhenTheyAreAllThereIs) {
  FoundRun run = RunOf(7, 1, true);
  std::filesystem::create_directories(folder_.File("attempts/" + run.uid.Text()));
  EXPECT_EQ(Refusal(), "store.missing");
  EXPECT_EQ(Recover({run}).made, std::vector<TaskId>{TaskId{7}});
  Open();
  EXPECT_EQ(StateOf(7), "starting");
}

TEST_F(Recovering, KnowsByTheResultsOfTasksAloneWhichNumbersWereGiven) {
  std::filesystem::create_directories(folder_.File("tasks/41"));
  EXPECT_EQ(Refusal(), "store.missing");
  EXPECT_EQ(Recover().tasks, 0);
  Open();
  EXPECT_EQ(desk_.LoadOpen().last_task, 41);
}

TEST_F(Recovering, AFolderThatWasNeverInUseBeginsEmpty) {
  std::filesystem::create_directories(folder_.File("attempts/.quarantine"));
  std::filesystem::create_directories(folder_.File("backups"));
  std::filesystem::create_directories(folder_.File("tasks"));
  std::ofstream(Database(), std::ios::trunc).close();  // its first start was cut short
  EXPECT_EQ(Refusal(), "");
}

TEST_F(Recovering, TakesInWhatRunsUnknownToAWholeFile) {
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, TaskAdded{WaitingTask(2), PlainSpec()}));
  Task busy = WaitingTask(3);
  busy.state = Running{};
  busy.attempts = 1;
  Attempt own;
  own.uid = UidOf(33);
  own.task = TaskId{3};
  own.number = 1;
  own.state = AttemptState::kRunning;
  own.boot = "boot";
  ASSERT_TRUE(desk_.Commit(TaskAdded{busy, PlainSpec()}, AttemptAdded{own}));
  desk_.Close();
  FoundRun known = RunOf(2, 1, true);
  known.devices = {"cpu:0"};
  FoundRun unknown = RunOf(5, 1, true);
  FoundRun namesake = RunOf(1, 1, true);  // its number was given again meanwhile
  namesake.spec.argv.push_back("something else");
  const FoundRun double_of = RunOf(3, 2, true);  // the same command, but that task runs already
  const Recovery done = Recover({namesake, known, double_of, unknown, RunOf(6, 1, false)});
  EXPECT_TRUE(done.healthy);
  EXPECT_EQ(done.runs_taken_in, 4);
  EXPECT_EQ(done.tasks, 6);
  EXPECT_TRUE(done.held.empty());
  Open();
  EXPECT_EQ(StateOf(1), "waiting") << "another task than the one that runs";
  EXPECT_TRUE(desk_.Find(1).attempts.empty());
  EXPECT_EQ(StateOf(2), "starting");
  EXPECT_EQ(StateOf(5), "starting");
  EXPECT_EQ(StateOf(7), "starting");
  EXPECT_EQ(desk_.Find(7).spec->argv, namesake.spec.argv);
  EXPECT_EQ(StateOf(3), "running");
  EXPECT_EQ(desk_.Find(3).attempts.size(), 1u);
  EXPECT_EQ(StateOf(8), "starting");
  EXPECT_EQ(desk_.LoadOpen().leases, std::vector<Lease>({{.attempt = known.uid, .device = "cpu:0"}}));
  desk_.Close();
  EXPECT_EQ(Recover({namesake, known, double_of, unknown}).runs_taken_in, 0)
      << "a second time there is nothing to do";
}

// The moment in which the damaged file is away already and the new one not yet in its place.
TEST_F(Recovering, GoesOnWhereItWasCutShort) {
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
  desk_.Close();
  FoldAndFind("task");
  std::filesystem::rename(Database(), Database() + ".recovered");
  std::filesystem::rename(Database() + "-wal", Database() + ".damaged-x-wal");
  std::ofstream(folder_.File("yard.db.suspect")) << kHalfRecovered;
  EXPECT_EQ(Refusal(), "store.half_recovered");
  EXPECT_FALSE(std::filesystem::exists(Database()));
  EXPECT_EQ(Recover().tasks, 1);
  Open();
  EXPECT_EQ(StateOf(1), "waiting");
}

TEST_F(Recovering, LeavesANewerStateAlone) {
  Open();
  desk_.Close();
  {
    auto connection = Connection::Open(Database()).value();
    ASSERT_TRUE(connection->Script("PRAGMA user_version=999"));
  }
  const Result<Recovery> done = RecoverStore(folder_.path(), {}, kNoon);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message.id, "store.newer");
}

}  // namespace
}  // namespace ty
