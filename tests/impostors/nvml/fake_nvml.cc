// clang-format off
// A library with NVML's ABI and cards of paper, steered by the text file that $FAKE_NVML names. It is read
// again whenever it changed, so a test turns a card off by writing the file (beside it, then rename: a half
// written one would be believed).
//
//   # comment; words are parted by blanks, memory is in MiB
//   driver 550.54.14
//   cuda 12.4
//   init LIB_RM_VERSION_MISMATCH                 nvmlInit fails so; any NVML_ERROR_ name without its prefix
//   error nvmlDeviceGetCount UNKNOWN             this function fails so, in every version of it
//   hang nvmlDeviceGetUtilizationRates           … never comes back
//   crash nvmlDeviceGetTemperature               … aborts
//   card GPU-8f6a2b9c-0000-0000-0000-000000000001    begins a card; they are numbered in this order
//     name NVIDIA GeForce RTX 3080
//     pci 0000:01:00.0
//     memory 10240 512 300                       in all, used, kept by the driver
//     load 93 41                                 per cent: compute, memory bus
//     temperature 61
//     power 220.5 320                            watts: now, limit
//     clock 1710 9501                            MHz: cores, memory
//     max_clock 2100
//     cores 8704
//     fan 45
//     throttle 24                                bits of the reasons, hexadecimal
//     ecc 0                                      uncorrected since boot
//     remap 0 0 0 0                              rows: corrected, uncorrected, pending, failed
//     process 4711 compute 900                   PID, compute|graphics|both, memory or - for unknown
//     xid 79                                     delivered once to each process; a second line is a second one
//     lost                                       every call says GPU_IS_LOST
//     error nvmlDeviceGetHandleByIndex UNKNOWN   error, hang and crash in a card hold for it alone
//     mig 2 MIG-…0003 5                          MIG device 2 of the card (its mode is on then) with its UUID
//                                                and GPU instance; what follows is of it until the next card
//                                                or mig
//     xid 31 5                                   of the card: an error inside GPU instance 5
//
// A figure that is not given is NOT_SUPPORTED.
// clang-format on
#include <dlfcn.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "os/nvml_abi.h"

namespace abi = ty::nvml;
using abi::Return;

namespace ty::nvml {
struct DeviceObject {
  std::string uuid;
};
struct EventSet {
  std::set<DeviceObject*> devices;
};
}  // namespace ty::nvml

