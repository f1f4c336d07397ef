#include "os/nvml.h"

#include <dlfcn.h>
#include <stdio.h>

#include <algorithm>
#include <cstring>

namespace ty {

namespace {

using nvml::Handle;
using nvml::Return;

// dlsym hashes its way through one small library: at most a few hundred look-ups each second, some
// microseconds in all. Keeping fifty pointers by hand would be longer than all of this file.
void* Find(void* library, const char* name) {
  return library == nullptr ? nullptr : ::dlsym(library, name);
}

template <size_t kSize>
std::string Text(const char (&buffer)[kSize]) {
  return std::string(buffer, strnlen(buffer, kSize));
}

constexpr size_t kMostProcesses = 65536;

// The list may grow between the call that asks for its length and the one that reads it.
template <class Process, class Read>
Return ReadList(const Read& read, std::vector<Nvml::Listed>* list) {
  std::vector<Process> found(32);
  for (;;) {
    unsigned count = static_cast<unsigned>(found.size());
    const Return code = read(&count, found.data());
    if (code == nvml::kInsufficientSize && found.size() < kMostProcesses) {
      found.resize(std::max<size_t>(found.size() * 2, std::min<size_t>(count, kMostProcesses)));
      continue;
    }
    if (code != nvml::kSuccess) return code;
    found.resize(std::min<size_t>(count, found.size()));
    break;
  }
  for (const Process& process : found) {
    Nvml::Listed& listed = list->emplace_back();
    listed.pid = process.pid;
    if (process.used != nvml::kNotAvailable) listed.used = process.used;
  }
  return nvml::kSuccess;
}

}  // namespace

Nvml::~Nvml() {
  if (library_ != nullptr) ::dlclose(library_);
}

bool Nvml::Open(const std::string& library) {
  if (library_ != nullptr) return true;
  // Under WSL the library lies outside the linker's folders on some set-ups.
  std::vector<const char*> names = {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
  if (!library.empty()) names = {library.c_str()};
  for (const char* name : names) {
    library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) return true;
    const char* error = ::dlerror();
    if (name == names[0]) trouble_ = error == nullptr ? name : error;
  }
  return false;
}

// `names`: versions of one function with the same arguments, the newest first, each ended by a blank.
template <class... Arguments>
Return Nvml::Call(const char* names, Arguments... arguments) const {
  std::string_view left = names;
  Return code = nvml::kFunctionNotFound;
  while (!left.empty() && code == nvml::kFunctionNotFound) {
    const size_t end = std::min(left.find(' '), left.size());
    const std::string name(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
    void* symbol = Find(library_, name.c_str());
    if (symbol != nullptr) code = reinterpret_cast<Return (*)(Arguments...)>(symbol)(arguments...);
  }
  return code;
}

Return Nvml::Init() {
  return Call("nvmlInit_v2 nvmlInit");
}

void Nvml::Shutdown() {
  Call("nvmlShutdown");
}

std::string Nvml::Words(Return code) const {
  if (void* symbol = Find(library_, "nvmlErrorString")) {
    const char* words = reinterpret_cast<const char* (*)(Return)>(symbol)(code);
    if (words != nullptr && *words != '\0') return words;
  }
  return "NVML error " + std::to_string(code);
}

std::string Nvml::DriverVersion() const {
  char text[nvml::kVersionSize] = {};
  const Return code = Call("nvmlSystemGetDriverVersion", static_cast<char*>(text), unsigned{sizeof text});
  return code == nvml::kSuccess ? Text(text) : "";
}

std::string Nvml::CudaVersion() const {
  int version = 0;  // 12040
  if (Call("nvmlSystemGetCudaDriverVersion_v2 nvmlSystemGetCudaDriverVersion", &version) != nvml::kSuccess ||
      version <= 0)
    return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Return Nvml::Count(unsigned* count) const {
  return Call("nvmlDeviceGetCount_v2 nvmlDeviceGetCount", count);
}

Return Nvml::HandleByIndex(unsigned index, Handle* handle) const {
  return Call("nvmlDeviceGetHandleByIndex_v2 nvmlDeviceGetHandleByIndex", index, handle);
}

Return Nvml::Uuid(Handle handle, std::string* uuid) const {
  char text[nvml::kUuidSize] = {};
  const Return code = Call("nvmlDeviceGetUUID", handle, static_cast<char*>(text), unsigned{sizeof text});
  if (code == nvml::kSuccess) *uuid = Text(text);
  return code == nvml::kSuccess && uuid->empty() ? nvml::kNoData : code;
}

Return Nvml::Name(Handle handle, std::string* name) const {
  char text[nvml::kNameSize] = {};
  const Return code = Call("nvmlDeviceGetName", handle, static_cast<char*>(text), unsigned{sizeof text});
  if (code == nvml::kSuccess) *name = Text(text);
  return code;
}

Return Nvml::Pci(Handle handle, std::string* pci) const {
  nvml::PciInfo info = {};
  Return code = Call("nvmlDeviceGetPciInfo_v3", handle, &info);
  if (code == nvml::kFunctionNotFound) {
    struct {
      nvml::PciInfoV1 info;
      char room[64];  // versions between wrote more than the first
    } old = {};
    code = Call("nvmlDeviceGetPciInfo_v2 nvmlDeviceGetPciInfo", handle, &old.info);
    info.domain = old.info.domain;
    info.bus = old.info.bus;
    info.device = old.info.device;
  }
  if (code != nvml::kSuccess) return code;
  char text[40];  // as the kernel names it in /sys/bus/pci/devices
  ::snprintf(text, sizeof text, "%04x:%02x:%02x.0", info.domain, info.bus, info.device);
  *pci = text;
  return code;
}

Return Nvml::Memory(Handle handle, MemoryUse* memory) const {
  nvml::MemoryV2 v2 = {};
  v2.version = nvml::kMemoryV2;
  Return code = Call("nvmlDeviceGetMemoryInfo_v2", handle, &v2);
  if (code == nvml::kSuccess) {
    *memory = {.total = v2.total, .used = v2.used, .free = v2.free, .reserved = v2.reserved};
  } else if (code == nvml::kFunctionNotFound) {
    nvml::Memory v1 = {};
    code = Call("nvmlDeviceGetMemoryInfo", handle, &v1);
    if (code == nvml::kSuccess) *memory = {.total = v1.total, .used = v1.used, .free = v1.free};
  }
  return code;
}

Return Nvml::UtilizationOf(Handle handle, nvml::Utilization* load) const {
  return Call("nvmlDeviceGetUtilizationRates", handle, load);
}

Return Nvml::Temperature(Handle handle, unsigned* celsius) const {
  return Call("nvmlDeviceGetTemperature", handle, nvml::kTemperatureGpu, celsius);
}

Return Nvml::Power(Handle handle, unsigned* milliwatts) const {
  return Call("nvmlDeviceGetPowerUsage", handle, milliwatts);
}

Return Nvml::PowerLimit(Handle handle, unsigned* milliwatts) const {
  return Call("nvmlDeviceGetEnforcedPowerLimit nvmlDeviceGetPowerManagementLimit", handle, milliwatts);
}

Return Nvml::Clock(Handle handle, unsigned kind, unsigned* mhz) const {
  return Call("nvmlDeviceGetClockInfo", handle, kind, mhz);
}

Return Nvml::MaxClock(Handle handle, unsigned kind, unsigned* mhz) const {
  return Call("nvmlDeviceGetMaxClockInfo", handle, kind, mhz);
}

Return Nvml::Cores(Handle handle, unsigned* cores) const {
  return Call("nvmlDeviceGetNumGpuCores", handle, cores);
}

Return Nvml::Fan(Handle handle, unsigned* percent) const {
  return Call("nvmlDeviceGetFanSpeed", handle, percent);
}

Return Nvml::SlowReasons(Handle handle, unsigned long long* bits) const {
  return Call("nvmlDeviceGetCurrentClocksEventReasons nvmlDeviceGetCurrentClocksThrottleReasons", handle,
              bits);
}

Return Nvml::UncorrectedErrors(Handle handle, unsigned long long* count) const {
  return Call("nvmlDeviceGetTotalEccErrors", handle, nvml::kUncorrectedErrors, nvml::kVolatileErrors, count);
}

Return Nvml::RowsNotRemapped(Handle handle, bool* failed) const {
  unsigned corrected = 0, uncorrected = 0, pending = 0, failure = 0;
  const Return code = Call("nvmlDeviceGetRemappedRows", handle, &corrected, &uncorrected, &pending, &failure);
  *failed = code == nvml::kSuccess && failure != 0;
  return code;
}

Return Nvml::ComputeProcesses(Handle handle, std::vector<Listed>* list) const {
  const Return code = ReadList<nvml::ProcessV2>(
      [&](unsigned* count, nvml::ProcessV2* to) {
        return Call("nvmlDeviceGetComputeRunningProcesses_v3 nvmlDeviceGetComputeRunningProcesses_v2", handle,
                    count, to);
      },
      list);
  if (code != nvml::kFunctionNotFound) return code;
  return ReadList<nvml::ProcessV1>(
      [&](unsigned* count, nvml::ProcessV1* to) {
        return Call("nvmlDeviceGetComputeRunningProcesses", handle, count, to);
      },
      list);
}

Return Nvml::GraphicsProcesses(Handle handle, std::vector<Listed>* list) const {
  const Return code = ReadList<nvml::ProcessV2>(
      [&](unsigned* count, nvml::ProcessV2* to) {
        return Call("nvmlDeviceGetGraphicsRunningProcesses_v3 nvmlDeviceGetGraphicsRunningProcesses_v2",
                    handle, count, to);
      },
      list);
  if (code != nvml::kFunctionNotFound) return code;
  return ReadList<nvml::ProcessV1>(
      [&](unsigned* count, nvml::ProcessV1* to) {
        return Call("nvmlDeviceGetGraphicsRunningProcesses", handle, count, to);
      },
      list);
}

bool Nvml::MigEnabled(Handle handle) const {
  unsigned current = 0, pending = 0;
  return Call("nvmlDeviceGetMigMode", handle, &current, &pending) == nvml::kSuccess &&
         current == nvml::kMigEnabled;
}

unsigned Nvml::MigCount(Handle handle) const {
  unsigned count = 0;
  return Call("nvmlDeviceGetMaxMigDeviceCount", handle, &count) == nvml::kSuccess ? count : 0;
}

Return Nvml::MigByIndex(Handle parent, unsigned index, Handle* handle) const {
  return Call("nvmlDeviceGetMigDeviceHandleByIndex", parent, index, handle);
}

std::optional<unsigned> Nvml::GpuInstance(Handle mig) const {
  unsigned id = 0;
  if (Call("nvmlDeviceGetGpuInstanceId", mig, &id) != nvml::kSuccess) return std::nullopt;
  return id;
}

Return Nvml::MakeEvents(nvml::Events* events) const {
  return Call("nvmlEventSetCreate", events);
}

Return Nvml::WatchXids(Handle handle, nvml::Events events) const {
  return Call("nvmlDeviceRegisterEvents", handle, nvml::kXidEvent, events);
}

Return Nvml::NextEvent(nvml::Events events, nvml::EventData* event) const {
  event->gpu_instance = event->compute_instance = nvml::kNoInstance;
  return Call("nvmlEventSetWait_v2 nvmlEventSetWait", events, event, 0U);
}

void Nvml::FreeEvents(nvml::Events events) const {
  Call("nvmlEventSetFree", events);
}

}  // namespace ty
