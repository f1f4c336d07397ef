#include "os/process_facts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "posix/files.h"

namespace ty {
namespace {

constexpr int64_t kMib = 1 << 20;

// A supervisor that holds 32 MiB, with a first process that holds 8, which has a child that holds 4.
class Tree {
 public:
  explicit Tree(const char* name) {
    EXPECT_EQ(pipe(pipe_), 0);
    shim_ = fork();
    if (shim_ == 0) {
      prctl(PR_SET_NAME, name);
      prctl(PR_SET_CHILD_SUBREAPER, 1);
      if (fork() == 0) {
        prctl(PR_SET_NAME, "python");
        if (fork() == 0) Hold(4);
        Hold(8);
      }
      Hold(32);
    }
    for (int i = 0; i < 3; ++i) {
      std::pair<int, int> said;
      EXPECT_EQ(read(pipe_[0], &said, sizeof said), static_cast<ssize_t>(sizeof said));
      if (said.second == 8) first_ = said.first;
      if (said.second == 4) second_ = said.first;
      pids_.push_back(said.first);
    }
  }
  ~Tree() {
    for (const int pid : pids_) kill(pid, SIGKILL);
    waitpid(shim_, nullptr, 0);
    close(pipe_[0]);
    close(pipe_[1]);
  }
  int first() const { return first_; }
  int second() const { return second_; }
  int shim() const { return shim_; }

 private:
  [[noreturn]] void Hold(int mib) {
    std::vector<char> memory(static_cast<size_t>(mib * kMib));
    memset(memory.data(), mib, memory.size());
    const std::pair<int, int> said = {getpid(), mib};
    if (write(pipe_[1], &said, sizeof said) < 0) _exit(1);
    for (;;) pause();
  }
  int pipe_[2];
  int shim_ = 0, first_ = 0, second_ = 0;
  std::vector<int> pids_;
};

int64_t Measure(AttemptMeter& meter, int first) {
  const auto memory = meter.Measure({{Ulid::Make(FromNanos(1)), first}});
  return memory.size() == 1 ? memory[0].bytes : -1;
}

TEST(AttemptMeter, CountsTheTreeUnderTheSupervisorWithoutIt) {
  const Tree tree("trainyard-shim");
  AttemptMeter meter, fresh;
  const Ulid attempt = Ulid::Make(FromNanos(1));
  const auto measure = [&] { return meter.Measure({{attempt, tree.first()}}).at(0); };
  const int64_t second = Measure(fresh, tree.second()), all = Measure(fresh, tree.shim());
  const AttemptMemory memory = measure();
  EXPECT_EQ(memory.attempt, attempt);
  EXPECT_GE(second, 4 * kMib);
  EXPECT_GE(memory.bytes, second + 8 * kMib);
  EXPECT_GE(all, memory.bytes + 32 * kMib);
  // What the first process leaves behind goes to the supervisor; the yard still asks by the number of the
  // first.
  kill(tree.first(), SIGKILL);
  while (true) {
    const auto stat = ReadProcessStat(tree.first());
    if (!stat || stat->state == 'Z') break;
  }
  EXPECT_EQ(measure().bytes, second);
}

TEST(AttemptMeter, CountsTheFirstProcessesTreeWhenItsParentIsNoSupervisor) {
  const Tree tree("systemd");
  AttemptMeter meter;
  const int64_t tree_of_first = Measure(meter, tree.first());
  EXPECT_GE(tree_of_first, Measure(meter, tree.second()) + 8 * kMib);
  EXPECT_GE(Measure(meter, tree.shim()), tree_of_first + 32 * kMib);
}

TEST(AttemptMeter, KnowsNothingOfAProcessThatIsGone) {
  AttemptMeter meter;
  const auto memory = meter.Measure({{Ulid::Make(FromNanos(1)), 0x3FFFFFFF}});
  ASSERT_EQ(memory.size(), 1u);
  EXPECT_EQ(memory[0].bytes, 0);
  EXPECT_TRUE(meter.Measure({}).empty());
}

// queues.md 94: in a container the number of a process of the host names another one here, or none.
TEST(ProcessFacts, TakesANumberOfAnotherNamespaceOnlyForAProcessOfAnAttempt) {
  ProcessFacts facts;
  DeviceProcess process;
  process.pid = getpid();
  EXPECT_TRUE(facts.Fill(process, true));
  EXPECT_TRUE(process.visible);
  DeviceProcess stranger;
  stranger.pid = getpid();
  EXPECT_FALSE(facts.Fill(stranger, false));
  EXPECT_FALSE(stranger.visible);
  EXPECT_TRUE(stranger.command.empty());
}

TEST(ProcessFacts, ShowsHostileCommandsHarmlessAndShort) {
  int pipes[2];
  ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
  const int pid = fork();
  if (pid == 0) {
    const std::string word = "\x1b[31m" + std::string(1000, 'x');
    char* argv[] = {const_cast<char*>("/bin/sh"), const_cast<char*>("-c"), const_cast<char*>("read x"),
                    const_cast<char*>(word.c_str()), nullptr};
    int hold[2];
    if (pipe(hold) != 0) _exit(1);
    dup2(hold[0], 0);
    execve(argv[0], argv, nullptr);
    _exit(127);
  }
  close(pipes[1]);
  char byte;
  EXPECT_EQ(read(pipes[0], &byte, 1), 0);
  close(pipes[0]);
  // The pipe closes a moment before the words can be read.
  const std::string words = "/proc/" + std::to_string(pid) + "/cmdline";
  while (ReadFile(words, 1 << 16).value_or("").empty()) usleep(1000);
  ProcessFacts facts;
  DeviceProcess process;
  process.pid = pid;
  EXPECT_TRUE(facts.Fill(process, true));
  EXPECT_LE(process.command.size(), 200u);
  EXPECT_EQ(process.command.find('\x1b'), std::string::npos);
  EXPECT_EQ(process.command.rfind("/bin/sh -c read x ", 0), 0u) << process.command;
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace ty
