// What the store on disk promises beyond store_test.cc: survival, refusals, the disk's troubles, the cost of
// a commit.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>

#include "store/backups.h"
#include "store/migrations.h"
#include "store/store.h"
#include "store/store_testing.h"

namespace ty {
namespace {

using namespace store_testing;

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void Spill(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

int64_t SizeOf(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_size : -1;
}

int Spawn(std::vector<std::string> argv) {
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  pid_t child = 0;
  if (::posix_spawnp(&child, words[0], nullptr, nullptr, words.data(), environ) != 0) return -1;
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// Another process of this program plays a part below (DISABLED_…) in a folder.
std::vector<std::string> Part(const std::string& part, const std::string& folder) {
  ::setenv("TY_STORE_TEST_FOLDER", folder.c_str(), 1);
  return {"/proc/self/exe", "--gtest_also_run_disabled_tests", "--gtest_brief=1",
          "--gtest_filter=Part.DISABLED_" + part};
}
std::string PartFolder() {
  const char* folder = std::getenv("TY_STORE_TEST_FOLDER");
  return folder ? folder : "";
}
std::vector<Change> Megabytes(int first, int megabytes) {
  std::vector<Change> changes;
  TaskSpec spec = PlainSpec();
  spec.argv.push_back(std::string(1 << 20, 'x'));
  for (int i = 0; i < megabytes; ++i) changes.push_back(TaskAdded{WaitingTask(first + i), spec});
  return changes;
}

std::vector<Change> ManyTasks(int count) {
  std::vector<Change> changes;
  for (int i = 1; i <= count; ++i) changes.push_back(TaskAdded{WaitingTask(i), PlainSpec()});
  return changes;
}

bool WentWell(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class Sqlite : public testing::Test {
 protected:
  void Open() { desk_.Take(OpenSqliteStore(folder_.path()).value()); }
  std::string Refusal() {
    const auto store = OpenSqliteStore(folder_.path());
    return store ? "" : store.error().message.id;
  }
  std::string Database() const { return folder_.File("yard.db"); }
  std::string Wal() const { return folder_.File("yard.db-wal"); }

  // As any tool would, while no store has it open. The answer: the first column of the first row, or the
  // trouble.
  std::string Sql(const std::string& sql) {
    sqlite3* db = nullptr;
    sqlite3_open(Database().c_str(), &db);
    std::string answer;
    char* trouble = nullptr;
    const auto take = [](void* out, int, char** values, char**) {
      *static_cast<std::string*>(out) = values[0] ? values[0] : "";
      return 0;
    };
    if (sqlite3_exec(db, sql.c_str(), take, &answer, &trouble) != SQLITE_OK)
      answer = trouble ? trouble : "failed";
    sqlite3_free(trouble);
    sqlite3_close(db);
    return answer;
  }

  TemporaryFolder folder_;
  Desk desk_;
};

// ---- Survival

TEST_F(Sqlite, KnowsEverythingWhenOpenedAgain) {
  Open();
  const Attempt attempt = FullAttempt(7, 1);
  ASSERT_TRUE(desk_.Commit(TaskAdded{FullTask(7), FullSpec(), "key", "hash"}, AttemptAdded{attempt},
                           LeaseGranted{attempt.uid, "gpu", 500}, EventAdded{EventOf(1)},
                           SettingChanged{"k", "v"}));
  desk_.Close();
  Open();
  const TaskRecord record = desk_.Find(7);
  EXPECT_TRUE(record.task == FullTask(7));
  EXPECT_TRUE(*record.spec == FullSpec());
  ASSERT_EQ(record.attempts.size(), 1u);
  EXPECT_TRUE(record.attempts[0] == attempt);
  const OpenState state = desk_.LoadOpen();
  EXPECT_EQ(state.leases, std::vector<Lease>({{attempt.uid, "gpu", 500}}));
  EXPECT_EQ(state.last_task, 7);
  EXPECT_EQ(state.last_event, 1);
  EXPECT_EQ(state.settings[0].first, "k");
}

TEST_F(Sqlite, ReadsTheStateOfTheFirstSchemaAndGoesOnWithIt) {
  const std::string mark =
      "PRAGMA application_id=" + std::to_string(ApplicationId()) + "; PRAGMA user_version=1;";
  ASSERT_EQ(Sql(std::string("PRAGMA page_size=4096; PRAGMA journal_mode=WAL; ") + SchemaStep(1) + mark),
            "wal");
  const std::string uid = "x'00112233445566778899aabbccddeeff'";
  ASSERT_EQ(Sql("INSERT INTO task VALUES(7," + uid +
                ",'old',1000,'running',5,0,NULL,'1',1,0,'',NULL,NULL,'[\"night\"]',2,'any',10,1,0,1,'',0,0,0,"
                "NULL,NULL,NULL);"
                "INSERT INTO task VALUES(8," +
                uid +
                ",'done',1000,'ended',0,0,NULL,'',1,0,'',NULL,NULL,'',NULL,'table',10,1,0,0,'',0,0,0,"
                "'succeeded','{\"kind\":\"succeeded\"}',2000);"
                "INSERT INTO environment VALUES(1,0,x'');"
                "INSERT INTO spec VALUES(7,1,NULL,'','{\"command\":[\"true\"],\"workdir\":\"/\"}');"
                "INSERT INTO spec SELECT 8,1,NULL,'',spec FROM spec;"
                "INSERT INTO attempt VALUES(" +
                uid +
                ",7,1,'running','[\"cpu:0\"]','boot','',1000,1500,NULL,NULL,NULL,'cancelled','');"
                "INSERT INTO lease VALUES(" +
                uid +
                ",'cpu:0',1000);"
                "INSERT INTO event VALUES(1,1000,'task.submitted',7,0,'{}');"),
            "");
  Open();
  const OpenState state = desk_.LoadOpen();
  ASSERT_EQ(state.tasks.size(), 1u);
  EXPECT_EQ(state.tasks[0].name, "old");
  EXPECT_EQ(state.tasks[0].tags, std::vector<std::string>{"night"});
  EXPECT_EQ(state.tasks[0].retry.on, RetryPolicy::On::kAny);
  EXPECT_EQ(state.tasks[0].wish, DeviceWish{});
  EXPECT_FALSE(state.tasks[0].alone);
  EXPECT_EQ(PlaceWithin(state.tasks[0]), 7 * kPlacesPerId) << "in line by their numbers, as it was";
  ASSERT_EQ(state.attempts.size(), 1u);
  EXPECT_EQ(state.attempts[0].processes, 1);
  EXPECT_TRUE(state.attempts[0].ranks.empty());
  EXPECT_EQ(state.leases, std::vector<Lease>({{.attempt = state.attempts[0].uid, .device = "cpu:0"}}));
  EXPECT_EQ(state.last_event, 1);
  EXPECT_EQ(desk_.Find(7).spec->argv, std::vector<std::string>{"true"});
  EXPECT_EQ(desk_.Find(8).task.outcome->kind, OutcomeKind::kSucceeded);

  // What is new can be written beside what is old.
  Task old = state.tasks[0];
  old.place = 6 * kPlacesPerId + 1;
  old.wish.share = {500, ShareMode::kTurns, seconds(3)};
  const Attempt next = StartingAttempt(9, 1);
  const Lease half = LeaseOf(next, "cpu:0", 500, ShareMode::kTurns);
  ASSERT_TRUE(desk_.Commit(TaskChanged{.from = Running{}, .attempts_before = 1, .task = old},
                           TaskAdded{WaitingTask(9), PlainSpec()}, AttemptAdded{next},
                           LeaseChanged{state.attempts[0].uid, "cpu:0", 500}, LeaseGranted{half}));
  desk_.Close();
  EXPECT_EQ(Sql("PRAGMA user_version"), std::to_string(NewestSchema()));
  // And what was there before is kept as it was.
  const auto copies = std::filesystem::directory_iterator(folder_.File("backups"));
  ASSERT_NE(copies, std::filesystem::directory_iterator());
  EXPECT_EQ(copies->path().filename().string().substr(0, 16), "before-schema-1-");
  EXPECT_EQ(CheckDatabase(copies->path()), "");
  Open();
  EXPECT_TRUE(desk_.Find(7).task == old);
  EXPECT_EQ(desk_.LoadOpen().leases.size(), 2u);
}

TEST(Part, DISABLED_CommitsAndIsKilled) {
  Desk desk;
  desk.Take(OpenSqliteStore(PartFolder()).value());
  for (int i = 1; i <= 50; ++i) ASSERT_TRUE(desk.Commit(TaskAdded{WaitingTask(i), PlainSpec()}));
  ::raise(SIGKILL);
}

TEST_F(Sqlite, KeepsWhatItHasReceiptedThroughAKill) {
  const int status = Spawn(Part("CommitsAndIsKilled", folder_.path()));
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  Open();
  EXPECT_EQ(desk_.LoadOpen().tasks.size(), 50u);
}

TEST_F(Sqlite, KeepsItsFilesToTheirOwner) {
  const mode_t before = ::umask(0);
  Open();
  ASSERT_TRUE(desk_.Commit(SettingChanged{"k", "v"}));
  ::umask(before);
  for (const std::string& path : {Database(), Wal()}) {
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << path;
  }
}

// ---- What the database itself refuses, whoever asks

TEST_F(Sqlite, DatabaseRefusesWhatMustNeverBeTrue) {
  Open();
  const Attempt a = StartingAttempt(1, 1), b = StartingAttempt(1, 2);
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec(), "key", "hash"}, AttemptAdded{a},
                           AttemptAdded{b}, LeaseGranted{a.uid, "gpu", 600}, LeaseGranted{b.uid, "gpu", 400},
                           EventAdded{EventOf(1)}));
  desk_.Close();
  EXPECT_EQ(Sql("UPDATE event SET kind = 'x'"), "an event never changes");
  EXPECT_EQ(Sql("DELETE FROM event"), "an event never goes");
  EXPECT_EQ(Sql("UPDATE spec SET spec = '{}'"), "a spec never changes");
  EXPECT_EQ(Sql("INSERT INTO event VALUES(1, 0, 'x', NULL, 0, '')"),
            "the number of an event is not above the last");
  EXPECT_NE(
      Sql("INSERT INTO task SELECT 2, uid, name, submitted, state, priority, held, held_reason, gpus, cpus, "
          "memory, after, begin_at, not_before, tags, retry_max, retry_on, retry_delay, attempts, retries, "
          "began_progress, checkpoint_path, checkpoint_step, checkpoint_bytes, checkpoint_attempt, "
          "outcome_kind, outcome, ended, wish, place FROM task WHERE id = 1;"
          "INSERT INTO spec SELECT 2, environment, idempotency_key, request_hash, spec FROM spec")
          .find("UNIQUE constraint failed"),
      std::string::npos);
  EXPECT_EQ(Sql("UPDATE lease SET share_milli = 700 WHERE share_milli = 600"),
            "the leases of a device exceed it");
  EXPECT_NE(Sql("UPDATE task SET state = 'dreaming'").find("CHECK constraint failed"), std::string::npos);
  EXPECT_NE(Sql("UPDATE task SET state = 'ended'").find("CHECK constraint failed"), std::string::npos);
  EXPECT_NE(Sql("UPDATE attempt SET state = 'waiting'").find("CHECK constraint failed"), std::string::npos);
  EXPECT_NE(Sql("UPDATE task SET priority = 'high'").find("cannot store TEXT value"), std::string::npos);
  EXPECT_NE(Sql("UPDATE lease SET mode = 'halves'").find("CHECK constraint failed"), std::string::npos);
  EXPECT_NE(Sql("UPDATE lease SET asked_milli = 1001").find("CHECK constraint failed"), std::string::npos);
  EXPECT_EQ(Sql("UPDATE lease SET share_milli = 300 WHERE share_milli = 400"), "");
}

TEST_F(Sqlite, StoresAnEnvironmentOnceAndSweepsWhatNoTaskUses) {
  Open();
  TaskSpec shared = PlainSpec(), own = PlainSpec();
  shared.environment = {{"PATH", "/usr/bin"}};
  own.environment = {{"PATH", "/opt/bin"}};
  ASSERT_TRUE(desk_.Commit(TaskAdded{EndedTask(1), shared}, TaskAdded{WaitingTask(2), shared},
                           TaskAdded{EndedTask(3), own}));
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(4), shared}));
  desk_.Close();
  EXPECT_EQ(Sql("SELECT count(*) FROM environment"), "2");
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(5), shared}, TaskErased{TaskId{1}}, TaskErased{TaskId{3}}));
  desk_.Close();
  Open();
  EXPECT_EQ(desk_.Find(2).spec->environment, shared.environment);
  desk_.Close();
  EXPECT_EQ(Sql("SELECT count(*) FROM environment"), "1");
  EXPECT_EQ(Sql("SELECT count(*) FROM spec WHERE spec LIKE '%/usr/bin%'"), "0");
}

