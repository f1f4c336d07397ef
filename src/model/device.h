// Device is something an attempt can lease: a CPU slot, a GPU, or a MIG slice of one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ty {

struct Device {
  enum class Kind : uint8_t { kCpuSlot, kGpu, kMigSlice };
  // "cpu:0"; the UUID of a GPU or MIG slice, which is its identity; "pci:0000:01:00.0" for a card that is on
  // the bus and whose UUID nobody can tell.
  std::string id;
  Kind kind = Kind::kCpuSlot;
  int index = 0;          // of a slot; of a GPU (or a slice's GPU) in PCI bus order, as nvidia-smi counts
  std::string label;      // what people type and read: "cpu:0", "GPU0", "GPU0/1" for MIG device 1 of GPU 0
  std::string name;       // "NVIDIA GeForce RTX 3080"; "CPU slot 0"
  std::string pci;        // "0000:01:00.0", lower case; empty for slots
  std::vector<int> cpus;  // CPUs a slot is pinned to
  int64_t memory = 0;     // bytes in all: RAM/N for a slot
  int64_t reserved = 0;   // of them, what the driver keeps for itself and can give to nobody
  double strength = 0;    // of a GPU: cores x MHz, to give the better card to the more important task
  bool usable = true;     // as the probe sees it
  bool operator==(const Device&) const = default;

  int64_t to_give() const { return memory - reserved; }  // bytes that tasks can share
};

inline bool IsGpu(const Device& device) {
  return device.kind != Device::Kind::kCpuSlot;
}

// The machine as the probe saw it.
struct Machine {
  std::vector<Device> devices;
  int cores = 1;         // CPUs the daemon may use
  int64_t memory = 0;    // bytes of RAM
  bool complete = true;  // false: GPUs are or may be here that cannot be read now, so nobody knows how many
};

}  // namespace ty
