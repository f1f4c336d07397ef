// Processes: who they are, how to start one quickly from a big program, how to signal one without ever
// hitting another that got its number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "posix/fd.h"

namespace ty {

// Names this boot of the machine: differs after every restart, also after a power cut. Empty when /proc is
// missing.
std::string BootId();

// What /proc/PID/stat says. `start` is in clock ticks since boot: together with the boot id and the number it
// is a process's identity.
struct ProcessStat {
  char state = '?';
  int parent = 0, group = 0, session = 0;
  uint64_t start = 0;
};
std::optional<ProcessStat> ReadProcessStat(int pid);
std::optional<uint64_t> ProcessStartTime(int pid);
std::vector<int> ListProcesses();

struct Process {
  int pid = 0;
  uint64_t start = 0;
  bool operator==(const Process&) const = default;
};
// Every living process below `ancestor` (not itself), by the chain of parents. Zombies are not counted.
std::vector<Process> FindDescendants(int ancestor);
// Every living process whose environment holds exactly this `K=V`, but not ourselves.
std::vector<Process> FindMarked(const std::string& marker);
// Does one of its descriptors write to this file (device and inode of `path`)?
bool WritesTo(int pid, const std::string& path);

// Signals that very process; ESRCH when it is gone, whoever has its number now.
SysStatus SignalProcess(const Process& process, int signal);
SysResult<UniqueFd> OpenPidfd(int pid);

struct Child {
  int pid = 0;
  UniqueFd pidfd;  // empty on kernels without
};
struct CloneOptions {
  int cgroup = -1;      // a cgroup v2 folder to be born in
  int join_procs = -1;  // else a cgroup.procs file to write to before `entry`
};
// Starts a child that shares our memory until it calls execve or returns (vfork with a stack of its own): it
// costs the same however big we are. `entry` may only use async-signal-safe calls and must not touch what
// others need; what it stores is seen here. It starts with all signals blocked, see RestoreSignals. Its
// return value is the exit code. The caller waits for the child.
SysResult<Child> CloneChild(const CloneOptions& options, int (*entry)(void*), void* argument);

// For `entry`: default actions for all signals, none blocked.
void RestoreSignals();
// Marks every descriptor from `first` on to be closed at execve.
void CloseOnExecFrom(int first);

}  // namespace ty
