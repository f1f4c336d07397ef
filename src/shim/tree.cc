#include "shim/tree.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "posix/files.h"
#include "posix/process.h"

namespace ty {

namespace {

// Bounds: on a tree that forks without end, and on a machine where others do.
constexpr int kRounds = 100, kQuietRounds = 10;

void Nap() {
  const timespec pause = {0, 1'000'000};
  ::nanosleep(&pause, nullptr);
}

// The number given last to any process: the last word of /proc/loadavg. The same before and after a look
// around means that nobody was born meanwhile.
int NewestPid() {
  const std::string text = ReadFile("/proc/loadavg", 256).value_or("");
  return atoi(text.c_str() + text.rfind(' ') + 1);
}

// The children of all its threads, as the kernel lists them; nothing on a kernel that does not.
std::vector<int> ListChildren(int pid) {
  std::vector<int> children;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task/";
  for (const std::string& thread : ListFolder(folder).value_or(std::vector<std::string>{})) {
    const std::string text = ReadFile(folder + thread + "/children", 16 << 20).value_or("");
    const char* at = text.c_str();
    for (char* end = nullptr;; at = end) {
      const long child = strtol(at, &end, 10);
      if (end == at) break;
      children.push_back(static_cast<int>(child));
    }
  }
  return children;
}

bool IsStopped(const ProcessStat& stat) {
  return stat.state == 'T' || stat.state == 't';
}

// Quickly, each as soon as it is seen: one that lives on in a child every millisecond is gone by the time all
// processes of the machine are listed.
void StopBelow(int ancestor) {
  std::vector<int> parents = {ancestor};
  while (!parents.empty()) {
    const int parent = parents.back();
    parents.pop_back();
    for (const int child : ListChildren(parent)) {
      const auto stat = ReadProcessStat(child);
      if (!stat || stat->parent != parent || stat->state == 'Z' || stat->state == 'X') continue;
      if (!IsStopped(*stat)) (void)SignalProcess({child, stat->start}, SIGSTOP);
      parents.push_back(child);
    }
  }
}

}  // namespace

void Tree::Signal(int signal) const {
  for (const Process& process : FindDescendants(::getpid())) (void)SignalProcess(process, signal);
}

void Tree::Kill(bool again) const {
  leaf_.Kill();
  // What stands still has no children behind our back.
  if (!leaf_ && again) StopAll();
  // Besides the cgroup: somebody may have walked out of it. Those killed above are zombies now or about to
  // be.
  Signal(SIGKILL);
}

SysStatus Tree::Freeze(bool frozen) const {
  if (leaf_) {
    auto done = leaf_.Freeze(frozen);
    if (!done && frozen) (void)leaf_.Freeze(false);  // half-way is no state to be left in
    return done;
  }
  if (frozen) {
    StopAll();
  } else {
    ContinueAll();
  }
  return {};
}

// Nothing but signals at this level: a child forked between our look and its parent's stop runs on. So we
// look until two rounds on end find everybody stopped and nobody was born during both: whoever the first one
// missed, as it was being born, is seen by the second. Where others on the machine fork all the time, several
// rounds have to do. One that waits for a disk, a device or its own vfork (D) runs nothing and stops when it
// wakes.
void Tree::StopAll() const {
  std::vector<Process> told;
  int newest = -1, unbroken = 0, quiet = 0;
  for (int round = 0; round < kRounds; ++round) {
    StopBelow(::getpid());
    const int before = NewestPid();
    bool still = true;
    for (const Process& process : FindDescendants(::getpid())) {
      const auto stat = ReadProcessStat(process.pid);
      if (!stat || stat->start != process.start || IsStopped(*stat)) continue;
      const bool known = std::find(told.begin(), told.end(), process) != told.end();
      if (known && stat->state == 'D') continue;
      if (!known) told.push_back(process);
      (void)SignalProcess(process, SIGSTOP);
      still = false;
    }
    if (!still) {
      unbroken = quiet = 0;
      if (round > 0) Nap();
      continue;
    }
    const int after = NewestPid();
    unbroken = before != after ? 0 : before == newest ? unbroken + 1 : 1;
    newest = after;
    if (unbroken == 2 || ++quiet == kQuietRounds) return;
  }
}

// Everybody once, then whoever came to a stop meanwhile (a signal that was still on its way). What the task
// itself had stopped before, as a shell does with its jobs, goes on too: nobody can tell it from ours.
void Tree::ContinueAll() const {
  Signal(SIGCONT);
  for (int round = 0; round < 3; ++round) {
    bool moving = true;
    for (const Process& process : FindDescendants(::getpid())) {
      const auto stat = ReadProcessStat(process.pid);
      if (!stat || stat->start != process.start || stat->state != 'T') continue;
      (void)SignalProcess(process, SIGCONT);
      moving = false;
    }
    if (moving) return;
  }
}

bool Tree::Gone() const {
  return !leaf_ || leaf_.Remove() || !leaf_.Populated();
}

}  // namespace ty
