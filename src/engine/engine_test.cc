// Drives the real supervisor with real processes, once for every way to hold a tree that works here.
#include "engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/log_gaps.h"
#include "base/paths.h"
#include "engine/local/folder.h"
#include "posix/cgroups.h"
#include "posix/clocks.h"
#include "posix/files.h"
#include "posix/locks.h"
#include "posix/process.h"
#include "posix/sockets.h"
#include "wire/control.h"
#include "wire/spec.h"

namespace ty {
namespace {

constexpr seconds kPatience(60);  // only a broken program comes near it
const std::string kShim = TY_BINARY_DIR "/bin/trainyard-shim";

// Waits for something that somebody else brings about and tells nobody.
bool Eventually(const std::function<bool()>& condition) {
  const int64_t until = MonotonicNanos() + Duration(kPatience).count();
  while (!condition()) {
    if (MonotonicNanos() > until) return false;
    ::usleep(2000);
  }
  return true;
}

bool IsAlive(int pid) {
  const auto stat = ReadProcessStat(pid);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

// Whoever works in this folder, whatever it made of its variables.
std::vector<int> FindInFolder(const std::string& folder) {
  std::vector<int> found;
  for (const int pid : ListProcesses()) {
    if (pid == ::getpid() || !IsAlive(pid)) continue;
    const std::string link = "/proc/" + std::to_string(pid) + "/cwd";
    if (ReadLinkAt(AT_FDCWD, link.c_str()).value_or("") == folder) found.push_back(pid);
  }
  return found;
}

// What the engine says, attempt by attempt.
class Desk {
 public:
  void Take(const AttemptNews& news) {
    const std::lock_guard lock(mutex_);
    news_.push_back(news);
    arrived_.notify_all();
  }
  // The first piece of this kind about the attempt; nothing if it does not come.
  template <class What>
  std::optional<What> Wait(const Ulid& attempt) {
    std::unique_lock lock(mutex_);
    std::optional<What> found;
    arrived_.wait_for(lock, kPatience, [&] {
      for (const AttemptNews& news : news_) {
        if (news.attempt == attempt && std::holds_alternative<What>(news.what))
          found = std::get<What>(news.what);
      }
      return found.has_value();
    });
    EXPECT_TRUE(found) << "no such news of " << attempt.Text();
    return found;
  }
  // Its one and only end.
  AttemptNews WaitForEnd(const Ulid& attempt) {
    std::unique_lock lock(mutex_);
    const AttemptNews* end = nullptr;
    arrived_.wait_for(lock, kPatience, [&] {
      for (const AttemptNews& news : news_) {
        if (news.attempt == attempt && IsEnd(news)) end = &news;
      }
      return end != nullptr;
    });
    EXPECT_NE(end, nullptr) << "no end of " << attempt.Text();
    static const AttemptNews kNone;
    return end != nullptr ? *end : kNone;
  }
  template <class What>
  int Count(const Ulid& attempt) {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(std::count_if(news_.begin(), news_.end(), [&](const AttemptNews& news) {
      return news.attempt == attempt && std::holds_alternative<What>(news.what);
    }));
  }
  int CountEnds(const Ulid& attempt) {
    const std::lock_guard lock(mutex_);
    int count = 0;
    for (const AttemptNews& news : news_) count += news.attempt == attempt && IsEnd(news) ? 1 : 0;
    return count;
  }
  void Adopted(std::vector<std::string> strays) {
    const std::lock_guard lock(mutex_);
    strays_ = std::move(strays);
    arrived_.notify_all();
  }
  std::vector<std::string> WaitForAdoption() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(arrived_.wait_for(lock, kPatience, [&] { return strays_.has_value(); }));
    return strays_.value_or(std::vector<std::string>{});
  }

 private:
  static bool IsEnd(const AttemptNews& news) {
    return std::holds_alternative<AttemptExited>(news.what) ||
           std::holds_alternative<AttemptNotStarted>(news.what) ||
           std::holds_alternative<AttemptRefused>(news.what) ||
           std::holds_alternative<AttemptLost>(news.what);
  }
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<AttemptNews> news_;
  std::optional<std::vector<std::string>> strays_;
};

class LocalEngineTest : public ::testing::TestWithParam<Containment> {
 protected:
  void SetUp() override {
    const char* base = ::getenv("TMPDIR");
    std::string name = std::string(base != nullptr ? base : "/tmp") + "/engine_test.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    home_ = name;
    instance_ = "engine-test-" + home_.substr(home_.rfind('.') + 1);
    Open();
    if (engine_->Containment() != Name(GetParam())) GTEST_SKIP() << Name(GetParam()) << " cannot be had here";
  }
  void TearDown() override {
    for (const Ulid& attempt : launched_)
      engine_->Stop(attempt, {.reason = "test over", .signal = 9, .grace = {}});
    for (const Ulid& attempt : launched_) {
      EXPECT_TRUE(Eventually([&] { return !Running(attempt); }));
      engine_->Acknowledge(attempt);
    }
    engine_.reset();
    for (const CgroupRoot& root : KnownCgroupRoots(instance_)) {
      for (const std::string& leaf : ListFolder(root.folder).value_or(std::vector<std::string>{})) {
        if (leaf != "shims" && !leaf.starts_with("a-")) continue;
        EXPECT_TRUE(Eventually([&] {
          return Cgroup{root.kind, root.folder + "/" + leaf}.Remove().has_value();
        }));
      }
      EXPECT_TRUE(::rmdir(root.folder.c_str()) == 0 || errno == ENOENT);
    }
    EXPECT_TRUE(RemoveTree(home_));
  }

  void Open() {
    desk_ = std::make_unique<Desk>();
    LocalEngineSettings settings{home_, kShim, instance_, std::string(Name(GetParam()))};
    auto engine =
        OpenLocalEngine(settings, [desk = desk_.get()](const AttemptNews& news) { desk->Take(news); });
    ASSERT_TRUE(engine) << engine.error().message.id;
    engine_ = std::move(*engine);
  }
  // The daemon dies without a word to anybody and comes back.
  void Restart(std::vector<Attempt> open) {
    engine_.reset();
    Open();
    Adopt(std::move(open));
  }
  void Adopt(std::vector<Attempt> open) {
    engine_->Adopt(std::move(open), [desk = desk_.get()](auto strays) { desk->Adopted(std::move(strays)); });
  }
  static Attempt Row(const Ulid& uid, std::string boot = BootId()) {
    Attempt row;
    row.uid = uid;
    row.boot = std::move(boot);
    return row;
  }

  LaunchOrder Order(std::vector<std::string> argv) {
    LaunchOrder order;
    order.attempt = Ulid::Make(FromNanos(WallNanos()));
    order.task = {7};
    order.argv = std::move(argv);
    order.workdir = home_;
    order.environment = {"PATH=/usr/bin:/bin"};
    order.head = "{}";
    return order;
  }
  Ulid Launch(LaunchOrder order) {
    launched_.push_back(order.attempt);
    const Ulid attempt = order.attempt;
    engine_->Launch(std::move(order));
    return attempt;
  }
  Ulid LaunchScript(const std::string& script) { return Launch(Order({"/bin/sh", "-c", script})); }
  LaunchOrder Ranks(int count, const std::string& script) {
    LaunchOrder order = Order({"/bin/sh", "-c", script});
    for (int rank = 0; rank < count; ++rank) order.ranks.push_back({{"RANK=" + std::to_string(rank)}, {}});
    return order;
  }
  // A file that is locked as a host lease is, by the open file alone.
  std::shared_ptr<const UniqueFd> TakeLease(const std::string& name) {
    const std::string path = home_ + "/" + name;
    EXPECT_TRUE(WriteFileAt(AT_FDCWD, path.c_str(), ""));
    auto lease = OpenAt(AT_FDCWD, path.c_str(), O_RDONLY);
    EXPECT_TRUE(lease && TryFlock(lease->get()).value_or(false));
    return std::make_shared<const UniqueFd>(std::move(*lease));
  }
  bool IsHeld(const std::string& name) const {
    auto lease = OpenAt(AT_FDCWD, (home_ + "/" + name).c_str(), O_RDONLY);
    return !TryFlock(lease->get()).value_or(false);
  }
  // By another task's whole life: long enough for anybody who runs to be seen running.
  void LetOthersRun() {
    for (int i = 0; i < 3; ++i) RunToEnd(Order({"/bin/sh", "-c", "sleep 0.05"}));
  }
  ExitRecord RunToEnd(LaunchOrder order) {
    const Ulid attempt = Launch(std::move(order));
    const auto exited = desk_->Wait<AttemptExited>(attempt);
    return exited ? exited->record : ExitRecord{};
  }

  AttemptFolder Folder(const Ulid& attempt) const { return {home_ + "/attempts", attempt}; }
  std::string Log(const Ulid& attempt) const {
    return ReadFile(Folder(attempt).paths().Log(), 1 << 20).value_or("");
  }
  std::string Log(const Ulid& attempt, int rank) const {
    return ReadFile(Folder(attempt).paths().Log(rank), 1 << 20).value_or("");
  }
  std::string Content(const std::string& name) const {
    return ReadFile(home_ + "/" + name, 1 << 20).value_or("");
  }
  int ReadPid(const std::string& name) const {
    EXPECT_TRUE(Eventually([&] { return Content(name).find('\n') != std::string::npos; }));
    return atoi(Content(name).c_str());
  }
  bool Running(const Ulid& attempt) const {
    const UniqueFd slot = Folder(attempt).OpenSlot();
    return slot && !TryLock(slot.get()).value_or(true);
  }
  int ShimOf(const Ulid& attempt) const {
    const auto decision = Folder(attempt).ReadDecision();
    return decision ? static_cast<int>(decision->pid) : 0;
  }

