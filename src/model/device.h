// Device is something an attempt can lease: a CPU slot now; GPUs and MIG slices with "Devices and sharing".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace ty {

struct Device {
  enum class Kind : uint8_t { kCpuSlot, kGpu };
  std::string id;  // "cpu:0"; a GPU's UUID
  Kind kind = Kind::kCpuSlot;
  std::string name;       // "CPU slot 0"
  std::vector<int> cpus;  // CPUs a slot is pinned to
  int64_t memory = 0;     // bytes: RAM/N for a slot
  bool usable = true;
  bool operator==(const Device&) const = default;
};

// The machine as the probe saw it.
struct Machine {
  std::vector<Device> devices;
  int cores = 1;       // CPUs the daemon may use
  int64_t memory = 0;  // bytes of RAM
};

}  // namespace ty
