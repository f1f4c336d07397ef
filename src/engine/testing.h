// Drives the real supervisor with real processes, once for every way to hold a tree that works here.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/paths.h"
#include "engine/engine.h"
#include "engine/local/folder.h"
#include "posix/cgroups.h"
#include "posix/clocks.h"
#include "posix/files.h"
#include "posix/locks.h"
#include "posix/process.h"

namespace ty {

inline constexpr seconds kPatience(60);  // only a broken program comes near it
inline const std::string kShim = TY_BINARY_DIR "/bin/trainyard-shim";

// Waits for something that somebody else brings about and tells nobody.
inline bool Eventually(const std::function<bool()>& condition) {
  const int64_t until = MonotonicNanos() + Duration(kPatience).count();
  while (!condition()) {
    if (MonotonicNanos() > until) return false;
    ::usleep(2000);
  }
  return true;
}

inline bool IsAlive(int pid) {
  const auto stat = ReadProcessStat(pid);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

// Whoever works in this folder, whatever it made of its variables.
inline std::vector<int> FindInFolder(const std::string& folder) {
  std::vector<int> found;
  for (const int pid : ListProcesses()) {
    if (pid == ::getpid() || !IsAlive(pid)) continue;
    const std::string link = "/proc/" + std::to_string(pid) + "/cwd";
    if (ReadLinkAt(AT_FDCWD, link.c_str()).value_or("") == folder) found.push_back(pid);
  }
  return found;
}

// What the engine says, attempt by attempt.
class NewsDesk {
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
    desk_ = std::make_unique<NewsDesk>();
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
  std::unique_ptr<NewsDesk> desk_;
  std::unique_ptr<Engine> engine_;
  std::vector<Ulid> launched_;
};

// On a machine that stalls the task may have been silent sooner than it meant to be, and a word may still
// come between the decision and the signal: only the whole is measured. Where all was said, the 7 was said
// 0.6 s after the start at the soonest, and a silence of 0.4 s came after it.
inline void ExpectSilence(const ExitRecord& record, const std::string& log) {
  const std::string said = ReadFile(log, 1 << 20).value_or(""), all = "1\n2\n3\n4\n5\n6\n7\n8\n";
  EXPECT_TRUE(all.starts_with(said)) << said;
  EXPECT_GE(ToNanos(record.ended) - ToNanos(record.started), said == all ? 990'000'000 : 390'000'000);
}

}  // namespace ty