  std::string home_, instance_;
  std::unique_ptr<Desk> desk_;
  std::unique_ptr<Engine> engine_;
  std::vector<Ulid> launched_;
};

TEST_P(LocalEngineTest, ReportsTheKernelsExitCode) {
  const Ulid attempt = LaunchScript("echo hello; echo trouble >&2; exit 7");
  const auto running = desk_->Wait<AttemptRunning>(attempt);
  ASSERT_TRUE(running);
  EXPECT_FALSE(running->adopted);
  EXPECT_GT(running->pid, 0);
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.kind, ExitRecord::Kind::kExited);
  EXPECT_EQ(record.exit_code, 7);
  EXPECT_FALSE(record.signal);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
  EXPECT_EQ(record.started, running->started);
  EXPECT_GE(record.ended, record.started);
  EXPECT_EQ(Log(attempt), "hello\ntrouble\n");
  struct stat info;
  ASSERT_EQ(::stat(Folder(attempt).paths().Log().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(desk_->CountEnds(attempt), 1);
}

TEST_P(LocalEngineTest, TellsADeathBySignalFromAnExitCodeLikeIt) {
  EXPECT_EQ(RunToEnd(Order({"/bin/sh", "-c", "exit 137"})).exit_code, 137);
  const ExitRecord killed = RunToEnd(Order({"/bin/sh", "-c", "kill -9 $$"}));
  EXPECT_EQ(killed.signal, 9);
  EXPECT_FALSE(killed.exit_code);
  EXPECT_FALSE(killed.killed_by_shim);
  EXPECT_EQ(killed.stopped_by, ExitRecord::StoppedBy::kNobody);
}

TEST_P(LocalEngineTest, SaysWhichStepOfAStartFailedAndWhy) {
  ExitRecord record = RunToEnd(Order({home_ + "/missing"}));
  EXPECT_EQ(record.kind, ExitRecord::Kind::kExecFailed);
  EXPECT_EQ(record.exec_step, "exec");
  EXPECT_EQ(record.exec_errno, ENOENT);

  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/plain").c_str(), "text"));
  record = RunToEnd(Order({home_ + "/plain"}));
  EXPECT_EQ(record.exec_errno, EACCES);

  LaunchOrder elsewhere = Order({"/bin/true"});
  elsewhere.workdir = home_ + "/gone";
  record = RunToEnd(std::move(elsewhere));
  EXPECT_EQ(record.exec_step, "chdir");
  EXPECT_EQ(record.exec_errno, ENOENT);
}

TEST_P(LocalEngineTest, NeverLooksForABareNameInTheWorkingFolder) {
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/train").c_str(), "#!/bin/sh\ntouch ran\n", 0700));
  EXPECT_EQ(RunToEnd(Order({"train"})).exec_errno, ENOENT);
  EXPECT_FALSE(Exists(home_ + "/ran"));
}

TEST_P(LocalEngineTest, HandsArgumentsOverByteForByte) {
  LaunchOrder order = Order({"/bin/sh", "-c", R"(printf '[%s]' "$@")", "sh", "", "a b", "-n", "*$HOME`x`",
                             "\"'\n\t\\", "🚂", "\xff\xfe\x80"});
  const Ulid attempt = order.attempt;
  RunToEnd(std::move(order));
  EXPECT_EQ(Log(attempt), "[][a b][-n][*$HOME`x`][\"'\n\t\\][🚂][\xff\xfe\x80]");
}

TEST_P(LocalEngineTest, GivesTheTaskItsOwnEnvironmentAndNoOther) {
  ::setenv("LEAK", "daemon", 1);
  LaunchOrder order = Order({"/usr/bin/env"});
  order.environment = {"B=\xff", "LD_LIBRARY_PATH=/nowhere", "PYTHONHOME=/x"};
  const Ulid attempt = order.attempt;
  EXPECT_EQ(RunToEnd(std::move(order)).exit_code, 0);
  ::unsetenv("LEAK");
  EXPECT_EQ(Log(attempt),
            "B=\xff\nLD_LIBRARY_PATH=/nowhere\nPYTHONHOME=/x\nTRAINYARD_ID=" + attempt.Text() + "\n");
}

TEST_P(LocalEngineTest, CarriesAnEnvironmentOfTwoMegabytes) {
  LaunchOrder order = Order({"/bin/sh", "-c", "echo ${#V19}"});
  for (int i = 0; i < 20; ++i)
    order.environment.push_back("V" + std::to_string(i) + "=" + std::string(100'000, 'x'));
  const Ulid attempt = order.attempt;
  EXPECT_EQ(RunToEnd(std::move(order)).exit_code, 0);
  EXPECT_EQ(Log(attempt), "100000\n");
}

TEST_P(LocalEngineTest, LeavesTheTaskNoDescriptorButTheStandardThree) {
  UniqueFd ours(::open("/dev/null", O_RDONLY));  // not close-on-exec
  // The shell looks at itself once it runs: seen from outside, its loader may still hold a library open.
  const Ulid attempt = LaunchScript("ls /proc/$$/fd; for i in 0 1 2; do readlink /proc/$$/fd/$i; done");
  desk_->Wait<AttemptExited>(attempt);
  const std::string log = Folder(attempt).paths().Log();
  EXPECT_EQ(Log(attempt), "0\n1\n2\n/dev/null\n" + log + "\n" + log + "\n");
}

TEST_P(LocalEngineTest, LeavesTheTaskPlainSignalsASessionAndAUsualUmask) {
  const Ulid attempt =
      LaunchScript("grep -E 'SigBlk|SigIgn' /proc/self/status; umask; ps -o sid= -p $$; echo $$");
  desk_->Wait<AttemptExited>(attempt);
  std::string log = Log(attempt);
  EXPECT_EQ(log.rfind("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0022\n", 0), 0U) << log;
}

TEST_P(LocalEngineTest, PinsTheTaskToItsCpus) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) last = CPU_ISSET(cpu, &mine) ? cpu : last;
  LaunchOrder order = Order({"/bin/grep", "Cpus_allowed_list", "/proc/self/status"});
  order.cpus = {last};
  const Ulid attempt = order.attempt;
  RunToEnd(std::move(order));
  EXPECT_EQ(Log(attempt), "Cpus_allowed_list:\t" + std::to_string(last) + "\n");
}

TEST_P(LocalEngineTest, WorksInAStateFolderWithAVeryLongPath) {
  engine_.reset();
  const std::string short_home = home_;
  home_ += "/" + std::string(120, 'd');
  Open();
  const Ulid attempt = LaunchScript("sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  Restart({Row(attempt)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(attempt)->adopted);
  engine_->Stop(attempt, {.reason = "x", .signal = 9});
  desk_->Wait<AttemptExited>(attempt);
  engine_.reset();
  home_ = short_home;
  Open();
}

TEST_P(LocalEngineTest, MakesTheResultsFolderAndTheLogHead) {
  LaunchOrder order = Order({"/bin/true"});
  order.out_folder = home_ + "/tasks/7";
  order.head = R"({"lines":[]})";
  const Ulid attempt = order.attempt;
  RunToEnd(std::move(order));
  EXPECT_TRUE(Exists(home_ + "/tasks/7"));
  EXPECT_EQ(ReadFile(Folder(attempt).paths().Head(), 100).value(), R"({"lines":[]})");
  EXPECT_TRUE(Exists(Folder(attempt).paths().Files()));
}

TEST_P(LocalEngineTest, RefusesAndLeavesNothingWhenAFolderCannotBeMade) {
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/tasks").c_str(), "in the way"));
  LaunchOrder order = Order({"/bin/true"});
  order.out_folder = home_ + "/tasks/7";
  const Ulid attempt = Launch(std::move(order));
  EXPECT_EQ(desk_->Wait<AttemptRefused>(attempt)->error.message.id, "engine.out_folder");
  EXPECT_FALSE(Exists(Folder(attempt).paths().folder));
}

TEST_P(LocalEngineTest, NeverLaunchesIntoAFolderThatIsThere) {
  LaunchOrder order = Order({"/bin/true"});
  ASSERT_TRUE(MakeFolders(Folder(order.attempt).paths().folder));
  const Ulid attempt = Launch(std::move(order));
  EXPECT_EQ(desk_->Wait<AttemptRefused>(attempt)->error.message.id, "engine.folder");
}

TEST_P(LocalEngineTest, SaysAtOpeningThatTheSupervisorIsMissing) {
  auto engine = OpenLocalEngine({home_, home_ + "/no-shim", instance_}, [](AttemptNews) {});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().message.id, "engine.supervisor_missing");
}

TEST_P(LocalEngineTest, StopsByTheAskedSignalAndLeavesTheReason) {
  const Ulid attempt = LaunchScript("trap 'cat $STOP; exit 3' USR1; STOP=" + home_ +
                                    "/stop-file; echo ready; "
                                    "while :; do sleep 0.02; done");
  ASSERT_TRUE(Eventually([&] { return Log(attempt) == "ready\n"; }));
  ASSERT_EQ(::symlink(Folder(attempt).paths().Stop().c_str(), (home_ + "/stop-file").c_str()), 0);
  engine_->Stop(attempt, {.reason = "cancelled by ann", .signal = SIGUSR1});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.exit_code, 3);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kOrder);
  EXPECT_FALSE(record.killed_by_shim);
  EXPECT_TRUE(Log(attempt).ends_with("cancelled by ann\n"));  // the shell may say more about its sleep
}

// Case 52: Nukesor/pueue#372.
TEST_P(LocalEngineTest, StopsTheWholeGroupOfAShell) {
  const Ulid attempt = Launch(Order({"/bin/bash", "-c", "sleep 1000 & echo $! > pid; wait; :"}));
  const int sleeper = ReadPid("pid");
  engine_->Stop(attempt, {.reason = "x"});
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.signal, SIGTERM);
  EXPECT_FALSE(IsAlive(sleeper));
}

TEST_P(LocalEngineTest, KillsWhoeverIgnoresTerm) {
  const Ulid attempt = LaunchScript("trap '' TERM INT HUP; echo ready; while :; do sleep 0.02; done");
  ASSERT_TRUE(Eventually([&] { return Log(attempt) == "ready\n"; }));
  engine_->Stop(attempt, {.reason = "x", .grace = milliseconds(50)});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.signal, SIGKILL);
  EXPECT_TRUE(record.killed_by_shim);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kOrder);
}

TEST_P(LocalEngineTest, WakesAStoppedTaskToLetItEnd) {
  const Ulid attempt =
      LaunchScript("trap 'exit 4' TERM; echo ready; kill -STOP $$; while :; do sleep 0.02; done");
  const int pid = desk_->Wait<AttemptRunning>(attempt)->pid;
  ASSERT_TRUE(Eventually([&] { return ReadProcessStat(pid)->state == 'T'; }));
  engine_->Stop(attempt, {.reason = "x"});
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 4);
}

