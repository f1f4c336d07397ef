// The part of NVML's C ABI that we use, in our own words: layouts and numbers as in NVIDIA's public nvml.h. A
// test loads a library built on this page with NVIDIA's own Python binding and reads everything back.
#pragma once

#include <cstddef>

namespace ty::nvml {

struct DeviceObject;
struct EventSet;
using Handle = DeviceObject*;  // of a GPU or a MIG device: opaque
using Events = EventSet*;

enum Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kVersionMismatch = 18,
  kInUse = 19,
  kMemoryError = 20,
  kNoData = 21,
  kGpuNotFound = 28,
  kUnknown = 999,
};

struct Memory {
  unsigned long long total, free, used;  // used: with what the driver keeps for itself
};
struct MemoryV2 {
  unsigned version;                                // kMemoryV2
  unsigned long long total, reserved, free, used;  // used: without
};
constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2U << 24;

struct ProcessV1 {
  unsigned pid;
  unsigned long long used;  // kNotAvailable: the driver does not say
};
struct ProcessV2 {  // v3 is the same
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;  // kNoInstance outside MIG
};
constexpr unsigned long long kNotAvailable = ~0ULL;
constexpr unsigned kNoInstance = 0xFFFFFFFF;

struct PciInfo {  // v3
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct PciInfoV1 {
  char bus_id[16];
  unsigned domain, bus, device, pci_device_id, reserved[5];
};
struct Utilization {
  unsigned gpu, memory;  // per cent
};
struct EventData {
  Handle device;
  unsigned long long type, data;            // data: the number of an XID
  unsigned gpu_instance, compute_instance;  // v1 ends before
};

constexpr unsigned long long kXidEvent = 0x8;
constexpr unsigned kClockSm = 1, kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;
constexpr unsigned kUncorrectedErrors = 1, kVolatileErrors = 0;
constexpr unsigned kMigEnabled = 1;

constexpr size_t kNameSize = 96, kUuidSize = 96, kVersionSize = 80;

constexpr unsigned long long kSlowIdle = 0x1, kSlowClockSetting = 0x2, kSlowPowerCap = 0x4,
                             kSlowHardware = 0x8, kSlowSyncBoost = 0x10, kSlowThermal = 0x20,
                             kSlowHardwareThermal = 0x40, kSlowPowerBrake = 0x80, kSlowDisplayClock = 0x100;

static_assert(sizeof(Memory) == 24 && sizeof(MemoryV2) == 40 && kMemoryV2 == 0x02000028);
static_assert(sizeof(ProcessV1) == 16 && sizeof(ProcessV2) == 24 && offsetof(ProcessV2, gpu_instance) == 16);
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36 && sizeof(PciInfoV1) == 52);
static_assert(sizeof(EventData) == 32 && offsetof(EventData, data) == 16);

}  // namespace ty::nvml