namespace {

struct FakeProcess {
  unsigned pid = 0;
  bool compute = false, graphics = false;
  unsigned long long memory = abi::kNotAvailable;
};

// A card or a MIG device.
struct Unit {
  std::string uuid, name, pci = "0000:00:00.0";
  int place = 0;  // number of a MIG device
  unsigned instance = abi::kNoInstance;
  std::optional<std::vector<double>> memory, load, temperature, power, clock, max_clock, cores, fan, ecc,
      remap;
  std::optional<unsigned long long> throttle;
  std::vector<FakeProcess> processes;
  std::vector<std::pair<unsigned long long, unsigned>> xids;
  bool lost = false;
  std::map<std::string, Return> errors;
  std::set<std::string> hangs, crashes;
  std::vector<Unit> slices;
};

struct Machine {
  std::string driver = "550.54.14";
  int cuda = 12040;
  Return init = abi::kSuccess;
  Unit all;  // what holds for every card
  std::vector<Unit> cards;
};

const std::map<std::string, Return>& Codes() {
  static const std::map<std::string, Return> codes = {{"UNINITIALIZED", abi::kUninitialized},
                                                      {"INVALID_ARGUMENT", abi::kInvalidArgument},
                                                      {"NOT_SUPPORTED", abi::kNotSupported},
                                                      {"NO_PERMISSION", abi::kNoPermission},
                                                      {"NOT_FOUND", abi::kNotFound},
                                                      {"INSUFFICIENT_SIZE", abi::kInsufficientSize},
                                                      {"INSUFFICIENT_POWER", abi::kInsufficientPower},
                                                      {"DRIVER_NOT_LOADED", abi::kDriverNotLoaded},
                                                      {"TIMEOUT", abi::kTimeout},
                                                      {"IRQ_ISSUE", abi::kIrqIssue},
                                                      {"LIBRARY_NOT_FOUND", abi::kLibraryNotFound},
                                                      {"FUNCTION_NOT_FOUND", abi::kFunctionNotFound},
                                                      {"CORRUPTED_INFOROM", abi::kCorruptedInforom},
                                                      {"GPU_IS_LOST", abi::kGpuIsLost},
                                                      {"RESET_REQUIRED", abi::kResetRequired},
                                                      {"OPERATING_SYSTEM", abi::kOperatingSystem},
                                                      {"LIB_RM_VERSION_MISMATCH", abi::kVersionMismatch},
                                                      {"IN_USE", abi::kInUse},
                                                      {"MEMORY", abi::kMemoryError},
                                                      {"NO_DATA", abi::kNoData},
                                                      {"GPU_NOT_FOUND", abi::kGpuNotFound},
                                                      {"UNKNOWN", abi::kUnknown}};
  return codes;
}

[[noreturn]] void Refuse(const std::string& line) {
  std::fprintf(stderr, "fake NVML: cannot read: %s\n", line.c_str());
  std::abort();  // a test with a typing mistake must not pass
}

std::vector<double> Numbers(std::istringstream& words) {
  std::vector<double> numbers;
  for (double number; words >> number;) numbers.push_back(number);
  return numbers;
}

std::string Rest(std::istringstream& words) {
  std::string text;
  std::getline(words >> std::ws, text);
  return text;
}

bool ReadUnitLine(Unit& unit, const std::string& key, std::istringstream& words) {
  const std::map<std::string, std::optional<std::vector<double>> Unit::*> figures = {
      {"memory", &Unit::memory}, {"load", &Unit::load},   {"temperature", &Unit::temperature},
      {"power", &Unit::power},   {"clock", &Unit::clock}, {"max_clock", &Unit::max_clock},
      {"cores", &Unit::cores},   {"fan", &Unit::fan},     {"ecc", &Unit::ecc},
      {"remap", &Unit::remap}};
  const std::map<std::string, size_t> lengths = {
      {"memory", 3}, {"load", 2}, {"power", 2}, {"clock", 2}, {"remap", 4}};
  if (const auto figure = figures.find(key); figure != figures.end()) {
    auto numbers = Numbers(words);
    const auto length = lengths.find(key);
    if (numbers.size() != (length == lengths.end() ? 1 : length->second)) return false;
    unit.*figure->second = std::move(numbers);
    return true;
  }
  if (key == "name") {
    unit.name = Rest(words);
  } else if (key == "pci") {
    words >> unit.pci;
  } else if (key == "lost") {
    unit.lost = true;
  } else if (key == "throttle") {
    unsigned long long bits = 0;
    words >> std::hex >> bits;
    unit.throttle = bits;
  } else if (key == "process") {
    FakeProcess process;
    std::string type, memory;
    if (!(words >> process.pid >> type >> memory)) return false;
    process.compute = type != "graphics";
    process.graphics = type != "compute";
    if (memory != "-") process.memory = std::stoull(memory) << 20;
    unit.processes.push_back(process);
  } else if (key == "xid") {
    unsigned long long xid = 0;
    unsigned instance = abi::kNoInstance;
    if (!(words >> xid)) return false;
    words >> instance;
    if (words.fail()) instance = abi::kNoInstance;
    unit.xids.emplace_back(xid, instance);
  } else if (key == "error") {
    std::string function, code;
    words >> function >> code;
    if (!Codes().contains(code)) return false;
    unit.errors[function] = Codes().at(code);
  } else if (key == "hang" || key == "crash") {
    std::string function;
    if (!(words >> function)) return false;
    (key == "hang" ? unit.hangs : unit.crashes).insert(function);
  } else {
    return false;
  }
  return true;
}

Machine Read(const std::string& path) {
  Machine machine;
  std::ifstream file(path);
  if (!file) machine.init = abi::kDriverNotLoaded;
  Unit* unit = &machine.all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    if (!(words >> key) || key[0] == '#') continue;
    if (key == "driver") {
      machine.driver = Rest(words);
    } else if (key == "cuda") {
      int major = 0, minor = 0;
      if (std::sscanf(Rest(words).c_str(), "%d.%d", &major, &minor) != 2) Refuse(line);
      machine.cuda = major * 1000 + minor * 10;
    } else if (key == "init") {
      const std::string code = Rest(words);
      if (!Codes().contains(code)) Refuse(line);
      machine.init = Codes().at(code);
    } else if (key == "card") {
      unit = &machine.cards.emplace_back();
      words >> unit->uuid;
    } else if (key == "mig") {
      if (machine.cards.empty()) Refuse(line);
      Unit& card = machine.cards.back();
      unit = &card.slices.emplace_back();
      unit->pci = card.pci;
      if (!(words >> unit->place >> unit->uuid >> unit->instance)) Refuse(line);
    } else if (!ReadUnitLine(*unit, key, words)) {
      Refuse(line);
    }
  }
  return machine;
}