TEST_P(LocalEngineTest, EndsATreeThatKeepsForkingOutOfItsSession) {
  const Ulid attempt = LaunchScript(
      "trap '' TERM; while :; do setsid sh -c 'trap \"\" TERM; sleep 0.3' & setsid setsid sleep 1000 & echo "
      "$! > pid; sleep 0.01; done");
  const int first = ReadPid("pid");
  engine_->Stop(attempt, {.reason = "x", .grace = {}});
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.signal, SIGKILL);
  EXPECT_FALSE(IsAlive(first));
  EXPECT_TRUE(FindMarked("TRAINYARD_ID=" + attempt.Text()).empty());
}

TEST_P(LocalEngineTest, EndsWhatTheLeaderLeftBehindAndKeepsItsOutcome) {
  const Ulid attempt = LaunchScript("setsid sleep 1000 & echo $! > pid; exit 3");
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.exit_code, 3);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
  EXPECT_FALSE(record.killed_by_shim);  // TERM was enough
  EXPECT_FALSE(IsAlive(ReadPid("pid")));
}

TEST_P(LocalEngineTest, HearsThatATaskWasKilledFromOutside) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  ::kill(desk_->Wait<AttemptRunning>(attempt)->pid, SIGKILL);
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.signal, SIGKILL);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
  EXPECT_FALSE(record.killed_by_shim);
}

TEST_P(LocalEngineTest, CountsCpuTimeOfTheWholeTree) {
  const Ulid attempt = LaunchScript("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; exit 0");
  EXPECT_GT(desk_->Wait<AttemptExited>(attempt)->record.cpu_ms, 20);
}

TEST_P(LocalEngineTest, EitherVoidsOrStopsButNeverBoth) {
  std::vector<Ulid> attempts;
  for (int i = 0; i < 40; ++i) {
    const std::string mark = home_ + "/ran-" + std::to_string(i);
    attempts.push_back(LaunchScript("> " + mark + "; exec sleep 1000"));
    if (i % 3 == 1) ::usleep(static_cast<useconds_t>(100 * i));
    if (i % 3 == 2) desk_->Wait<AttemptRunning>(attempts.back());
    engine_->Stop(attempts.back(), {.reason = "changed my mind", .signal = SIGKILL});
  }
  int voided = 0, stopped = 0;
  for (int i = 0; i < 40; ++i) {
    const AttemptNews end = desk_->WaitForEnd(attempts[i]);
    const auto decision = Folder(attempts[i]).ReadDecision();
    ASSERT_TRUE(decision);
    if (std::holds_alternative<AttemptNotStarted>(end.what)) {
      ++voided;
      EXPECT_FALSE(decision->go);
      EXPECT_FALSE(Exists(home_ + "/ran-" + std::to_string(i)));
      EXPECT_FALSE(Exists(Folder(attempts[i]).paths().folder + "/log.idx"));
    } else {
      ++stopped;
      EXPECT_TRUE(decision->go);
      ASSERT_TRUE(std::holds_alternative<AttemptExited>(end.what));
    }
    EXPECT_TRUE(Eventually([&] { return !Running(attempts[i]); }));
    EXPECT_EQ(desk_->CountEnds(attempts[i]), 1);
  }
  EXPECT_GE(stopped, 13);
  EXPECT_GE(voided, 1);
}

TEST_P(LocalEngineTest, AVoidedAttemptStaysVoidForAShimThatIsSlowerThanItsAcknowledgement) {
  LaunchOrder order = Order({"/bin/sh", "-c", "> ran"});
  const AttemptFolder folder = Folder(order.attempt);
  wire::ShimSpec spec;
  spec.attempt = order.attempt.Text();
  spec.uid = ::geteuid();
  spec.argv = order.argv;
  spec.workdir = home_;
  spec.containment = "subreaper";
  ASSERT_TRUE(folder.Make(order, wire::EncodeSpec(spec)));
  const std::string slot = folder.paths().Slot();
  const std::string content = *ReadFile(slot, 1 << 20);
  EXPECT_TRUE(folder.Void("cancelled"));
  folder.Acknowledge();
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, slot.c_str(), content));  // it had opened the slot before that went
  EXPECT_EQ(::system((kShim + " " + folder.paths().folder).c_str()), 0);
  EXPECT_FALSE(Exists(home_ + "/ran"));
  EXPECT_FALSE(folder.ReadDecision()->go);
}

TEST_P(LocalEngineTest, AVoidedAttemptNeverRuns) {
  LaunchOrder order = Order({"/bin/sh", "-c", "> ran"});
  const AttemptFolder folder = Folder(order.attempt);
  wire::ShimSpec spec;
  spec.attempt = order.attempt.Text();
  spec.uid = ::geteuid();
  spec.argv = order.argv;
  spec.workdir = home_;
  spec.containment = "subreaper";
  ASSERT_TRUE(folder.Make(order, wire::EncodeSpec(spec)));
  EXPECT_TRUE(folder.Void("cancelled"));
  EXPECT_EQ(::system((kShim + " " + folder.paths().folder).c_str()), 0);
  EXPECT_FALSE(Exists(home_ + "/ran"));
  EXPECT_FALSE(folder.ReadDecision()->go);
}

TEST_P(LocalEngineTest, RefusesASpecThatWasDamagedOnDisk) {
  LaunchOrder order = Order({"/bin/true"});
  const AttemptFolder folder = Folder(order.attempt);
  ASSERT_TRUE(folder.Make(order, "{\"format\":1}\n00000000\n"));
  EXPECT_NE(::system((kShim + " " + folder.paths().folder).c_str()), 0);
  EXPECT_FALSE(folder.ReadDecision());
}

TEST_P(LocalEngineTest, KeepsTheTimeLimitWithNobodyWatching) {
  LaunchOrder order = Order({"/bin/sh", "-c", "exec sleep 1000"});
  order.time_limit = milliseconds(300);
  const Ulid attempt = Launch(std::move(order));
  desk_->Wait<AttemptRunning>(attempt);
  engine_.reset();
  EXPECT_TRUE(Eventually([&] { return !Running(attempt); }));
  Open();
  Adopt({Row(attempt)});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kTimeLimit);
  EXPECT_EQ(record.signal, SIGTERM);
  EXPECT_EQ(ReadFile(Folder(attempt).paths().Stop(), 100).value(), "time limit\n");
}

TEST_P(LocalEngineTest, KeepsTheIdleLimitOnceTheTaskFallsSilent) {
  LaunchOrder order =
      Order({"/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done; exec sleep 1000"});
  order.idle_limit = milliseconds(400);
  const Ulid attempt = order.attempt;
  const ExitRecord record = RunToEnd(std::move(order));
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kIdleLimit);
  EXPECT_EQ(Log(attempt), "1\n2\n3\n4\n5\n6\n7\n8\n");
}

TEST_P(LocalEngineTest, IndexesTheLogByTime) {
  const Ulid attempt = LaunchScript("echo one; sleep 1.2; echo two");
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

TEST_P(LocalEngineTest, FindsTheEndOfATaskThatEndedWhileTheDaemonWasDead) {
  const Ulid attempt = LaunchScript("while [ ! -e go ]; do sleep 0.02; done; exit 7");
  const auto running = desk_->Wait<AttemptRunning>(attempt);
  engine_.reset();
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  ASSERT_TRUE(Eventually([&] { return !Running(attempt); }));
  const int64_t gone = WallNanos();
  Open();
  Adopt({Row(attempt)});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.exit_code, 7);
  EXPECT_EQ(record.started, running->started);
  EXPECT_LE(ToNanos(record.ended), gone);
  EXPECT_TRUE(desk_->WaitForAdoption().empty());
}

TEST_P(LocalEngineTest, AdoptsARunningTaskAndHearsItsEnd) {
  const Ulid attempt =
      LaunchScript("echo x >> runs; while [ ! -e go ]; do echo tick; sleep 0.02; done; exit 9");
  const auto before = desk_->Wait<AttemptRunning>(attempt);
  Restart({Row(attempt)});
  const auto after = desk_->Wait<AttemptRunning>(attempt);
  EXPECT_TRUE(after->adopted);
  EXPECT_EQ(after->pid, before->pid);
  EXPECT_EQ(after->started, before->started);
  EXPECT_TRUE(desk_->WaitForAdoption().empty());
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 9);
  EXPECT_EQ(Content("runs"), "x\n");
}

TEST_P(LocalEngineTest, StopsAnAdoptedTask) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  engine_.reset();
  Open();
  Adopt({Row(attempt)});
  engine_->Stop(attempt, {.reason = "right after the start"});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.signal, SIGTERM);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kOrder);
}

TEST_P(LocalEngineTest, SurvivesKillNineOfTheDaemonItself) {
  engine_.reset();  // no thread may be there while we fork
  LaunchOrder order =
      Order({"/bin/sh", "-c", "echo x >> runs; while [ ! -e go ]; do echo tick; sleep 0.01; done; exit 5"});
  const Ulid attempt = order.attempt;
  launched_.push_back(attempt);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    Open();
    engine_->Launch(std::move(order));
    ::pause();
  }
  ASSERT_TRUE(Eventually([&] { return Content("runs") == "x\n"; }));
  ::kill(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  EXPECT_TRUE(Running(attempt));
  Open();
  Adopt({Row(attempt)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(attempt)->adopted);
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 5);
  EXPECT_EQ(Content("runs"), "x\n");
}

TEST_P(LocalEngineTest, LosesAnAttemptOnlyOnceEverythingOfADeadSupervisorIsDead) {
  const Ulid attempt = LaunchScript(
      "setsid sh -c 'trap \"\" TERM HUP; (setsid sleep 1000 & echo $! > grandchild); sleep 1000' & echo $$ > "
      "pid; wait");
  const int grandchild = ReadPid("grandchild"), leader = ReadPid("pid");
  desk_->Wait<AttemptRunning>(attempt);
  ::kill(ShimOf(attempt), SIGKILL);
  const AttemptNews end = desk_->WaitForEnd(attempt);
  EXPECT_FALSE(IsAlive(grandchild));
  EXPECT_FALSE(IsAlive(leader));
  ASSERT_TRUE(std::holds_alternative<AttemptLost>(end.what));
  EXPECT_EQ(std::get<AttemptLost>(end.what).why, AttemptLost::Why::kShimDied);
}

