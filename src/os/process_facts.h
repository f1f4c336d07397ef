// What /proc tells about processes that others name by number.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "os/device_watch.h"
#include "posix/process.h"

namespace ty {

// Whether process numbers of the host are process numbers here: our PID namespace is the first one, or
// TRAINYARD_NVML_PIDS=ours says that NVML speaks of ours (a container that has the machine to itself).
bool HostPidsAreOurs();

// Facts of processes, kept while the same process is asked for again: reading a big environment each second
// would cost.
class ProcessFacts {
 public:
  // Fills what /proc knows of process.pid. False when there is no such process. With `ours` false the number
  // may mean another process here: then only one of an attempt of ours, or one that has an NVIDIA device
  // open, is taken for it.
  bool Fill(DeviceProcess& process, bool ours);
  void Forget();  // those not asked for since the last call

 private:
  struct Facts {
    DeviceProcess process;
    bool has_gpu = false;
    bool asked = true;
  };
  std::map<std::pair<int, uint64_t>, Facts> facts_;
};

// The attempt a process belongs to: by its cgroup "a-<ULID>", else by TRAINYARD_ID in its environment.
std::optional<Ulid> AttemptOf(int pid);

// RAM of attempts: what the descendants of the supervisor of each first process hold for themselves.
class AttemptMeter {
 public:
  std::vector<AttemptMemory> Measure(const std::vector<std::pair<Ulid, int>>& attempts);

 private:
  std::map<Ulid, Process> shims_;  // the first process may end before the others
};

}  // namespace ty