std::mutex mutex;
int initialised = 0;
std::map<std::string, std::unique_ptr<abi::DeviceObject>> handles;  // never freed: NVML's stay valid too
std::map<std::string, size_t> delivered;                            // XIDs by card

// Call with the mutex held.
Machine& Now() {
  static Machine machine;
  static struct stat seen = {};
  const char* path = std::getenv("FAKE_NVML");
  struct stat info = {};
  if (path == nullptr || ::stat(path, &info) != 0) {
    machine = Read("");
    seen = {};
    return machine;
  }
  const bool same = info.st_ino == seen.st_ino && info.st_size == seen.st_size &&
                    info.st_mtim.tv_sec == seen.st_mtim.tv_sec &&
                    info.st_mtim.tv_nsec == seen.st_mtim.tv_nsec;
  if (!same) machine = Read(path);
  seen = info;
  return machine;
}

struct Found {
  Unit* unit = nullptr;
  Unit* card = nullptr;
  unsigned index = 0;
};

Found Find(abi::Handle handle) {
  Machine& machine = Now();
  for (unsigned i = 0; i < machine.cards.size(); ++i) {
    Unit& card = machine.cards[i];
    if (card.uuid == handle->uuid) return {&card, &card, i};
    for (Unit& slice : card.slices) {
      if (slice.uuid == handle->uuid) return {&slice, &card, i};
    }
  }
  return {};
}

abi::Handle HandleOf(const std::string& uuid) {
  auto& handle = handles[uuid];
  if (!handle) handle.reset(new abi::DeviceObject{uuid});
  return handle.get();
}

void DoAsTold(const Unit& unit, const std::string& function, std::unique_lock<std::mutex>& lock) {
  if (unit.crashes.contains(function)) std::abort();
  if (!unit.hangs.contains(function)) return;
  lock.unlock();
  for (;;) ::pause();
}

std::optional<Return> ErrorOf(const Unit& unit, const std::string& function) {
  if (const auto error = unit.errors.find(function); error != unit.errors.end()) return error->second;
  return std::nullopt;
}

// Every function that is not about one device goes through here.
template <class Body>
Return System(const char* function, const Body& body) {
  std::unique_lock lock(mutex);
  DoAsTold(Now().all, function, lock);
  if (const auto error = ErrorOf(Now().all, function)) return *error;
  if (initialised == 0) return abi::kUninitialized;
  return body(Now());
}

// Every one that is.
template <class Body>
Return OfDevice(const char* function, abi::Handle handle, const Body& body) {
  return System(function, [&](Machine&) {
    if (handle == nullptr) return abi::kInvalidArgument;
    const Found found = Find(handle);
    if (found.unit == nullptr || found.unit->lost || found.card->lost) return abi::kGpuIsLost;
    if (found.unit->crashes.contains(function)) std::abort();
    if (found.unit->hangs.contains(function)) {
      mutex.unlock();
      for (;;) ::pause();
    }
    if (const auto error = ErrorOf(*found.unit, function)) return *error;
    return body(found);
  });
}