TEST_P(LocalEngineTest, FindsAnAttemptLostWhoseSupervisorDiedWithTheDaemon) {
  const Ulid attempt = LaunchScript("setsid sleep 1000 & echo $! > pid; wait");
  const int sleeper = ReadPid("pid");
  desk_->Wait<AttemptRunning>(attempt);
  const int shim = ShimOf(attempt);
  engine_.reset();
  ::kill(shim, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !Running(attempt); }));
  EXPECT_TRUE(IsAlive(sleeper));
  Open();
  Adopt({Row(attempt)});
  desk_->Wait<AttemptLost>(attempt);
  EXPECT_FALSE(IsAlive(sleeper));
  // A crash before the loss was recorded: told again, the same.
  Restart({Row(attempt)});
  EXPECT_EQ(desk_->Wait<AttemptLost>(attempt)->why, AttemptLost::Why::kShimDied);
}

TEST_P(LocalEngineTest, TheSupervisorShrugsOffSignalsOfAShutdown) {
  const Ulid attempt = LaunchScript("while [ ! -e go ]; do sleep 0.02; done; exit 6");
  desk_->Wait<AttemptRunning>(attempt);
  for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGPIPE, SIGUSR1}) ::kill(ShimOf(attempt), signal);
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 6);
}

TEST_P(LocalEngineTest, ReportsASupervisorThatDoesNotAnswerAndHearsItLater) {
  const Ulid attempt = LaunchScript("while [ ! -e go ]; do sleep 0.02; done; exit 6");
  desk_->Wait<AttemptRunning>(attempt);
  const int shim = ShimOf(attempt);
  ::kill(shim, SIGSTOP);
  Restart({Row(attempt)});
  desk_->Wait<AttemptStuck>(attempt);
  desk_->WaitForAdoption();
  EXPECT_EQ(desk_->CountEnds(attempt), 0);
  ::kill(shim, SIGCONT);
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(attempt)->adopted);
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 6);
}

TEST_P(LocalEngineTest, NeverTouchesAStrangerThatGotTheNumberOfOurTask) {
  // A supervisor long dead, whose slot names the number of an innocent process.
  int innocent = 0;
  ASSERT_GE(innocent = ::fork(), 0);
  if (innocent == 0) {
    ::setsid();
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(127);
  }
  LaunchOrder order = Order({"/bin/true"});
  const AttemptFolder folder = Folder(order.attempt);
  ASSERT_TRUE(folder.Make(order, "spec"));
  wire::SlotRecord record;
  record.sequence = 1;
  record.attempt = order.attempt.Text();
  record.pid = innocent;
  record.start = static_cast<int64_t>(ProcessStartTime(innocent).value()) - 1;
  ASSERT_TRUE(WriteAllAt(folder.OpenSlot().get(), wire::EncodeSlotHalf(record), wire::SlotOffset(1)));
  wire::Decision go;
  go.go = true;
  go.boot = BootId();
  go.pid = innocent;
  go.start = record.start;
  ASSERT_EQ(::symlink(wire::EncodeDecision(go).c_str(), folder.paths().Decision().c_str()), 0);

  Adopt({Row(order.attempt)});
  EXPECT_EQ(desk_->Wait<AttemptLost>(order.attempt)->why, AttemptLost::Why::kShimDied);
  desk_->WaitForAdoption();
  EXPECT_EQ(::waitpid(innocent, nullptr, WNOHANG), 0);
  ::kill(innocent, SIGKILL);
  ::waitpid(innocent, nullptr, 0);
}

TEST_P(LocalEngineTest, OneDamagedSlotDoesNotKeepTheOthersFromBeingAdopted) {
  const Ulid fine = LaunchScript("exec sleep 1000"), truncated = LaunchScript("exec sleep 1000"),
             garbled = LaunchScript("exec sleep 1000");
  for (const Ulid& attempt : {fine, truncated, garbled}) desk_->Wait<AttemptRunning>(attempt);
  const int dead = ShimOf(truncated), dead_too = ShimOf(garbled);
  engine_.reset();
  for (const int shim : {dead, dead_too}) ::kill(shim, SIGKILL);
  for (const Ulid& attempt : {truncated, garbled}) ASSERT_TRUE(Eventually([&] { return !Running(attempt); }));
  ASSERT_EQ(::truncate(Folder(truncated).paths().Slot().c_str(), 100), 0);
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, Folder(garbled).paths().Slot().c_str(), std::string(8192, '\x5a')));
  Open();
  Adopt({Row(fine), Row(truncated), Row(garbled)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(fine)->adopted);
  desk_->Wait<AttemptLost>(truncated);
  desk_->Wait<AttemptLost>(garbled);
  EXPECT_EQ(ReadFile(Folder(garbled).paths().folder + "/slot.damaged", 1 << 20).value(),
            std::string(8192, '\x5a'));
  EXPECT_TRUE(desk_->WaitForAdoption().empty());
}

TEST_P(LocalEngineTest, LosesWhatRanBeforeAReboot) {
  LaunchOrder order = Order({"/bin/true"});
  ASSERT_TRUE(Folder(order.attempt).Make(order, "spec"));
  const Ulid vanished = Ulid::Make(FromNanos(WallNanos()));  // its folder did not survive the power cut
  Adopt({Row(order.attempt, "another-boot"), Row(vanished, "another-boot")});
  EXPECT_EQ(desk_->Wait<AttemptLost>(order.attempt)->why, AttemptLost::Why::kReboot);
  EXPECT_EQ(desk_->Wait<AttemptLost>(vanished)->why, AttemptLost::Why::kReboot);
}

TEST_P(LocalEngineTest, TakesBackWhatNobodyDecided) {
  LaunchOrder undecided = Order({"/bin/true"}), held = Order({"/bin/true"});
  const Ulid no_folder = Ulid::Make(FromNanos(WallNanos()));
  ASSERT_TRUE(Folder(undecided.attempt).Make(undecided, "spec"));
  ASSERT_TRUE(Folder(held.attempt).Make(held, "spec"));
  const UniqueFd slot = Folder(held.attempt).OpenSlot();  // a supervisor that hangs before GO
  ASSERT_TRUE(TryLock(slot.get()).value());
  Adopt({Row(undecided.attempt), Row(held.attempt), Row(no_folder)});
  for (const Ulid& attempt : {undecided.attempt, held.attempt, no_folder})
    desk_->Wait<AttemptNotStarted>(attempt);
  EXPECT_FALSE(Folder(undecided.attempt).ReadDecision()->go);
  EXPECT_FALSE(Folder(held.attempt).ReadDecision()->go);
}