// ---- Files it does not take

TEST_F(Sqlite, RefusesANewerSchemaWithoutWriting) {
  Open();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
  desk_.Close();
  Sql("PRAGMA user_version=" + std::to_string(NewestSchema() + 1));
  const std::string before = Slurp(Database());
  const auto refused = OpenSqliteStore(folder_.path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_EQ(refused.error().message.id, "store.newer");
  EXPECT_EQ(Slurp(Database()), before);
  Sql("PRAGMA user_version=" + std::to_string(NewestSchema()));
  Open();
  EXPECT_EQ(desk_.LoadOpen().tasks.size(), 1u);
}

TEST_F(Sqlite, RefusesAFolderThatIsNotThere) {
  EXPECT_EQ(OpenSqliteStore(folder_.File("nowhere")).error().message.id, "store.cannot_open");
}

TEST_F(Sqlite, SaysThatGarbageIsNotItsFileAndLeavesIt) {
  const std::string garbage(8192, 'x');
  Spill(Database(), garbage);
  EXPECT_EQ(Refusal(), "store.damaged");
  EXPECT_EQ(Slurp(Database()), garbage);
}

TEST_F(Sqlite, LeavesTheDatabaseOfAnotherProgramAlone) {
  Sql("CREATE TABLE theirs(x)");
  const std::string before = Slurp(Database());
  EXPECT_EQ(Refusal(), "store.damaged");
  EXPECT_EQ(Slurp(Database()), before);
}

TEST_F(Sqlite, SaysThatACutFileIsDamaged) {
  Open();
  ASSERT_TRUE(desk_.CommitAll(ManyTasks(200)));
  desk_.Close();
  Sql("PRAGMA wal_checkpoint(TRUNCATE)");
  ASSERT_GT(SizeOf(Database()), 40960);
  ASSERT_EQ(::truncate(Database().c_str(), 20480), 0);
  EXPECT_EQ(Refusal(), "store.damaged");
}

TEST_F(Sqlite, EndsItsServiceWhenAPageIsDamaged) {
  Open();
  ASSERT_TRUE(desk_.CommitAll(ManyTasks(500)));
  desk_.Close();
  const int64_t root = std::stoll(Sql("SELECT rootpage FROM sqlite_schema WHERE name = 'task_open'"));
  Sql("PRAGMA wal_checkpoint(TRUNCATE)");
  std::string bytes = Slurp(Database());
  bytes.replace(static_cast<size_t>((root - 1) * 4096), 4096, std::string(4096, '\x7f'));
  Spill(Database(), bytes);
  Open();
  const auto error = desk_.Ask([](Rows& rows) { return rows.LoadOpen().error(); });
  EXPECT_EQ(error.code, Code::kInternal);
  EXPECT_TRUE(IsBroken(error));
  const Status refused = desk_.Commit(SettingChanged{"k", "v"});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(IsBroken(refused.error()));

  // The next one reads it through before anything else, and says what helps.
  desk_.Close();
  EXPECT_EQ(Refusal(), "store.damaged");
  EXPECT_EQ(Refusal(), "store.damaged");
}

TEST(Part, DISABLED_OpensItToo) {
  const auto store = OpenSqliteStore(PartFolder());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kUnavailable);
  EXPECT_EQ(store.error().message.id, "store.in_use");
}

