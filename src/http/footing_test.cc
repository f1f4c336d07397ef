#include "http/footing.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "http/scout.h"

namespace ty {
namespace {

class FootingTest : public testing::Test {
 protected:
  FootingTest() {
    char folder[] = "/tmp/ty_footing_XXXXXX";
    folder_ = mkdtemp(folder);
    std::filesystem::create_directories(folder_ + "/bin/folder");
    std::filesystem::create_directories(folder_ + "/work");
    Write("bin/python3", 0755);
    Write("bin/plain", 0644);
    Write("work/run.sh", 0755);
    Write("work/text", 0644);
  }
  ~FootingTest() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& name, mode_t mode) {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n";
    ::chmod((folder_ + "/" + name).c_str(), mode);
  }
  // "field message" of each fault, or "fine".
  std::string Said(std::string program, std::string workdir = "work", const std::string& path = "bin") {
    std::string said;
    for (const Error& fault :
         LookAt({folder_ + "/" + workdir, std::move(program), path.empty() ? "" : folder_ + "/" + path}))
      said += (said.empty() ? "" : "; ") + fault.field + " " + fault.message.id;
    return said.empty() ? "fine" : said;
  }

  std::string folder_;
};

TEST_F(FootingTest, FindsAProgramOnThePathOfTheTaskOrFromItsFolder) {
  EXPECT_EQ(Said("python3"), "fine");
  EXPECT_EQ(Said("./run.sh"), "fine");
  EXPECT_EQ(Said("../bin/python3"), "fine");
  EXPECT_EQ(Said("/bin/sh"), "fine");
  EXPECT_EQ(Said("anything", "work", ""), "fine") << "without a PATH execvp has one of its own";
}

TEST_F(FootingTest, NamesWhatIsNotThere) {
  EXPECT_EQ(Said("python"), "/command submit.no_python");
  EXPECT_EQ(Said("julia"), "/command submit.no_program");
  EXPECT_EQ(Said("plain"), "/command submit.no_program") << "not executable";
  EXPECT_EQ(Said("folder"), "/command submit.no_program");
  EXPECT_EQ(Said("run.sh"), "/command submit.program_here");
  EXPECT_EQ(Said("./none"), "/command submit.no_program_file");
  EXPECT_EQ(Said("/none/at/all"), "/command submit.no_program_path");
  EXPECT_EQ(Said("./text"), "/command submit.program_not_executable");
  EXPECT_EQ(Said("../bin/folder"), "/command submit.program_is_folder");
}

TEST_F(FootingTest, NamesFolderAndProgramTogether) {
  EXPECT_EQ(Said("python", "none"), "/workdir submit.no_folder; /command submit.no_python");
  EXPECT_EQ(Said("python3", "work/text"), "/workdir submit.not_folder");
  EXPECT_EQ(Said("./run.sh", "none"), "/workdir submit.no_folder") << "nothing is known of what is in it";
}

TEST_F(FootingTest, TakesThePathFromTheTasksVariablesThenItsShellThenTheYard) {
  TaskSpec spec;
  spec.argv = {"train", "x"};
  spec.workdir = "/w";
  const Variables basics{{"PATH", "/yard"}};
  EXPECT_EQ(FootingOf(spec, basics).path, "/yard");
  spec.environment = {{"PATH", "/shell"}};
  EXPECT_EQ(FootingOf(spec, basics).path, "/shell");
  spec.variables = {{"PATH", "/own"}};
  EXPECT_EQ(FootingOf(spec, basics).path, "/own");
  EXPECT_EQ(FootingOf(spec, basics).program, "train");
  EXPECT_EQ(FootingOf(spec, basics).workdir, "/w");
}

// What is posted waits until the test runs it; timers go when the test says so.
class WaitingLoop final : public Loop {
 public:
  void Post(std::function<void()> act) override {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(act));
    came_.notify_all();
  }
  std::shared_ptr<void> After(Duration, std::function<void()> act) override {
    auto timer = std::make_shared<std::function<void()>>(std::move(act));
    timers_.push_back(timer);
    return timer;
  }
  void RunOne() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return !posted_.empty(); });
    auto act = std::move(posted_.front());
    posted_.pop_front();
    lock.unlock();
    act();
  }
  void PassAllTime() {
    for (const auto& weak : std::exchange(timers_, {}))
      if (auto timer = weak.lock()) (*timer)();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::function<void()>> posted_;
  std::vector<std::weak_ptr<std::function<void()>>> timers_;
};

// A disk that answers once it is let go.
struct Disk {
  void Hang() {
    std::unique_lock lock(mutex);
    ++hanging;
    changed.notify_all();
    changed.wait(lock, [this] { return back; });
    --hanging;
    changed.notify_all();
  }
  void Await(int count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return hanging == count; });
  }
  void ComeBack() {
    std::lock_guard lock(mutex);
    back = true;
    changed.notify_all();
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool back = false;
  int hanging = 0;
};

std::vector<Error> OneFault() {
  return {{Code::kInvalid, {"a.fault", {}}, "/workdir"}};
}

TEST(Scout, TellsOnTheLoopWhatWasSeen) {
  WaitingLoop loop;
  Scout scout(loop);
  std::vector<Error> seen;
  scout.Send(OneFault, [&](std::vector<Error> faults) { seen = std::move(faults); });
  EXPECT_TRUE(seen.empty());
  loop.RunOne();
  EXPECT_EQ(seen.size(), 1u);
}

TEST(Scout, ADiskThatDoesNotAnswerIsNoFaultAndHoldsUpNobodyElse) {
  auto disk = std::make_shared<Disk>();
  WaitingLoop loop;
  int told = 0, faults = 0;
  auto then = [&](const std::vector<Error>& seen) {
    ++told;
    faults += static_cast<int>(seen.size());
  };
  {
    Scout scout(loop);
    auto hang = [disk] {
      disk->Hang();
      return OneFault();
    };
    scout.Send(hang, then);
    disk->Await(1);
    scout.Send(OneFault, then);
    loop.RunOne();
    EXPECT_EQ(told, 1);
    EXPECT_EQ(faults, 1);
    loop.PassAllTime();
    EXPECT_EQ(told, 2) << "after a while it is said that nothing was seen";
    EXPECT_EQ(faults, 1);
    scout.Send(hang, then);
    disk->Await(2);
  }
  disk->ComeBack();  // whoever still looked finds nobody to tell
  disk->Await(0);
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace ty