TEST_P(LocalEngineTest, NamesFoldersNobodyKnowsAndKeepsTheirTasks) {
  const Ulid known = LaunchScript("exec sleep 1000"), running = LaunchScript("exec sleep 1000");
  const int pid = desk_->Wait<AttemptRunning>(running)->pid;
  desk_->Wait<AttemptRunning>(known);
  const Ulid ended = LaunchScript("exit 0");  // recorded, but the crash came before it was acknowledged
  desk_->Wait<AttemptExited>(ended);
  LaunchOrder dead = Order({"/bin/true"});
  ASSERT_TRUE(Folder(dead.attempt).Make(dead, "spec"));
  Restart({Row(known)});
  std::vector<std::string> expected = {running.Text(), dead.attempt.Text()};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(desk_->WaitForAdoption(), expected);
  EXPECT_TRUE(IsAlive(pid));
  EXPECT_TRUE(Exists(Folder(running).paths().folder));
  EXPECT_TRUE(Exists(home_ + "/attempts/.quarantine/" + dead.attempt.Text() + "/slot"));
  EXPECT_FALSE(Exists(Folder(ended).paths().Slot()));
  Restart({Row(known), Row(running)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(running)->adopted);
}

TEST_P(LocalEngineTest, AdoptsTwentyAtOnce) {
  std::vector<Attempt> rows;
  for (int i = 0; i < 20; ++i) rows.push_back(Row(LaunchScript("exec sleep 1000")));
  for (const Attempt& row : rows) desk_->Wait<AttemptRunning>(row.uid);
  Restart(rows);
  desk_->WaitForAdoption();
  for (const Attempt& row : rows) EXPECT_TRUE(desk_->Wait<AttemptRunning>(row.uid)->adopted);
}

TEST_P(LocalEngineTest, KeepsLogAndFilesUntilRemoved) {
  const Ulid attempt = LaunchScript("echo kept");
  desk_->Wait<AttemptExited>(attempt);
  engine_->Acknowledge(attempt);
  const AttemptPaths paths = Folder(attempt).paths();
  EXPECT_TRUE(Eventually([&] { return !Exists(paths.Control()); }));
  EXPECT_TRUE(Eventually([&] { return !Exists(paths.Slot()); }));
  EXPECT_TRUE(Eventually([&] { return !Exists(paths.Decision()); }));
  EXPECT_EQ(Log(attempt), "kept\n");
  for (const CgroupRoot& root : KnownCgroupRoots(instance_)) {
    EXPECT_TRUE(Eventually([&] { return !root.Attempt(attempt.Text()).Exists(); }));
  }
  engine_->Remove(attempt);
  EXPECT_TRUE(Eventually([&] { return !Exists(paths.folder); }));
}

// The control socket as anybody trusted may use it.
class Caller {
 public:
  explicit Caller(const AttemptFolder& folder) {
    auto at = OpenFolder(folder.paths().folder);
    auto link = ConnectPackets(at->get(), "ctl.sock");
    EXPECT_TRUE(link);
    if (link) link_ = std::move(*link);
  }
  wire::News Ask(const std::string& packet, wire::NewsKind expected) {
    EXPECT_TRUE(SendPacket(link_.get(), packet));
    for (;;) {
      if (!WaitReadable(link_.get(), 30'000)) break;
      const auto answer = ReceivePacket(link_.get());
      if (!answer || answer->empty()) break;
      if (auto news = wire::DecodeNews(*answer); news && news->kind == expected) return *news;
    }
    ADD_FAILURE() << "no answer to " << packet;
    return {};
  }

 private:
  UniqueFd link_;
};

TEST_P(LocalEngineTest, FreezesUntilTheDeadlineEvenWithNobodyThere) {
  const Ulid attempt = LaunchScript("while :; do echo x; sleep 0.02; done");
  desk_->Wait<AttemptRunning>(attempt);
  engine_.reset();
  ASSERT_TRUE(Eventually([&] { return !Log(attempt).empty(); }));
  {
    Caller caller(Folder(attempt));
    caller.Ask(R"({"format":1,"verb":"FREEZE","deadline_ms":600})", wire::NewsKind::kDone);
    EXPECT_TRUE(caller.Ask(R"({"format":1,"verb":"STATUS"})", wire::NewsKind::kState).frozen);
  }
  const size_t frozen_at = Log(attempt).size();
  EXPECT_TRUE(Eventually([&] { return Log(attempt).size() > frozen_at + 20; }));
  Open();
  Adopt({Row(attempt)});
  desk_->Wait<AttemptRunning>(attempt);
  Caller(Folder(attempt)).Ask(R"({"format":1,"verb":"FREEZE","deadline_ms":600000})", wire::NewsKind::kDone);
  engine_->Stop(attempt, {.reason = "thaws first"});
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.signal, SIGTERM);
}

TEST_P(LocalEngineTest, AFrozenTaskStandsStillUntilItIsThawed) {
  // Forks all the time, out of its session too, and one process lives on in a child forever: nobody may slip
  // through.
  const Ulid attempt = LaunchScript(
      "hop() { echo h; hop & }; hop; while :; do echo a; setsid sh -c 'echo b; (echo c)' & sh -c 'echo d'; "
      "done");
  ASSERT_TRUE(Eventually([&] { return Log(attempt).size() > 100; }));
  for (int round = 1; round <= 2; ++round) {
    engine_->Freeze(attempt, minutes(10));
    ASSERT_TRUE(Eventually([&] { return desk_->Count<AttemptFrozen>(attempt) == round; }));
    std::string log;
    LetOthersRun();  // the kernel freezes in its own time
    log = Log(attempt);
    LetOthersRun();
    EXPECT_EQ(Log(attempt).size(), log.size());
    engine_->Thaw(attempt);
    ASSERT_TRUE(Eventually([&] { return desk_->Count<AttemptThawed>(attempt) == round; }));
    EXPECT_TRUE(Eventually([&] { return Log(attempt).size() > log.size() + 100; }));
  }
  EXPECT_EQ(desk_->Count<AttemptFreezeRefused>(attempt), 0);
}

TEST_P(LocalEngineTest, ThawsByItselfWhenTheDaemonThatFrozeItIsGone) {
  const Ulid attempt = LaunchScript("while :; do echo x; sleep 0.01; done");
  ASSERT_TRUE(Eventually([&] { return !Log(attempt).empty(); }));
  engine_->Freeze(attempt, milliseconds(300));
  desk_->Wait<AttemptFrozen>(attempt);
  engine_.reset();
  const size_t frozen_at = Log(attempt).size();
  EXPECT_TRUE(Eventually([&] { return Log(attempt).size() > frozen_at + 20; }));
  Open();
  Adopt({Row(attempt)});
  EXPECT_FALSE(desk_->Wait<AttemptRunning>(attempt)->frozen);
}

TEST_P(LocalEngineTest, FindsAnAdoptedTaskFrozenAndThawsIt) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  engine_->Freeze(attempt, minutes(10));
  desk_->Wait<AttemptFrozen>(attempt);
  Restart({Row(attempt)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(attempt)->frozen);
  engine_->Thaw(attempt);
  desk_->Wait<AttemptThawed>(attempt);
  EXPECT_EQ(desk_->Count<AttemptFrozen>(attempt), 0);
}

TEST_P(LocalEngineTest, FreezingTheFrozenRenewsTheDeadlineAndIsNotToldAgain) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  engine_->Freeze(attempt, minutes(10));
  engine_->Freeze(attempt, minutes(20));
  engine_->Freeze(attempt, milliseconds(50));
  desk_->Wait<AttemptThawed>(attempt);
  EXPECT_EQ(desk_->Count<AttemptFrozen>(attempt), 1);
  EXPECT_EQ(desk_->Count<AttemptThawed>(attempt), 1);
}

TEST_P(LocalEngineTest, SaysWhenItCannotFreeze) {
  const Ulid unknown = Ulid::Make(FromNanos(WallNanos()));
  engine_->Freeze(unknown, seconds(1));
  EXPECT_EQ(desk_->Wait<AttemptFreezeRefused>(unknown)->error, ENOTCONN);
  engine_->Thaw(unknown);

  const Ulid endless = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(endless);
  engine_->Freeze(endless, Duration{});
  EXPECT_EQ(desk_->Wait<AttemptFreezeRefused>(endless)->error, EINVAL);

  const Ulid stopping = LaunchScript("trap '' TERM; echo ready; while :; do sleep 0.02; done");
  ASSERT_TRUE(Eventually([&] { return Log(stopping) == "ready\n"; }));
  engine_->Stop(stopping, {.reason = "x", .grace = minutes(1)});
  engine_->Freeze(stopping, seconds(1));
  EXPECT_EQ(desk_->Wait<AttemptFreezeRefused>(stopping)->error, EBUSY);
  EXPECT_EQ(desk_->Count<AttemptFrozen>(stopping), 0);
}

TEST_P(LocalEngineTest, SaysThatAStopThawedWhatWasFrozen) {
  const Ulid attempt = LaunchScript("trap 'exit 4' TERM; echo ready; while :; do sleep 0.02; done");
  ASSERT_TRUE(Eventually([&] { return Log(attempt) == "ready\n"; }));
  engine_->Freeze(attempt, minutes(10));
  desk_->Wait<AttemptFrozen>(attempt);
  engine_->Stop(attempt, {.reason = "x"});
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 4);
  EXPECT_EQ(desk_->Count<AttemptThawed>(attempt), 1);
}

TEST_P(LocalEngineTest, DoesNotCountFrozenTimeAgainstTheLimit) {
  LaunchOrder order = Order({"/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.02; done"});
  order.time_limit = milliseconds(1500);
  const Ulid attempt = Launch(std::move(order));
  desk_->Wait<AttemptRunning>(attempt);
  Caller caller(Folder(attempt));
  caller.Ask(R"({"format":1,"verb":"FREEZE","deadline_ms":2500})", wire::NewsKind::kFrozen);
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
  EXPECT_EQ(record.exit_code, 0);
  EXPECT_GE(record.ended - record.started, milliseconds(2400));
}

TEST_P(LocalEngineTest, AnswersWhatItDoesNotUnderstandWithAnError) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  Caller caller(Folder(attempt));
  caller.Ask(R"({"format":2,"verb":"DANCE"})", wire::NewsKind::kError);
  caller.Ask("garbage \xff", wire::NewsKind::kError);
  caller.Ask(R"({"format":1,"verb":"FREEZE"})", wire::NewsKind::kError);
  EXPECT_EQ(caller.Ask(R"({"format":1,"verb":"PING"})", wire::NewsKind::kState).record->attempt,
            attempt.Text());
  caller.Ask(R"({"format":1,"verb":"KILL"})", wire::NewsKind::kDone);
  EXPECT_TRUE(desk_->Wait<AttemptExited>(attempt)->record.killed_by_shim);
}

TEST_P(LocalEngineTest, StartsOneProcessARankWithItsOwnVariablesAndLog) {
  LaunchOrder order =
      Ranks(3, "echo rank $RANK of $WORLD_SIZE $TRAINYARD_ID; echo $$ > pid.$RANK; read x < gate");
  ASSERT_EQ(::mkfifo((home_ + "/gate").c_str(), 0600), 0);
  order.environment = {"RANK=9", "PATH=/usr/bin:/bin", "WORLD_SIZE=3", "RANKS=3"};
  order.ranks[1].environment.push_back("TRAINYARD_ID=stolen");
  const Ulid attempt = Launch(std::move(order));
  const auto running = desk_->Wait<AttemptRunning>(attempt);
  ASSERT_TRUE(running);
  for (int rank = 0; rank < 3; ++rank) {
    const int pid = ReadPid("pid." + std::to_string(rank));
    if (rank == 0) {
      EXPECT_EQ(running->pid, pid);
    }
    const auto stat = ReadProcessStat(pid);
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->session, pid);
    EXPECT_EQ(stat->group, pid);
    EXPECT_EQ(stat->parent, ShimOf(attempt));
    EXPECT_EQ(Log(attempt, rank), "rank " + std::to_string(rank) + " of 3 " + attempt.Text() + "\n");
    if (GetParam() == Containment::kSubreaper) continue;
    const std::vector<int> held = OpenCgroupRoot(instance_, GetParam()).Attempt(attempt.Text()).Processes();
    EXPECT_NE(std::find(held.begin(), held.end(), pid), held.end());
  }
  EXPECT_FALSE(Exists(Folder(attempt).paths().Log()));
  Restart({Row(attempt)});
  EXPECT_EQ(desk_->Wait<AttemptRunning>(attempt)->pid, running->pid);
  const UniqueFd gate(::open((home_ + "/gate").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(WriteAll(gate.get(), "go\ngo\ngo\n"));
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.exit_code, 0);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{0, {}}, {0, {}}, {0, {}}}));
  EXPECT_FALSE(record.failed_rank);

  engine_->Acknowledge(attempt);
  EXPECT_TRUE(Eventually([&] { return !Exists(Folder(attempt).paths().Control()); }));
  EXPECT_FALSE(Log(attempt, 2).empty());
  engine_->Remove(attempt);
  EXPECT_TRUE(Eventually([&] { return !Exists(Folder(attempt).paths().folder); }));
}

TEST_P(LocalEngineTest, PinsEachRankToItsOwnCpus) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mine)) cpus.push_back(cpu);
  }
  LaunchOrder order = Ranks(2, "grep Cpus_allowed_list /proc/self/status");
  order.cpus = {cpus.front()};
  order.ranks[1].cpus = {cpus.back()};
  const Ulid attempt = order.attempt;
  RunToEnd(std::move(order));
  EXPECT_EQ(Log(attempt, 0), "Cpus_allowed_list:\t" + std::to_string(cpus.front()) + "\n");
  EXPECT_EQ(Log(attempt, 1), "Cpus_allowed_list:\t" + std::to_string(cpus.back()) + "\n");
}

TEST_P(LocalEngineTest, ARankThatFailsStopsTheOthersAndDecidesTheOutcome) {
  const Ulid attempt =
      Launch(Ranks(3,
                   "trap 'echo stopped; exit 0' TERM; [ $RANK = 2 ] && echo $$ > early && exit 0; echo ready;"
                   "while [ $RANK = 0 ] || [ ! -e fail ]; do sleep 0.02; done; exit 3"));
  ASSERT_TRUE(Eventually([&] { return Log(attempt, 0) == "ready\n"; }));
  const int early = ReadPid("early");
  ASSERT_TRUE(Eventually([&] { return !IsAlive(early); }));
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/fail").c_str(), ""));
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.exit_code, 3);
  EXPECT_FALSE(record.signal);
  EXPECT_EQ(record.failed_rank, 1);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{0, {}}, {3, {}}, {0, {}}}));
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
  EXPECT_FALSE(record.killed_by_shim);
  EXPECT_TRUE(Log(attempt, 0).ends_with("stopped\n"));
  EXPECT_FALSE(Exists(Folder(attempt).paths().Stop()));
}