TEST_F(Sqlite, LetsNoSecondProcessIn) {
  Open();
  EXPECT_TRUE(WentWell(Spawn(Part("OpensItToo", folder_.path()))));
  EXPECT_EQ(Refusal(), "store.in_use");  // nor a second store in this one
  EXPECT_TRUE(desk_.Commit(SettingChanged{"still", "there"}));
  desk_.Close();
  Open();
  EXPECT_EQ(desk_.LoadOpen().settings.size(), 1u);
}

// ---- The disk's troubles

// What the store told of its disk.
class Told {
 public:
  StoreSettings Settings(const std::string& folder) {
    return {.folder = folder,
            .tell =
                [this](StoreHealth health) {
                  std::lock_guard lock(mutex_);
                  newest_ = std::move(health);
                  came_.notify_all();
                },
            .look_every = milliseconds(5)};
  }
  StoreHealth newest() {
    std::lock_guard lock(mutex_);
    return newest_;
  }
  void Await(const std::function<bool(const StoreHealth&)>& so) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return so(newest_); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  StoreHealth newest_;
};

bool IsThere(const std::string& path) {
  return SizeOf(path) >= 0;
}

std::future<Receipt> HandOver(Desk& desk, std::vector<Change> changes) {
  auto answer = std::make_shared<std::promise<Receipt>>();
  desk.store().Commit({0, std::move(changes), {}},
                      [answer](Receipt receipt) { answer->set_value(std::move(receipt)); });
  return answer->get_future();
}