template <class Number>
Return Figure(const std::optional<std::vector<double>>& figure, size_t at, Number* to, double scale = 1) {
  if (!figure) return abi::kNotSupported;
  *to = static_cast<Number>((*figure)[at] * scale);
  return abi::kSuccess;
}

Return PutText(const std::string& text, char* to, unsigned length) {
  if (text.size() + 1 > length) return abi::kInsufficientSize;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return abi::kSuccess;
}

constexpr double kMib = 1 << 20;

template <class Process>
Return List(const char* function, abi::Handle handle, bool compute, unsigned* count, Process* to) {
  return OfDevice(function, handle, [&](const Found& found) {
    std::vector<FakeProcess> listed;
    for (const FakeProcess& process : found.unit->processes) {
      if (compute ? process.compute : process.graphics) listed.push_back(process);
    }
    const unsigned room = *count;
    *count = static_cast<unsigned>(listed.size());
    if (listed.size() > room || (to == nullptr && !listed.empty())) return abi::kInsufficientSize;
    for (size_t i = 0; i < listed.size(); ++i) {
      to[i].pid = listed[i].pid;
      to[i].used = listed[i].memory;
      if constexpr (requires { to[i].gpu_instance; }) {
        to[i].gpu_instance = found.unit->instance;
        to[i].compute_instance = found.unit->instance == abi::kNoInstance ? abi::kNoInstance : 0;
      }
    }
    return abi::kSuccess;
  });
}

Return Initialise() {
  std::unique_lock lock(mutex);
  DoAsTold(Now().all, "nvmlInit", lock);
  if (Now().init != abi::kSuccess) return Now().init;
  ++initialised;
  return abi::kSuccess;
}

Return Count(unsigned* count) {
  return System("nvmlDeviceGetCount", [&](Machine& machine) {
    *count = static_cast<unsigned>(machine.cards.size());
    return abi::kSuccess;
  });
}

Return ByCard(const Unit& card, const char* function, abi::Handle* handle) {
  if (card.crashes.contains(function)) std::abort();
  if (card.hangs.contains(function)) {
    mutex.unlock();
    for (;;) ::pause();
  }
  if (card.lost) return abi::kGpuIsLost;
  if (const auto error = ErrorOf(card, function)) return *error;
  *handle = HandleOf(card.uuid);
  return abi::kSuccess;
}

Return ByIndex(unsigned index, abi::Handle* handle) {
  constexpr const char* kName = "nvmlDeviceGetHandleByIndex";
  return System(kName, [&](Machine& machine) {
    return index < machine.cards.size() ? ByCard(machine.cards[index], kName, handle) : abi::kInvalidArgument;
  });
}

void ReadPlace(const std::string& pci, unsigned* domain, unsigned* bus, unsigned* device) {
  if (std::sscanf(pci.c_str(), "%x:%x:%x", domain, bus, device) != 3) Refuse("pci " + pci);
}

Return PciOld(abi::Handle handle, abi::PciInfoV1* info) {
  return OfDevice("nvmlDeviceGetPciInfo", handle, [&](const Found& found) {
    *info = {};
    ReadPlace(found.card->pci, &info->domain, &info->bus, &info->device);
    std::snprintf(info->bus_id, sizeof info->bus_id, "%04X:%02X:%02X.0", info->domain & 0xFFFF,
                  info->bus & 0xFF, info->device & 0xFF);
    return abi::kSuccess;
  });
}

// The next XID of a card that the set watches.
bool TakeEvent(abi::Events events, abi::EventData* data, bool with_instances) {
  for (Unit& card : Now().cards) {
    const auto handle = handles.find(card.uuid);
    if (handle == handles.end() || !events->devices.contains(handle->second.get())) continue;
    size_t& taken = delivered[card.uuid];
    if (taken >= card.xids.size()) continue;
    data->device = handle->second.get();
    data->type = abi::kXidEvent;
    data->data = card.xids[taken].first;
    if (with_instances) {
      data->gpu_instance = card.xids[taken].second;
      data->compute_instance = data->gpu_instance == abi::kNoInstance ? abi::kNoInstance : 0;
    }
    ++taken;
    return true;
  }
  return false;
}