TEST_P(LocalEngineTest, KillsTheOtherRanksWhenTermIsNotEnough) {
  LaunchOrder order =
      Ranks(2,
            "trap '' TERM; [ $RANK = 0 ] && echo > ready; while [ ! -e ready ]; do sleep 0.01; "
            "done; [ $RANK = 1 ] && kill -ABRT $$; while :; do sleep 0.02; done");
  order.grace = milliseconds(50);
  const ExitRecord record = RunToEnd(std::move(order));
  EXPECT_EQ(record.signal, SIGABRT);
  EXPECT_FALSE(record.exit_code);
  EXPECT_EQ(record.failed_rank, 1);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{{}, SIGKILL}, {{}, SIGABRT}}));
  EXPECT_TRUE(record.killed_by_shim);
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
}

TEST_P(LocalEngineTest, TheFirstFailureByTimeWinsEvenWhenBothAreSeenAtOnce) {
  const Ulid attempt =
      Launch(Ranks(4, "echo $$ > pid.$RANK; while [ ! -e fail.$RANK ]; do sleep 0.01; done; exit 1$RANK"));
  std::vector<int> pids;
  for (int rank = 0; rank < 4; ++rank) pids.push_back(ReadPid("pid." + std::to_string(rank)));
  desk_->Wait<AttemptRunning>(attempt);
  const int shim = ShimOf(attempt);
  ::kill(shim, SIGSTOP);  // it sees all of them only when everything has happened
  for (const int rank : {2, 3, 0, 1}) {
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/fail." + std::to_string(rank)).c_str(), ""));
    ASSERT_TRUE(Eventually([&] { return !IsAlive(pids[static_cast<size_t>(rank)]); }));
  }
  ::kill(shim, SIGCONT);
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.failed_rank, 2);
  EXPECT_EQ(record.exit_code, 12);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{10, {}}, {11, {}}, {12, {}}, {13, {}}}));
}

TEST_P(LocalEngineTest, RanksThatFailBecauseOfAStopHaveNotFailed) {
  const Ulid attempt =
      Launch(Ranks(3,
                   "trap \"exit 1$RANK\" USR1; echo ready; [ $RANK = 2 ] && echo $$ > early && exit 0;"
                   "while :; do sleep 0.02; done"));
  for (int rank = 0; rank < 2; ++rank)
    ASSERT_TRUE(Eventually([&] { return Log(attempt, rank) == "ready\n"; }));
  const int early = ReadPid("early");
  ASSERT_TRUE(Eventually([&] { return !IsAlive(early); }));
  engine_->Stop(attempt, {.reason = "cancelled", .signal = SIGUSR1});
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kOrder);
  EXPECT_FALSE(record.failed_rank);
  EXPECT_GE(record.exit_code.value_or(0), 10);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{10, {}}, {11, {}}, {0, {}}}));
  EXPECT_EQ(ReadFile(Folder(attempt).paths().Stop(), 100).value(), "cancelled\n");
}

TEST_P(LocalEngineTest, RunsAllRanksOrNone) {
  LaunchOrder order = Ranks(3, "setsid sleep 1000 & exec sleep 1000");
  order.ranks[1].cpus = {16'000};  // no machine of ours has it
  const Ulid attempt = order.attempt;
  const ExitRecord record = RunToEnd(std::move(order));
  EXPECT_EQ(record.kind, ExitRecord::Kind::kExecFailed);
  EXPECT_EQ(record.exec_step, "affinity");
  EXPECT_EQ(record.exec_errno, EINVAL);
  EXPECT_EQ(record.failed_rank, 1);
  EXPECT_EQ(record.ranks, (std::vector<RankEnd>{{{}, SIGKILL}, {}, {}}));
  EXPECT_FALSE(record.exit_code);
  EXPECT_FALSE(record.signal);
  EXPECT_EQ(desk_->Count<AttemptRunning>(attempt), 0);
  EXPECT_TRUE(FindMarked("TRAINYARD_ID=" + attempt.Text()).empty());
}

TEST_P(LocalEngineTest, RefusesMoreRanksThanItCanKeepTrackOf) {
  const Ulid attempt = Launch(Ranks(wire::kMostRanks + 1, "exit 0"));
  EXPECT_EQ(desk_->Wait<AttemptRefused>(attempt)->error.message.id, "engine.ranks");
  EXPECT_FALSE(Exists(Folder(attempt).paths().folder));
}

TEST_P(LocalEngineTest, RunsAsManyRanksAsItMay) {
  LaunchOrder order = Ranks(wire::kMostRanks, "exit $((RANK > 99))");
  const ExitRecord record = RunToEnd(std::move(order));
  EXPECT_EQ(record.exit_code, 1);
  EXPECT_GE(record.failed_rank.value_or(0), 100);
  EXPECT_EQ(record.ranks.size(), wire::kMostRanks);
}

TEST_P(LocalEngineTest, NoRankIsIdleAsLongAsOneSpeaks) {
  LaunchOrder order =
      Ranks(2, "[ $RANK = 1 ] && for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done; exec sleep 1000");
  order.idle_limit = milliseconds(400);
  const Ulid attempt = order.attempt;
  const ExitRecord record = RunToEnd(std::move(order));
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kIdleLimit);
  EXPECT_EQ(Log(attempt, 1), "1\n2\n3\n4\n5\n6\n7\n8\n");
}

TEST_P(LocalEngineTest, FreezesAllRanks) {
  const Ulid attempt = Launch(Ranks(3, "while :; do echo x; sleep 0.01; done"));
  for (int rank = 0; rank < 3; ++rank) ASSERT_TRUE(Eventually([&] { return !Log(attempt, rank).empty(); }));
  engine_->Freeze(attempt, minutes(10));
  desk_->Wait<AttemptFrozen>(attempt);
  LetOthersRun();
  std::vector<size_t> sizes;
  for (int rank = 0; rank < 3; ++rank) sizes.push_back(Log(attempt, rank).size());
  LetOthersRun();
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(Log(attempt, rank).size(), sizes[static_cast<size_t>(rank)]);
  engine_->Thaw(attempt);
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_TRUE(Eventually([&] { return Log(attempt, rank).size() > sizes[static_cast<size_t>(rank)]; }));
}

TEST_P(LocalEngineTest, FindsTheSessionsOfAllRanksOfADeadSupervisor) {
  // None of them can be told by its variables. Rank 1 leaves a child in its session, which still writes to
  // its log.
  const Ulid attempt =
      Launch(Ranks(3,
                   "env -i sleep 1000 & echo $! > child.$RANK; [ $RANK = 1 ] && exec env -i sleep "
                   "1001; exec env -i sleep 1000"));
  const auto running = desk_->Wait<AttemptRunning>(attempt);
  std::vector<int> pids = {running->pid};
  for (int rank = 0; rank < 3; ++rank) pids.push_back(ReadPid("child." + std::to_string(rank)));
  const auto record = Folder(attempt).ReadSlot().newest;
  ASSERT_TRUE(record && record->others.size() == 2);
  for (const wire::RankProcess& other : record->others) pids.push_back(static_cast<int>(other.pid));
  ASSERT_TRUE(Eventually([&] { return FindMarked("TRAINYARD_ID=" + attempt.Text()).empty(); }));
  const int shim = ShimOf(attempt);
  engine_.reset();
  ::kill(shim, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !Running(attempt); }));
  const int first_of_rank_1 = static_cast<int>(record->others[0].pid);
  ::kill(first_of_rank_1, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !IsAlive(first_of_rank_1); }));
  EXPECT_TRUE(IsAlive(pids[2]));
  Open();
  Adopt({Row(attempt)});
  desk_->Wait<AttemptLost>(attempt);
  for (const int pid : pids) EXPECT_FALSE(IsAlive(pid)) << pid;
}

TEST_P(LocalEngineTest, HandsHostLeasesToItsProcessesAndToNobodyElse) {
  LaunchOrder order = Ranks(2, "exec sleep 1000");
  order.leases = {TakeLease("card-0"), TakeLease("card-1")};
  const Ulid holder = Launch(std::move(order));
  desk_->Wait<AttemptRunning>(holder);
  const Ulid stranger = LaunchScript("exec sleep 1000");
  const int strange_task = desk_->Wait<AttemptRunning>(stranger)->pid;
  const auto record = Folder(holder).ReadSlot().newest;
  ASSERT_TRUE(record && record->others.size() == 1);
  const auto held_by = [&](int64_t pid) {
    std::vector<std::string> held;
    const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
    const auto names = ListFolder(folder);
    for (const std::string& fd : *names) {
      const std::string path = ReadLinkAt(AT_FDCWD, (folder + "/" + fd).c_str()).value_or("");
      if (path.starts_with(home_ + "/card-")) held.push_back(fd + path.substr(home_.size()));
    }
    return held;
  };
  const std::vector<std::string> both = {"10/card-0", "11/card-1"};
  EXPECT_EQ(held_by(record->pid), both);
  EXPECT_EQ(held_by(record->others[0].pid), both);
  EXPECT_EQ(held_by(ShimOf(holder)), both);
  EXPECT_TRUE(held_by(strange_task).empty());
  EXPECT_TRUE(held_by(ShimOf(stranger)).empty());
  EXPECT_EQ(ListFolder("/proc/" + std::to_string(record->pid) + "/fd")->size(), 5U);
}

TEST_P(LocalEngineTest, ACardStaysHeldUntilTheLastProcessOfTheTaskIsGone) {
  LaunchOrder order = Order({"/bin/sh", "-c", "exec sleep 1000"});
  order.leases = {TakeLease("card")};
  const Ulid attempt = Launch(std::move(order));
  const int task = desk_->Wait<AttemptRunning>(attempt)->pid;
  const int shim = ShimOf(attempt);
  EXPECT_TRUE(IsHeld("card"));
  engine_.reset();  // and with it every copy of the daemon's
  ::kill(shim, SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !Running(attempt); }));
  EXPECT_TRUE(IsAlive(task));
  EXPECT_TRUE(IsHeld("card"));
  Open();
  Adopt({Row(attempt)});
  desk_->Wait<AttemptLost>(attempt);
  EXPECT_FALSE(IsHeld("card"));
}