bool IsAnswered(std::future<Receipt>& answer) {
  return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Hands over two megabytes after the other until one has to wait for room: how many tasks were kept before.
int FillUp(Desk& desk, Told& told, std::future<Receipt>& waiting) {
  for (int kept = 0;; kept += 2) {
    waiting = HandOver(desk, Megabytes(kept + 1, 2));
    while (!IsAnswered(waiting))
      if (told.newest().stuck) return kept;
    EXPECT_TRUE(waiting.get().committed);
  }
}

// Nothing half-made is left, reads go on, whoever waits is served in order once there is room.
void GoThroughAFullDisk(const std::string& folder, const std::function<void()>& make_room) {
  Told told;
  Desk desk;
  desk.Take(OpenSqliteStore(told.Settings(folder)).value());
  std::future<Receipt> waiting;
  const int kept = FillUp(desk, told, waiting);
  EXPECT_TRUE(told.newest().low);
  EXPECT_FALSE(IsThere(folder + "/ballast"));
  EXPECT_EQ(desk.LoadOpen().tasks.size(), static_cast<size_t>(kept));
  std::future<Receipt> behind = HandOver(desk, Changes(SettingChanged{"order", "second"}));
  EXPECT_EQ(desk.LoadOpen().settings.size(), 0u);
  EXPECT_FALSE(IsAnswered(waiting) || IsAnswered(behind));

  make_room();
  EXPECT_TRUE(waiting.get().committed);
  EXPECT_TRUE(behind.get().committed);
  EXPECT_EQ(desk.LoadOpen().tasks.size(), static_cast<size_t>(kept + 2));
  told.Await([](const StoreHealth& health) { return !health.low && !health.stuck; });
  EXPECT_TRUE(IsThere(folder + "/ballast"));
  desk.Close();
  desk.Take(OpenSqliteStore(folder).value());
  EXPECT_EQ(desk.LoadOpen().tasks.size(), static_cast<size_t>(kept + 2));
}

TEST(Part, DISABLED_MeetsALimitOfFileSize) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit open = limit;
  limit.rlim_cur = 24 << 20;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  GoThroughAFullDisk(PartFolder(), [&] { ::setrlimit(RLIMIT_FSIZE, &open); });
}

