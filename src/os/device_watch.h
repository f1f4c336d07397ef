// DeviceWatch looks at the GPUs of this machine again and again, through NVML in a helper process that may
// hang or crash alone. What it saw comes as a DeviceReport through the callback given at construction, from
// the watch's own thread. Nobody ever waits for NVML but that thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/message.h"
#include "base/result.h"
#include "base/time.h"
#include "model/device.h"

namespace ty {

// How the whole of NVML is.
enum class ProbeState : uint8_t {
  kNone,          // no NVIDIA card on the bus and no library: a machine without GPUs
  kGood,          // it answers
  kNoLibrary,     // a card is there, libnvidia-ml.so.1 is not
  kNoDriver,      // the kernel module is not loaded
  kMismatch,      // library and kernel module are of different versions: a reboot is needed
  kNoPermission,  // /dev/nvidia* may not be opened
  kHanging,       // a call did not come back; the helper was ended
  kCrashed,       // the helper died
  kFailing,       // another error of NVML, see `detail`
};
std::string_view Name(ProbeState state);  // "none", "good", "no_library", …

// How one device is.
enum class DeviceHealth : uint8_t {
  kGood,
  kLost,     // fell off the bus (NVML_ERROR_GPU_IS_LOST), or was there before and is not any more
  kFailing,  // its handle gives another error, see `detail`
  kNoPermission,
  kUncorrectable,  // uncorrectable ECC errors since boot, or rows that could not be remapped
  kAbsent,         // chosen by a number that no GPU here has; `detail`: the labels of those there are
};
std::string_view Name(DeviceHealth health);  // "good", "lost", …

struct DeviceProcess {
  int pid = 0;  // in the PID namespace of NVML, which is the host's
  enum class Type : uint8_t { kCompute, kGraphics } type = Type::kCompute;  // both: kCompute
  bool draws = false;             // in both lists: some drivers list what a desktop runs so
  std::optional<int64_t> memory;  // bytes on this device; unknown in some drivers
  bool visible = false;           // found in /proc: user, command and since are its
  std::string user, command;      // "ann", "python train.py --lr 1" (at most 200 bytes)
  std::optional<Time> since;
  uint64_t start = 0;           // start time in ticks: with the pid its identity
  std::optional<Ulid> attempt;  // of a yard of this user: by its cgroup or marker
};

// What cannot be read is absent, never zero. Units as named.
struct DeviceReading {
  Device device;
  DeviceHealth health = DeviceHealth::kGood;
  std::string detail;                        // NVML's words for what failed, or empty
  std::optional<int64_t> memory_used;        // bytes, without what the driver keeps for itself
  std::optional<int64_t> memory_free;        // bytes that can still be allocated
  std::optional<double> utilisation;         // of compute, 0 to 1
  std::optional<double> memory_utilisation;  // of the memory bus, 0 to 1
  std::optional<double> temperature_c;
  std::optional<double> power_w, power_limit_w;
  std::optional<double> clock_mhz, memory_clock_mhz;
  std::optional<double> fan;                 // 0 to 1
  std::vector<std::string> throttle;         // "power_cap", "thermal", "hw_slowdown", …; idle is not one
  std::optional<int64_t> ecc_uncorrectable;  // since boot (volatile)
  std::optional<std::vector<DeviceProcess>> processes;  // absent: the driver does not tell (a container)
};

// A critical error the driver reported for a device (nvmlEventTypeXidCriticalError).
struct DeviceXid {
  std::string device;  // id
  int64_t xid = 0;
};
// What an XID says about the card. Source: NVIDIA, "XID Errors" (docs.nvidia.com/deploy/xid-errors).
enum class XidClass : uint8_t {
  kApplication,  // a fault of the program that ran: 13, 31, 43, 45, 68, 69, …
  kHardware,     // the card must be looked at: 48, 62, 64, 74, 79, 95, 119, …
  kHarmless,     // informational: 63 (row remapped), 92 (many corrected errors), …
};
XidClass ClassOfXid(int64_t xid);  // an unknown one counts as kApplication

// A device that another yard of this host has (contracts C8).
struct HostHolder {
  std::string user;      // owner of the other yard; empty when its note cannot be read
  std::string instance;  // of the other yard
  int64_t task = 0;
  std::string task_name;
  std::optional<Time> since;
  bool operator==(const HostHolder&) const = default;
};

// Memory that the processes of an attempt use in RAM, for shares of CPU slots.
struct AttemptMemory {
  Ulid attempt;
  int64_t bytes = 0;
};

struct DeviceReport {
  Time at;
  ProbeState state = ProbeState::kNone;
  std::string detail;                  // NVML's words, or empty
  std::string driver, cuda;            // "550.54.14", "12.4"; empty when unknown
  std::vector<DeviceReading> devices;  // GPUs and MIG slices in the order of their numbers; with a state
                                       // other than kGood: cards on the bus, unreadable
  std::vector<DeviceXid> xids;         // new since the last report
  bool lists_trusted = false;          // process lists are complete: our PID namespace is the host's
  std::vector<std::string> asked;      // devices whose host lease was looked at
  std::vector<std::pair<std::string, HostHolder>> elsewhere;  // by device id, of those asked for
  std::vector<AttemptMemory> memory;                          // of those asked for
};

// What the Yard wants to be looked at.
struct WatchWish {
  bool often = false;  // something runs on GPUs or waits for one: every second, else every ten
  std::vector<std::string> elsewhere;        // devices that may be another yard's: those we hold no lease on
  std::vector<std::pair<Ulid, int>> memory;  // attempts and their first process
  bool operator==(const WatchWish&) const = default;
};

class DeviceWatch {
 public:
  virtual ~DeviceWatch() = default;
  virtual void Want(WatchWish wish) = 0;
  virtual void LookNow() = 0;  // a report soon, whatever the period
};

struct DeviceWatchSettings {
  std::string program;             // the helper: this program, called as `PROGRAM probe-devices`
  std::string library;             // $TRAINYARD_NVML, or empty for libnvidia-ml.so.1
  std::string instance;            // of this yard, to tell its own host leases
  bool gpus = true;                // false: only what attempts use in RAM (`--devices cpu:N`)
  std::vector<int> only;           // GPU numbers to use (`--devices gpu:0,2`); empty: all
  Duration patience = seconds(5);  // for one answer of the helper; its first may take six times as long
                                   // before it is ended, and counts as hanging meanwhile
  std::string machine_root;        // goes before /sys and /dev: tests have machines of their own
  std::string lease_folder;        // of host leases, as OpenHostLeases takes it
};

// Whether there is anything to watch: a library was named, or an NVIDIA card is on the PCI bus, or its device
// nodes are there (containers, WSL). Costs a few stat calls.
bool MayHaveGpus(const DeviceWatchSettings& settings);

// The first report is waited for at most `patience`; the watch goes on in any case.
std::unique_ptr<DeviceWatch> StartDeviceWatch(const DeviceWatchSettings& settings,
                                              std::function<void(DeviceReport)> report);

// The helper's main loop: answers each line on stdin with one line of JSON on stdout until stdin ends.
// `library` as in the settings. Returns the exit code.
int RunProbeHelper(const std::string& library);

}  // namespace ty
