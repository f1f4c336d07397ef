// DeviceProbe finds what this machine can lease. CPU slots now; NVML comes with "Devices and sharing".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/device.h"

namespace ty {
class DeviceProbe {
 public:
  virtual ~DeviceProbe() = default;
  virtual Machine Find() = 0;
};

// `--devices`: "" is one slot of all cores; "cpu:N" splits the daemon's affinity mask into N slots (contracts
// C6).
struct DeviceChoice {
  int cpu_slots = 1;
  static Result<DeviceChoice> Parse(std::string_view text);
};
// Pure: N slots of floor(C/N) CPUs, at least one, shared round-robin when N > C; memory RAM/N each.
Machine SplitCpus(const std::vector<int>& cpus, int64_t memory, const DeviceChoice& choice);
std::unique_ptr<DeviceProbe> MakeCpuProbe(const DeviceChoice& choice);
}  // namespace ty