TEST_P(LocalEngineTest, ACardIsFreeOnceItsTaskHasEnded) {
  LaunchOrder order = Order({"/bin/true"});
  order.leases = {TakeLease("card")};
  const Ulid attempt = Launch(std::move(order));
  desk_->Wait<AttemptExited>(attempt);
  EXPECT_FALSE(IsHeld("card"));
}

TEST_P(LocalEngineTest, AWaitingSupervisorIsSmall) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  const std::string status =
      ReadFile("/proc/" + std::to_string(ShimOf(attempt)) + "/status", 1 << 16).value();
  const int rss_kb = atoi(status.c_str() + status.find("VmRSS:") + 6);
  RecordProperty("rss_kb", rss_kb);
  EXPECT_GT(rss_kb, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(rss_kb, 1024);
#endif
}

TEST_P(LocalEngineTest, TheSupervisorStaysOutsideTheCgroupItKills) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  const int task = desk_->Wait<AttemptRunning>(attempt)->pid;
  if (GetParam() == Containment::kSubreaper) return;
  for (const CgroupRoot& root : KnownCgroupRoots(instance_)) {
    if (root.kind != GetParam()) continue;
    EXPECT_EQ(root.Attempt(attempt.Text()).Processes(), std::vector<int>{task});
    if (root.kind == Containment::kCgroup2) {
      EXPECT_EQ(root.Shims().Processes(), std::vector<int>{ShimOf(attempt)});
    }
  }
}

TEST_P(LocalEngineTest, LeavesNoEmptyCgroupBehindAndMakesItsOwnAgain) {
  if (GetParam() != Containment::kCgroup2) return;
  const std::string folder = OpenCgroupRoot(instance_, GetParam()).folder;
  ASSERT_EQ(::rmdir((folder + "/shims").c_str()), 0);
  ASSERT_EQ(::rmdir(folder.c_str()), 0);
  const Ulid attempt = LaunchScript("while [ ! -e go ]; do sleep 0.02; done");
  ASSERT_TRUE(desk_->Wait<AttemptRunning>(attempt));
  engine_.reset();
  EXPECT_TRUE(Exists(folder + "/shims"));  // in use
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  ASSERT_TRUE(Eventually([&] { return !Cgroup{GetParam(), folder}.Populated(); }));
  Open();
  engine_.reset();
  EXPECT_FALSE(Exists(folder));
  Open();
}

// ---- Logs that cannot hurt

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

// ---- Who hears a stop, and what does not die of it

// A leader, a child in its group and a child in a session of its own, each of which says whom a signal
// reached.
constexpr char kFamily[] =
    "trap 'echo leader >> heard; while [ ! -e end ]; do sleep 0.02; done; exit 3' USR1; "
    "sh -c 'trap \"echo member >> heard; exit\" USR1; echo r >> ready; while :; do sleep 0.02; done' & "
    "setsid sh -c 'trap \"echo stranger >> heard; exit\" USR1; echo r >> ready; while :; do sleep 0.02; "
    "done' & "
    "echo r >> ready; while :; do sleep 0.02; done";

TEST_P(LocalEngineTest, AStopIsHeardByTheLeaderTheGroupOrEveryProcess) {
  struct Case {
    StopTarget target;
    std::vector<std::string> heard;
  };
  const Case cases[] = {{StopTarget::kLeader, {"leader"}},
                        {StopTarget::kGroup, {"leader", "member"}},
                        {StopTarget::kAll, {"leader", "member", "stranger"}}};
  for (const Case& one : cases) {
    for (const char* file : {"heard", "ready", "end"}) ::unlink((home_ + "/" + file).c_str());
    const Ulid attempt = LaunchScript(kFamily);
    ASSERT_TRUE(Eventually([&] { return Content("ready") == "r\nr\nr\n"; }));
    engine_->Stop(attempt, {.reason = "x", .signal = SIGUSR1, .target = one.target});
    const auto heard = [&] {
      const std::string text = Content("heard");
      std::vector<std::string> names;
      for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
        names.push_back(text.substr(at, end - at));
      std::sort(names.begin(), names.end());
      return names;
    };
    EXPECT_TRUE(Eventually([&] { return heard().size() >= one.heard.size(); }));
    LetOthersRun();  // whoever else heard it would have said so by now
    EXPECT_EQ(heard(), one.heard);
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/end").c_str(), ""));
    const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
    EXPECT_EQ(record.exit_code, 3);
    EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kOrder);
    EXPECT_TRUE(FindMarked("TRAINYARD_ID=" + attempt.Text()).empty());
  }
}

TEST_P(LocalEngineTest, ALimitStopsWhomTheTaskSaidShouldHearIt) {
  LaunchOrder order = Order({"/bin/sh", "-c", kFamily});
  order.time_limit = seconds(4);  // long enough for all three to be ready to hear it on a busy machine
  order.stop_signal = SIGUSR1;
  order.stop_target = StopTarget::kAll;
  const Ulid attempt = Launch(std::move(order));
  ASSERT_TRUE(Eventually([&] { return Content("heard").find("stranger") != std::string::npos; }));
  // Only now: once the leader has ended the others are not waited for.
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/end").c_str(), ""));
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kTimeLimit);
  EXPECT_NE(Content("heard").find("stranger"), std::string::npos);
}

// A freezer of the test's own: what sits in it does not even die of KILL, as a process that waits for a
// driver.
class DeepFreeze {
 public:
  explicit DeepFreeze(const std::string& name) : leaf_{Containment::kFreezer, ""} {
    for (const CgroupRoot& root : KnownCgroupRoots(name)) {
      if (root.kind == Containment::kFreezer) leaf_.path = root.folder;
    }
    if (leaf_ && !leaf_.Make()) leaf_.path.clear();
  }
  ~DeepFreeze() {
    if (!leaf_) return;
    Thaw();
    EXPECT_TRUE(Eventually([&] { return leaf_.Remove().has_value(); }));
  }
  explicit operator bool() const { return static_cast<bool>(leaf_); }
  void Take(int pid) const {
    ASSERT_TRUE(PokeFile(leaf_.path + "/cgroup.procs", std::to_string(pid)));
    ASSERT_TRUE(leaf_.Freeze(true));
    ASSERT_TRUE(Eventually(
        [&] { return ReadFile(leaf_.path + "/freezer.state", 64).value_or("").starts_with("FROZEN"); }));
  }
  void Thaw() const { (void)leaf_.Freeze(false); }

 private:
  Cgroup leaf_;
};

TEST_P(LocalEngineTest, WhatSurvivesKillIsSaidToBeUnkillableAndHoldsItsCardUntilItIsGone) {
  const DeepFreeze freezer("frozen-" + instance_);
  if (!freezer) GTEST_SKIP() << "no v1 freezer here";
  LaunchOrder order = Order({"/bin/sh", "-c", "trap '' TERM; exec sleep 1000"});
  order.leases = {TakeLease("card")};
  order.unkillable_after = milliseconds(50);
  const Ulid attempt = Launch(std::move(order));
  freezer.Take(desk_->Wait<AttemptRunning>(attempt)->pid);
  engine_->Stop(attempt, {.reason = "x", .grace = milliseconds(10)});
  desk_->Wait<AttemptUnkillable>(attempt);
  EXPECT_EQ(desk_->CountEnds(attempt), 0);
  EXPECT_TRUE(Running(attempt));
  EXPECT_TRUE(IsHeld("card"));
  LetOthersRun();  // others go on, and it does not end meanwhile
  EXPECT_EQ(desk_->CountEnds(attempt), 0);
  freezer.Thaw();
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.signal, SIGKILL);
  EXPECT_TRUE(record.killed_by_shim);
  EXPECT_EQ(desk_->Count<AttemptUnkillable>(attempt), 1);
}

TEST_P(LocalEngineTest, WhatSurvivesItsSupervisorAndKillIsUnkillableTooAndLostOnlyWhenGone) {
  const DeepFreeze freezer("frozen-" + instance_);
  if (!freezer) GTEST_SKIP() << "no v1 freezer here";
  LaunchOrder order = Order({"/bin/sh", "-c", "exec sleep 1000"});
  order.unkillable_after = milliseconds(50);
  const Ulid attempt = Launch(std::move(order));
  const int task = desk_->Wait<AttemptRunning>(attempt)->pid;
  freezer.Take(task);
  ::kill(ShimOf(attempt), SIGKILL);
  desk_->Wait<AttemptUnkillable>(attempt);
  EXPECT_EQ(desk_->CountEnds(attempt), 0);
  freezer.Thaw();
  EXPECT_TRUE(std::holds_alternative<AttemptLost>(desk_->WaitForEnd(attempt).what));
  EXPECT_FALSE(IsAlive(task));
}

// ---- The truth about an end

TEST_P(LocalEngineTest, SaysThatACoreWasDumped) {
  LaunchOrder order = Order({"/bin/sh", "-c", "ulimit -c unlimited || exit 9; kill -ABRT $$"});
  const ExitRecord record = RunToEnd(std::move(order));
  if (record.exit_code == 9) GTEST_SKIP() << "no cores are allowed here";
  EXPECT_EQ(record.signal, SIGABRT);
  EXPECT_TRUE(record.core_dumped);
  const ExitRecord plain = RunToEnd(Order({"/bin/sh", "-c", "ulimit -c 0; kill -ABRT $$"}));
  EXPECT_EQ(plain.signal, SIGABRT);
  EXPECT_FALSE(plain.core_dumped);
}

// A memory cgroup around this test and all it starts, for a while.
class NarrowMemory {
 public:
  NarrowMemory(const std::string& name, const char* limit) {
    const std::string counter = FindOomCounter(), file = "/memory.oom_control";
    if (!counter.ends_with(file) || ::geteuid() != 0) return;
    home_ = counter.substr(0, counter.size() - file.size());
    path_ = home_ + "/" + name;
    if (::mkdir(path_.c_str(), 0755) != 0) return;
    inside_ = PokeFile(path_ + "/memory.limit_in_bytes", limit) && Move(path_);
  }
  ~NarrowMemory() {
    Leave();
    if (path_.empty()) return;
    EXPECT_TRUE(Eventually([&] { return ::rmdir(path_.c_str()) == 0 || errno == ENOENT; }));
  }
  bool inside() const { return inside_; }
  void Leave() {
    if (!std::exchange(inside_, false)) return;
    EXPECT_TRUE(Move(home_));
  }