TEST_F(Sqlite, GoesOnAfterALimitOfFileSizeWasMet) {
  EXPECT_TRUE(WentWell(Spawn(Part("MeetsALimitOfFileSize", folder_.path()))));
}

constexpr int kNoMount = 77;

// A small disk of our own under `folder`, as far as this process and its children see.
void MountOrSkip(const std::string& folder, const char* how) {
  const uid_t user = ::getuid();
  if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(kNoMount);
  ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  if (::mount("none", folder.c_str(), "tmpfs", 0, how) != 0) ::_exit(kNoMount);
}

// Leaves so many bytes free.
void Fill(const std::string& folder, int64_t left) {
  std::ofstream filler(folder + "/filler", std::ios::binary);
  const std::string block(4096, 'x');
  struct statvfs disk {};
  while (::statvfs(folder.c_str(), &disk) == 0 && static_cast<int64_t>(disk.f_bavail * disk.f_frsize) > left)
    if (!filler.write(block.data(), 4096).flush()) break;
}

#define PART_ON_A_SMALL_DISK(part, how)                                       \
  TEST_F(Sqlite, part) {                                                      \
    const int status = Spawn(Part(#part, folder_.path()));                    \
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMount)                 \
      GTEST_SKIP() << "this machine lets us mount no file system of our own"; \
    EXPECT_TRUE(WentWell(status));                                            \
  }                                                                           \
  void On##part(const std::string& folder);                                   \
  TEST(Part, DISABLED_##part) {                                               \
    MountOrSkip(PartFolder(), how);                                           \
    On##part(PartFolder());                                                   \
  }                                                                           \
  void On##part(const std::string& folder)

PART_ON_A_SMALL_DISK(GoesOnAfterTheDiskWasFull, "size=64m") {
  Fill(folder, 24 << 20);
  GoThroughAFullDisk(folder, [&] { ::unlink((folder + "/filler").c_str()); });
}

PART_ON_A_SMALL_DISK(GivesUpItsBallastForTheTransactionThatFoundNoRoom, "size=128m") {
  Told told;
  Desk desk;
  desk.Take(OpenSqliteStore(told.Settings(folder)).value());
  ASSERT_EQ(SizeOf(folder + "/ballast"), 8 << 20);
  ASSERT_TRUE(desk.CommitAll(Megabytes(1, 14)));  // its log has grown
  Fill(folder, 0);
  ASSERT_TRUE(desk.CommitAll(Megabytes(100, 5)));
  EXPECT_FALSE(IsThere(folder + "/ballast"));
  EXPECT_TRUE(told.newest().low);
  EXPECT_FALSE(told.newest().stuck);
}

PART_ON_A_SMALL_DISK(SaysThatRoomRunsLowBeforeItIsGone, "size=128m") {
  Told told;
  Desk desk;
  desk.Take(OpenSqliteStore(told.Settings(folder)).value());
  Fill(folder, 6 << 20);
  told.Await([](const StoreHealth& health) { return health.low; });
  EXPECT_FALSE(told.newest().stuck);
  EXPECT_LE(told.newest().room, 7 << 20);
  EXPECT_GT(told.newest().need, told.newest().room);
  EXPECT_TRUE(desk.Commit(SettingChanged{"k", "v"}));  // ends of tasks still go in
  ::unlink((folder + "/filler").c_str());
  told.Await([](const StoreHealth& health) { return !health.low; });
}

PART_ON_A_SMALL_DISK(SaysThatInodesRunLow, "size=128m,nr_inodes=400") {
  Told told;
  Desk desk;
  desk.Take(OpenSqliteStore(told.Settings(folder)).value());
  int made = 0;
  while (made < 400 && std::ofstream(folder + "/" + std::to_string(made))) ++made;
  told.Await([](const StoreHealth& health) { return health.low; });
  for (int i = 0; i < made; ++i) ::unlink((folder + "/" + std::to_string(i)).c_str());
  told.Await([](const StoreHealth& health) { return !health.low; });
}

PART_ON_A_SMALL_DISK(OpensOnAFullDiskAndKeepsTheEndsOfTasks, "size=128m") {
  Desk desk;
  desk.Take(OpenSqliteStore(folder).value());
  ASSERT_TRUE(desk.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
  desk.Close();
  Fill(folder, 0);
  Told told;
  desk.Take(OpenSqliteStore(told.Settings(folder)).value());
  EXPECT_FALSE(IsThere(folder + "/ballast"));
  EXPECT_TRUE(told.newest().low);
  ASSERT_TRUE(desk.Commit(TaskChanged{.from = Waiting{}, .attempts_before = 0, .task = EndedTask(1)}));
  EXPECT_EQ(desk.LoadOpen().tasks.size(), 0u);
}

PART_ON_A_SMALL_DISK(TellsWhoStillWaitsWhenItClosesThatNothingWasKept, "size=64m") {
  Told told;
  Desk desk;
  desk.Take(OpenSqliteStore(told.Settings(folder)).value());
  std::future<Receipt> waiting;
  const int kept = FillUp(desk, told, waiting);
  desk.Close();
  const Status refused = waiting.get().committed;
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_EQ(refused.error().message.id, "store.disk_full");
  desk.Take(OpenSqliteStore(folder).value());
  EXPECT_EQ(desk.LoadOpen().tasks.size(), static_cast<size_t>(kept));
}

// ---- The cost of a commit, as strace sees it

bool HasStrace() {
  return WentWell(Spawn({"sh", "-c", "strace -o /dev/null true 2>/dev/null"}));
}

// The leak checker of sanitizer builds does not work under ptrace.
constexpr char kNoLeakCheck[] = "ASAN_OPTIONS=detect_leaks=0";
constexpr int kCounted = 20;

// Commits one after the other without a rest between, `count` of them, each handed over by the receipt
// before.
void CommitInARow(Desk& desk, int first, int count, const std::function<void(const Receipt&)>& see) {
  std::promise<void> finished;
  std::function<void(int)> next = [&](int i) {
    if (i == count) return finished.set_value();
    desk.store().Commit({0, Changes(TaskAdded{WaitingTask(first + i), PlainSpec()}), {}},
                        [&, i](Receipt receipt) {
                          see(receipt);
                          next(i + 1);
                        });
  };
  next(0);
  finished.get_future().wait();
}

TEST(Part, DISABLED_CommitsWarm) {
  Desk desk;
  desk.Take(OpenSqliteStore(PartFolder()).value());
  ASSERT_TRUE(desk.CommitAll(Megabytes(1000, 18)));  // fills the WAL, so that the next commit begins it anew
  const int mark = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  int seen = 0;
  CommitInARow(desk, 1, kCounted + 3, [&](const Receipt& receipt) {
    EXPECT_TRUE(receipt.committed);
    ++seen;
    const bool edge = seen == 2 || seen == kCounted + 2;
    EXPECT_TRUE(!edge || ::write(mark, "mark", 4) == 4);
  });
}

TEST_F(Sqlite, SyncsOnceACommitAndNothingElse) {
  if (!HasStrace()) GTEST_SKIP() << "there is no strace here, or it may not trace";
  const std::string trace = folder_.File("trace");
  std::vector<std::string> argv = Part("CommitsWarm", folder_.path());
  argv[0] = std::filesystem::read_symlink("/proc/self/exe");
  argv.insert(argv.begin(), {"strace", "-f", "-o", trace, "-E", kNoLeakCheck, "-e",
                             "trace=fsync,fdatasync,sync_file_range,syncfs,write,ftruncate"});
  ASSERT_TRUE(WentWell(Spawn(argv)));
  std::istringstream lines(Slurp(trace));
  int marks = 0, syncs = 0, others = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"mark\"") != std::string::npos) ++marks;
    if (marks != 1) continue;
    if (line.find(" fdatasync(") != std::string::npos) ++syncs;
    for (const char* other : {" fsync(", " sync_file_range(", " syncfs(", " ftruncate("})
      others += line.find(other) != std::string::npos;
  }
  EXPECT_EQ(marks, 2);
  EXPECT_EQ(syncs, kCounted);
  EXPECT_EQ(others, 0);
}