Return Wait(abi::Events events, abi::EventData* data, unsigned timeout_ms, bool with_instances) {
  for (unsigned waited = 0;; waited += 10) {
    const Return code = System("nvmlEventSetWait", [&](Machine&) {
      if (events == nullptr) return abi::kInvalidArgument;
      return TakeEvent(events, data, with_instances) ? abi::kSuccess : abi::kTimeout;
    });
    if (code != abi::kTimeout || waited >= timeout_ms) return code;
    const timespec pause = {0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace

#define NVML extern "C" __attribute__((visibility("default"))) Return

// What every driver has.

NVML nvmlInit() {
  return Initialise();
}
NVML nvmlShutdown() {
  return System("nvmlShutdown", [](Machine&) {
    --initialised;
    return abi::kSuccess;
  });
}
extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(Return code) {
  switch (code) {
    case abi::kSuccess:
      return "The operation was successful";
    case abi::kUninitialized:
      return "Uninitialized";
    case abi::kNotSupported:
      return "Not Supported";
    case abi::kNoPermission:
      return "Insufficient Permissions";
    case abi::kDriverNotLoaded:
      return "Driver Not Loaded";
    case abi::kTimeout:
      return "Timeout";
    case abi::kFunctionNotFound:
      return "Function Not Found";
    case abi::kGpuIsLost:
      return "GPU is lost";
    case abi::kResetRequired:
      return "GPU requires reset";
    case abi::kVersionMismatch:
      return "Driver/library version mismatch";
    case abi::kUnknown:
      return "Unknown Error";
    default:
      return "Another error";
  }
}
NVML nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return System("nvmlSystemGetDriverVersion",
                [&](Machine& machine) { return PutText(machine.driver, version, length); });
}
NVML nvmlSystemGetCudaDriverVersion(int* version) {
  return System("nvmlSystemGetCudaDriverVersion", [&](Machine& machine) {
    *version = machine.cuda;
    return abi::kSuccess;
  });
}
NVML nvmlDeviceGetCount(unsigned* count) {
  return Count(count);
}
NVML nvmlDeviceGetHandleByIndex(unsigned index, abi::Handle* handle) {
  return ByIndex(index, handle);
}
NVML nvmlDeviceGetHandleByUUID(const char* uuid, abi::Handle* handle) {
  constexpr const char* kName = "nvmlDeviceGetHandleByUUID";
  return System(kName, [&](Machine& machine) {
    for (const Unit& card : machine.cards) {
      if (card.uuid == uuid) return ByCard(card, kName, handle);
      for (const Unit& slice : card.slices) {
        if (slice.uuid == uuid) return ByCard(slice, kName, handle);
      }
    }
    return abi::kNotFound;
  });
}
NVML nvmlDeviceGetIndex(abi::Handle handle, unsigned* index) {
  return OfDevice("nvmlDeviceGetIndex", handle, [&](const Found& found) {
    *index = found.unit == found.card ? found.index : static_cast<unsigned>(found.unit->place);
    return abi::kSuccess;
  });
}
NVML nvmlDeviceGetName(abi::Handle handle, char* name, unsigned length) {
  return OfDevice("nvmlDeviceGetName", handle,
                  [&](const Found& found) { return PutText(found.unit->name, name, length); });
}
NVML nvmlDeviceGetUUID(abi::Handle handle, char* uuid, unsigned length) {
  return OfDevice("nvmlDeviceGetUUID", handle,
                  [&](const Found& found) { return PutText(found.unit->uuid, uuid, length); });
}
NVML nvmlDeviceGetPciInfo(abi::Handle handle, abi::PciInfoV1* info) {
  return PciOld(handle, info);
}
NVML nvmlDeviceGetMemoryInfo(abi::Handle handle, abi::Memory* memory) {
  return OfDevice("nvmlDeviceGetMemoryInfo", handle, [&](const Found& found) {
    const auto& figure = found.unit->memory;
    if (!figure) return abi::kNotSupported;
    memory->total = static_cast<unsigned long long>((*figure)[0] * kMib);
    memory->used = static_cast<unsigned long long>(((*figure)[1] + (*figure)[2]) * kMib);
    memory->free = memory->total - memory->used;
    return abi::kSuccess;
  });
}
NVML nvmlDeviceGetUtilizationRates(abi::Handle handle, abi::Utilization* load) {
  return OfDevice("nvmlDeviceGetUtilizationRates", handle, [&](const Found& found) {
    Figure(found.unit->load, 1, &load->memory);
    return Figure(found.unit->load, 0, &load->gpu);
  });
}
NVML nvmlDeviceGetTemperature(abi::Handle handle, unsigned, unsigned* celsius) {
  return OfDevice("nvmlDeviceGetTemperature", handle,
                  [&](const Found& found) { return Figure(found.unit->temperature, 0, celsius); });
}
NVML nvmlDeviceGetPowerUsage(abi::Handle handle, unsigned* milliwatts) {
  return OfDevice("nvmlDeviceGetPowerUsage", handle,
                  [&](const Found& found) { return Figure(found.unit->power, 0, milliwatts, 1000); });
}
NVML nvmlDeviceGetEnforcedPowerLimit(abi::Handle handle, unsigned* milliwatts) {
  return OfDevice("nvmlDeviceGetEnforcedPowerLimit", handle,
                  [&](const Found& found) { return Figure(found.unit->power, 1, milliwatts, 1000); });
}
NVML nvmlDeviceGetClockInfo(abi::Handle handle, unsigned kind, unsigned* mhz) {
  return OfDevice("nvmlDeviceGetClockInfo", handle, [&](const Found& found) {
    return Figure(found.unit->clock, kind == abi::kClockMemory ? 1 : 0, mhz);
  });
}
NVML nvmlDeviceGetMaxClockInfo(abi::Handle handle, unsigned, unsigned* mhz) {
  return OfDevice("nvmlDeviceGetMaxClockInfo", handle,
                  [&](const Found& found) { return Figure(found.unit->max_clock, 0, mhz); });
}
NVML nvmlDeviceGetFanSpeed(abi::Handle handle, unsigned* percent) {
  return OfDevice("nvmlDeviceGetFanSpeed", handle,
                  [&](const Found& found) { return Figure(found.unit->fan, 0, percent); });
}
NVML nvmlDeviceGetCurrentClocksThrottleReasons(abi::Handle handle, unsigned long long* bits) {
  return OfDevice("nvmlDeviceGetCurrentClocksThrottleReasons", handle, [&](const Found& found) {
    if (!found.unit->throttle) return abi::kNotSupported;
    *bits = *found.unit->throttle;
    return abi::kSuccess;
  });
}
NVML nvmlDeviceGetTotalEccErrors(abi::Handle handle, unsigned type, unsigned, unsigned long long* count) {
  return OfDevice("nvmlDeviceGetTotalEccErrors", handle, [&](const Found& found) {
    if (type == abi::kUncorrectedErrors) return Figure(found.unit->ecc, 0, count);
    *count = 0;
    return found.unit->ecc ? abi::kSuccess : abi::kNotSupported;
  });
}
NVML nvmlDeviceGetComputeRunningProcesses(abi::Handle handle, unsigned* count, abi::ProcessV1* to) {
  return List("nvmlDeviceGetComputeRunningProcesses", handle, true, count, to);
}
NVML nvmlDeviceGetGraphicsRunningProcesses(abi::Handle handle, unsigned* count, abi::ProcessV1* to) {
  return List("nvmlDeviceGetGraphicsRunningProcesses", handle, false, count, to);
}
NVML nvmlEventSetCreate(abi::Events* events) {
  return System("nvmlEventSetCreate", [&](Machine&) {
    *events = new abi::EventSet;
    return abi::kSuccess;
  });
}
NVML nvmlEventSetFree(abi::Events events) {
  return System("nvmlEventSetFree", [&](Machine&) {
    delete events;
    return abi::kSuccess;
  });
}
NVML nvmlDeviceGetSupportedEventTypes(abi::Handle handle, unsigned long long* types) {
  return OfDevice("nvmlDeviceGetSupportedEventTypes", handle, [&](const Found&) {
    *types = abi::kXidEvent;
    return abi::kSuccess;
  });
}
NVML nvmlDeviceRegisterEvents(abi::Handle handle, unsigned long long, abi::Events events) {
  return OfDevice("nvmlDeviceRegisterEvents", handle, [&](const Found&) {
    events->devices.insert(handle);
    return abi::kSuccess;
  });
}
NVML nvmlEventSetWait(abi::Events events, abi::EventData* data, unsigned timeout_ms) {
  return Wait(events, data, timeout_ms, false);
}

// What newer ones have besides. Built without, the library stands for a driver of ten years ago.
#ifndef FAKE_NVML_OLD

NVML nvmlInit_v2() {
  return Initialise();
}
NVML nvmlInitWithFlags(unsigned) {
  return Initialise();
}
NVML nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return System("nvmlSystemGetNVMLVersion",
                [&](Machine& machine) { return PutText("12." + machine.driver, version, length); });
}
NVML nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}
NVML nvmlDeviceGetCount_v2(unsigned* count) {
  return Count(count);
}
NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, abi::Handle* handle) {
  return ByIndex(index, handle);
}
NVML nvmlDeviceGetHandleByPciBusId_v2(const char* pci, abi::Handle* handle) {
  constexpr const char* kName = "nvmlDeviceGetHandleByPciBusId";
  return System(kName, [&](Machine& machine) {
    unsigned want[3], have[3];
    ReadPlace(pci, &want[0], &want[1], &want[2]);
    for (const Unit& card : machine.cards) {
      ReadPlace(card.pci, &have[0], &have[1], &have[2]);
      if (std::memcmp(want, have, sizeof want) == 0) return ByCard(card, kName, handle);
    }
    return abi::kNotFound;
  });
}
NVML nvmlDeviceGetPciInfo_v2(abi::Handle handle, abi::PciInfoV1* info) {
  return PciOld(handle, info);
}
NVML nvmlDeviceGetPciInfo_v3(abi::Handle handle, abi::PciInfo* info) {
  return OfDevice("nvmlDeviceGetPciInfo", handle, [&](const Found& found) {
    *info = {};
    ReadPlace(found.card->pci, &info->domain, &info->bus, &info->device);
    info->pci_device_id = 0x220610DE;
    std::snprintf(info->bus_id_legacy, sizeof info->bus_id_legacy, "%04X:%02X:%02X.0", info->domain & 0xFFFF,
                  info->bus & 0xFF, info->device & 0xFF);
    std::snprintf(info->bus_id, sizeof info->bus_id, "%08X:%02X:%02X.0", info->domain, info->bus & 0xFF,
                  info->device & 0xFF);
    return abi::kSuccess;
  });
}
NVML nvmlDeviceGetMemoryInfo_v2(abi::Handle handle, abi::MemoryV2* memory) {
  return OfDevice("nvmlDeviceGetMemoryInfo", handle, [&](const Found& found) {
    const auto& figure = found.unit->memory;
    if (memory->version != abi::kMemoryV2) return abi::kInvalidArgument;
    if (!figure) return abi::kNotSupported;
    memory->total = static_cast<unsigned long long>((*figure)[0] * kMib);
    memory->used = static_cast<unsigned long long>((*figure)[1] * kMib);
    memory->reserved = static_cast<unsigned long long>((*figure)[2] * kMib);
    memory->free = memory->total - memory->used - memory->reserved;
    return abi::kSuccess;
  });
}
NVML nvmlDeviceGetPowerManagementLimit(abi::Handle handle, unsigned* milliwatts) {
  return nvmlDeviceGetEnforcedPowerLimit(handle, milliwatts);
}
NVML nvmlDeviceGetNumGpuCores(abi::Handle handle, unsigned* cores) {
  return OfDevice("nvmlDeviceGetNumGpuCores", handle,
                  [&](const Found& found) { return Figure(found.unit->cores, 0, cores); });
}
NVML nvmlDeviceGetCurrentClocksEventReasons(abi::Handle handle, unsigned long long* bits) {
  return nvmlDeviceGetCurrentClocksThrottleReasons(handle, bits);
}
NVML nvmlDeviceGetRemappedRows(abi::Handle handle, unsigned* corrected, unsigned* uncorrected,
                               unsigned* pending, unsigned* failed) {
  return OfDevice("nvmlDeviceGetRemappedRows", handle, [&](const Found& found) {
    const auto& figure = found.unit->remap;
    Figure(figure, 0, corrected);
    Figure(figure, 1, uncorrected);
    Figure(figure, 2, pending);
    return Figure(figure, 3, failed);
  });
}
NVML nvmlDeviceGetComputeRunningProcesses_v2(abi::Handle handle, unsigned* count, abi::ProcessV2* to) {
  return List("nvmlDeviceGetComputeRunningProcesses", handle, true, count, to);
}
NVML nvmlDeviceGetComputeRunningProcesses_v3(abi::Handle handle, unsigned* count, abi::ProcessV2* to) {
  return List("nvmlDeviceGetComputeRunningProcesses", handle, true, count, to);
}
NVML nvmlDeviceGetGraphicsRunningProcesses_v2(abi::Handle handle, unsigned* count, abi::ProcessV2* to) {
  return List("nvmlDeviceGetGraphicsRunningProcesses", handle, false, count, to);
}
NVML nvmlDeviceGetGraphicsRunningProcesses_v3(abi::Handle handle, unsigned* count, abi::ProcessV2* to) {
  return List("nvmlDeviceGetGraphicsRunningProcesses", handle, false, count, to);
}
NVML nvmlDeviceGetMigMode(abi::Handle handle, unsigned* current, unsigned* pending) {
  return OfDevice("nvmlDeviceGetMigMode", handle, [&](const Found& found) {
    *current = *pending = found.unit->slices.empty() ? 0 : abi::kMigEnabled;
    return abi::kSuccess;
  });
}
NVML nvmlDeviceGetMaxMigDeviceCount(abi::Handle handle, unsigned* count) {
  return OfDevice("nvmlDeviceGetMaxMigDeviceCount", handle, [&](const Found&) {
    *count = 7;
    return abi::kSuccess;
  });
}
NVML nvmlDeviceGetMigDeviceHandleByIndex(abi::Handle parent, unsigned index, abi::Handle* handle) {
  constexpr const char* kName = "nvmlDeviceGetMigDeviceHandleByIndex";
  return OfDevice(kName, parent, [&](const Found& found) {
    for (const Unit& slice : found.unit->slices) {
      if (slice.place == static_cast<int>(index)) return ByCard(slice, kName, handle);
    }
    return abi::kNotFound;
  });
}
NVML nvmlDeviceGetDeviceHandleFromMigDeviceHandle(abi::Handle mig, abi::Handle* parent) {
  return OfDevice("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", mig, [&](const Found& found) {
    if (found.unit == found.card) return abi::kInvalidArgument;
    *parent = HandleOf(found.card->uuid);
    return abi::kSuccess;
  });
}
NVML nvmlDeviceIsMigDeviceHandle(abi::Handle handle, unsigned* is_mig) {
  return OfDevice("nvmlDeviceIsMigDeviceHandle", handle, [&](const Found& found) {
    *is_mig = found.unit != found.card;
    return abi::kSuccess;
  });
}
NVML nvmlDeviceGetGpuInstanceId(abi::Handle mig, unsigned* id) {
  return OfDevice("nvmlDeviceGetGpuInstanceId", mig, [&](const Found& found) {
    if (found.unit == found.card) return abi::kInvalidArgument;
    *id = found.unit->instance;
    return abi::kSuccess;
  });
}
NVML nvmlEventSetWait_v2(abi::Events events, abi::EventData* data, unsigned timeout_ms) {
  return Wait(events, data, timeout_ms, true);
}

#endif
