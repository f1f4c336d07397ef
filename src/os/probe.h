// DeviceProbe finds the CPU slots of this machine; GPUs come from os/device_watch.h.
#pragma once

#include <cstdint>
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

// `--devices`: "" is GPUs where there are any, else one slot of all cores; "cpu:N" splits the daemon's
// affinity mask into N slots (contracts C6) and leaves GPUs alone; "gpu" is GPUs and never a slot, "gpu:0,2"
// those of these numbers.
struct DeviceChoice {
  int cpu_slots = 1;
  enum class Kind : uint8_t { kAuto, kCpu, kGpu } kind = Kind::kAuto;
  std::vector<int> gpus;  // of kGpu; empty: all
  static Result<DeviceChoice> Parse(std::string_view text);
};
// Pure: N slots of floor(C/N) CPUs, at least one, shared round-robin when N > C; memory RAM/N each.
Machine SplitCpus(const std::vector<int>& cpus, int64_t memory, const DeviceChoice& choice);
std::unique_ptr<DeviceProbe> MakeCpuProbe(const DeviceChoice& choice);
}  // namespace ty