 private:
  static bool Move(const std::string& to) {
    return PokeFile(to + "/cgroup.procs", std::to_string(::getpid())).has_value();
  }
  std::string home_, path_;
  bool inside_ = false;
};

// Case 50: hashicorp/nomad#12735, HTCONDOR-3094.
TEST_P(LocalEngineTest, TellsAnOutOfMemoryKillFromSomebodysKillNine) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more memory than this test leaves";
#endif
  engine_.reset();
  NarrowMemory memory("trainyard-" + instance_, "200M");
  if (!memory.inside()) {
    Open();
    GTEST_SKIP() << "no v1 memory cgroup can be made here";
  }
  Open();
  const ExitRecord hungry = RunToEnd(Order({"/bin/sh", "-c", "exec tail /dev/zero"}));
  EXPECT_EQ(hungry.signal, SIGKILL);
  EXPECT_FALSE(hungry.killed_by_shim);
  EXPECT_GT(hungry.oom_kills + hungry.oom_kills_nearby, 0);
  const ExitRecord killed = RunToEnd(Order({"/bin/sh", "-c", "kill -9 $$"}));
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.oom_kills + killed.oom_kills_nearby, 0);
  const ExitRecord like_it = RunToEnd(Order({"/bin/sh", "-c", "exit 137"}));
  EXPECT_EQ(like_it.exit_code, 137);
  EXPECT_EQ(like_it.oom_kills + like_it.oom_kills_nearby, 0);
  memory.Leave();
}

// ---- Hostile trees

// Case 47: actions/runner#4601, windmill-labs/windmill#2403, flux-framework/flux-core#1412.
TEST_P(LocalEngineTest, NothingIsLeftOfAHundredHostileTrees) {
  // Its generations live for a millisecond or two and ignore TERM.
  ASSERT_TRUE(
      WriteFileAt(AT_FDCWD, (home_ + "/chain").c_str(), "trap '' TERM HUP\n: > $1\nsh ./chain $1 &\n"));
  const std::string trees[] = {
      "trap '' TERM; setsid sh -c 'trap \"\" TERM HUP; : > $1; sleep 1000' sh $1 & sleep 1000",
      "(setsid sh -c '(trap \"\" TERM HUP; : > $1; exec sleep 1000) & exit' sh $1 &); sleep 1000",
      "trap '' TERM INT HUP; : > $1; while :; do sleep 1000; done",
      "setsid sh -c 'exec 0<&- 1>&- 2>&-; trap \"\" HUP TERM; : > $1; sleep 1000 & wait' sh $1 & sleep 1000",
      "trap '' TERM; : > $1; while :; do setsid sh -c 'sleep 0.01 &' & sleep 0.005; done",
      "setsid sh ./chain $1 & sleep 1000",
      "trap '' TERM; setsid env -i sleep 1000 & : > $1; exit 0",
  };
  constexpr int kTrees = 100, kAtOnce = 10;
  for (int first = 0; first < kTrees; first += kAtOnce) {
    std::vector<Ulid> attempts;
    std::vector<int> shims;
    for (int i = first; i < first + kAtOnce; ++i) {
      attempts.push_back(
          Launch(Order({"/bin/sh", "-c", trees[i % std::size(trees)], "sh", "ready" + std::to_string(i)})));
    }
    for (int i = 0; i < kAtOnce; ++i) {
      ASSERT_TRUE(Eventually([&] { return Exists(home_ + "/ready" + std::to_string(first + i)); }));
      shims.push_back(ShimOf(attempts[i]));
    }
    for (const Ulid& attempt : attempts) engine_->Stop(attempt, {.reason = "x", .grace = milliseconds(1)});
    for (int i = 0; i < kAtOnce; ++i) {
      desk_->Wait<AttemptExited>(attempts[i]);
      EXPECT_TRUE(FindMarked("TRAINYARD_ID=" + attempts[i].Text()).empty()) << "tree " << first + i;
      EXPECT_TRUE(FindDescendants(shims[i]).empty());
    }
  }
  EXPECT_TRUE(FindInFolder(home_).empty());
}

INSTANTIATE_TEST_SUITE_P(Held, LocalEngineTest,
                         ::testing::Values(Containment::kCgroup2, Containment::kFreezer,
                                           Containment::kSubreaper),
                         [](const auto& info) { return std::string(Name(info.param)); });

}  // namespace
}  // namespace ty

// ---- What is gone, and what was told before we came

namespace ty {
namespace {

TEST_P(LocalEngineTest, ARunWhoseFolderIsGoneIsEndedAndLostAndNeverStartedAgain) {
  const char* kHides =
      "(env -i setsid sh -c 'trap \"\" TERM; exec sleep 1000' &) ; setsid sleep 1000 & "
      "echo $$ > ready; exec sleep 1000";
  for (const bool recorded : {true, false}) {  // as running, or only as about to start
    ::unlink((home_ + "/ready").c_str());
    const Ulid attempt = LaunchScript(kHides);
    desk_->Wait<AttemptRunning>(attempt);
    ReadPid("ready");
    const int shim = ShimOf(attempt);
    ASSERT_TRUE(Eventually([&] { return FindInFolder(home_).size() == 3; }));
    Attempt row = Row(attempt);
    if (recorded) {
      row.state = AttemptState::kRunning;
      row.started = FromNanos(WallNanos());
    }
    engine_.reset();
    ASSERT_TRUE(RemoveTree(home_ + "/attempts"));
    Open();
    Adopt({row});
    EXPECT_TRUE(std::holds_alternative<AttemptLost>(desk_->WaitForEnd(attempt).what));
    EXPECT_TRUE(FindInFolder(home_).empty());
    EXPECT_TRUE(Eventually([&] { return !IsAlive(shim); }));  // it may be on its way out
    EXPECT_EQ(desk_->CountEnds(attempt), 1);
  }
  LaunchOrder never = Order({"/bin/true"});
  Restart({Row(never.attempt)});
  desk_->Wait<AttemptNotStarted>(never.attempt);
}

TEST_P(LocalEngineTest, ARunWhoseEndANewerStateTookInIsNotStartedAgainByAnOlderOne) {
  const Ulid attempt = LaunchScript("exit 0");
  desk_->Wait<AttemptExited>(attempt);
  engine_->Acknowledge(attempt);
  EXPECT_TRUE(Eventually([&] { return !Exists(Folder(attempt).paths().Slot()); }));
  Restart({Row(attempt)});  // as a copy has it that was made while it was being started
  EXPECT_TRUE(std::holds_alternative<AttemptLost>(desk_->WaitForEnd(attempt).what));
}

TEST_P(LocalEngineTest, ARunWhoseDecisionIsGoneIsStillFoundRunning) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  const int pid = desk_->Wait<AttemptRunning>(attempt)->pid;
  engine_.reset();
  ::unlink(Folder(attempt).paths().Decision().c_str());
  Attempt row = Row(attempt);
  row.state = AttemptState::kRunning;
  row.started = FromNanos(WallNanos());
  Open();
  Adopt({row});
  EXPECT_EQ(desk_->Wait<AttemptRunning>(attempt)->pid, pid);
  EXPECT_EQ(desk_->CountEnds(attempt), 0);
}

TEST_P(LocalEngineTest, ARunWhoseFolderGoesUnderItTellsItsEndAllTheSame) {
  const Ulid ends = LaunchScript("while [ ! -e go ]; do sleep 0.05; done; exit 6");
  const Ulid dies = LaunchScript("setsid sleep 1000 & exec sleep 1000");
  desk_->Wait<AttemptRunning>(ends);
  desk_->Wait<AttemptRunning>(dies);
  const int shim = ShimOf(dies);
  ASSERT_TRUE(RemoveTree(home_ + "/attempts"));
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  EXPECT_EQ(desk_->Wait<AttemptExited>(ends)->record.exit_code, 6);
  ::kill(shim, SIGKILL);  // now nobody can tell how it ended
  EXPECT_TRUE(std::holds_alternative<AttemptLost>(desk_->WaitForEnd(dies).what));
  EXPECT_TRUE(FindInFolder(home_).empty());
  EXPECT_EQ(RunToEnd(Order({"/bin/sh", "-c", "exit 3"})).exit_code, 3) << "the folder of all is made again";
}

TEST_P(LocalEngineTest, WhatCannotBeKilledIsStillSaidToBeSoAfterARestart) {
  const DeepFreeze freezer("frozen-" + instance_);
  if (!freezer) GTEST_SKIP() << "no v1 freezer here";
  LaunchOrder order = Order({"/bin/sh", "-c", "trap '' TERM; exec sleep 1000"});
  order.unkillable_after = milliseconds(50);
  const Ulid attempt = Launch(std::move(order));
  freezer.Take(desk_->Wait<AttemptRunning>(attempt)->pid);
  engine_->Stop(attempt, {.reason = "x", .grace = milliseconds(10)});
  desk_->Wait<AttemptUnkillable>(attempt);
  Restart({Row(attempt)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(attempt)->unkillable);
  EXPECT_EQ(desk_->Count<AttemptUnkillable>(attempt), 0) << "told with the rest of its state";
  freezer.Thaw();
  EXPECT_TRUE(desk_->Wait<AttemptExited>(attempt)->record.killed_by_shim);
}

TEST_P(LocalEngineTest, ARunThatNobodyKnowsSaysWhatItHoldsAndWhenItIsGone) {
  LaunchOrder order = Order({"/bin/sh", "-c", "exec sleep 1000"});
  order.devices = {"cpu:1", "GPU-1"};
  order.cpus = {0};
  order.number = 3;
  const Ulid stray = Launch(std::move(order));
  const int pid = desk_->Wait<AttemptRunning>(stray)->pid;
  const int shim = ShimOf(stray);
  Restart({});
  const auto found = desk_->Wait<StrayFound>(stray);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->task, TaskId{7});
  EXPECT_EQ(found->number, 3);
  EXPECT_EQ(found->shim, shim);
  EXPECT_EQ(found->command, "/bin/sh -c exec sleep 1000");
  EXPECT_EQ(found->devices, (std::vector<std::string>{"cpu:1", "GPU-1"}));
  EXPECT_EQ(found->cpus, std::vector<int>{0});
  EXPECT_EQ(desk_->WaitForAdoption(), std::vector<std::string>{stray.Text()});
  EXPECT_TRUE(IsAlive(pid));
  EXPECT_EQ(desk_->Count<StrayGone>(stray), 0);
  ::kill(pid, SIGKILL);
  desk_->Wait<StrayGone>(stray);
}

}  // namespace
}  // namespace ty