TEST(Part, DISABLED_MeetsAFailedSync) {
  Desk desk;
  desk.Take(OpenSqliteStore(PartFolder()).value());
  Status failed;
  for (int i = 1; failed && i < 100; ++i) failed = desk.Commit(TaskAdded{WaitingTask(i), PlainSpec()});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::kInternal);
  EXPECT_TRUE(IsBroken(failed.error()));
  const int mark = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(::write(mark, "mark", 4), 4);
  const Status refused = desk.Commit(SettingChanged{"k", "v"});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(IsBroken(refused.error()));
}

TEST_F(Sqlite, NeverWritesAgainAfterAFailedSync) {
  if (!HasStrace()) GTEST_SKIP() << "there is no strace here, or it may not trace";
  const std::string trace = folder_.File("trace");
  std::vector<std::string> argv = Part("MeetsAFailedSync", folder_.path());
  argv[0] = std::filesystem::read_symlink("/proc/self/exe");
  argv.insert(argv.begin(),
              {"strace", "-f", "-o", trace, "-E", kNoLeakCheck, "-e", "trace=fsync,fdatasync,write,pwrite64",
               "-e", "inject=fdatasync:error=EIO:when=12+"});
  ASSERT_TRUE(WentWell(Spawn(argv)));
  std::istringstream lines(Slurp(trace));
  bool marked = false;
  int after = 0;
  for (std::string line; std::getline(lines, line);) {
    marked |= line.find("\"mark\"") != std::string::npos;
    if (marked)
      for (const char* touch : {" fsync(", " fdatasync(", " pwrite64("})
        after += line.find(touch) != std::string::npos;
  }
  EXPECT_TRUE(marked);
  EXPECT_EQ(after, 0);

  // It is checked before the next use; what was receipted is there, and then all is as ever.
  EXPECT_TRUE(IsThere(folder_.File("yard.db.suspect")));
  Open();
  EXPECT_FALSE(IsThere(folder_.File("yard.db.suspect")));
  EXPECT_GE(desk_.LoadOpen().tasks.size(), 5u);
  EXPECT_TRUE(desk_.Commit(SettingChanged{"k", "v"}));
}

TEST_F(Sqlite, GrowsItsWalOnceWhenItRests) {
  Open();
  ASSERT_TRUE(desk_.Commit(SettingChanged{"k", "v"}));
  while (SizeOf(Wal()) < 16 << 20) ::usleep(10'000);
  ASSERT_TRUE(desk_.Commit(SettingChanged{"k", "w"}));
  desk_.Close();
  EXPECT_EQ(SizeOf(Wal()), 16 << 20);
  Open();
  EXPECT_EQ(desk_.LoadOpen().settings[0].second, "w");
}

TEST_F(Sqlite, KeepsItsWalAndDoesNotLetItGrowWithoutEnd) {
  Open();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(desk_.CommitAll(Megabytes(1 + 2 * i, 2)));
  EXPECT_LT(SizeOf(Wal()), 24 << 20);
  desk_.Close();
  EXPECT_GE(SizeOf(Wal()), 16 << 20);
  Open();
  EXPECT_EQ(desk_.LoadOpen().tasks.size(), 80u);
}

}  // namespace
}  // namespace ty
