// Nvml is libnvidia-ml.so.1 opened at run time. Every symbol is looked up by itself, the newest version
// first: one that this driver lacks hides one figure and no more. Calls may hang or abort: only the probe's
// helper process makes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/nvml_abi.h"

namespace ty {

class Nvml {
 public:
  Nvml() = default;
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Empty: libnvidia-ml.so.1. False: no such library, `trouble` says why.
  bool Open(const std::string& library);
  bool open() const { return library_ != nullptr; }
  const std::string& trouble() const { return trouble_; }

  nvml::Return Init();
  void Shutdown();
  std::string Words(nvml::Return code) const;  // NVML's own, as "GPU is lost"

  std::string DriverVersion() const;  // "550.54.14", or empty
  std::string CudaVersion() const;    // "12.4", or empty

  nvml::Return Count(unsigned* count) const;
  nvml::Return HandleByIndex(unsigned index, nvml::Handle* handle) const;
  nvml::Return Uuid(nvml::Handle handle, std::string* uuid) const;
  nvml::Return Name(nvml::Handle handle, std::string* name) const;
  nvml::Return Pci(nvml::Handle handle, std::string* pci) const;  // "0000:01:00.0"

  struct MemoryUse {
    unsigned long long total = 0, used = 0, free = 0;
    unsigned long long reserved = 0;  // by the driver, beside `used`; 0 where that has it in
  };
  nvml::Return Memory(nvml::Handle handle, MemoryUse* memory) const;
  nvml::Return UtilizationOf(nvml::Handle handle, nvml::Utilization* load) const;
  nvml::Return Temperature(nvml::Handle handle, unsigned* celsius) const;
  nvml::Return Power(nvml::Handle handle, unsigned* milliwatts) const;
  nvml::Return PowerLimit(nvml::Handle handle, unsigned* milliwatts) const;
  nvml::Return Clock(nvml::Handle handle, unsigned kind, unsigned* mhz) const;
  nvml::Return MaxClock(nvml::Handle handle, unsigned kind, unsigned* mhz) const;
  nvml::Return Cores(nvml::Handle handle, unsigned* cores) const;
  nvml::Return Fan(nvml::Handle handle, unsigned* percent) const;
  nvml::Return SlowReasons(nvml::Handle handle, unsigned long long* bits) const;
  nvml::Return UncorrectedErrors(nvml::Handle handle, unsigned long long* count) const;
  nvml::Return RowsNotRemapped(nvml::Handle handle, bool* failed) const;

  struct Listed {
    unsigned pid = 0;
    std::optional<unsigned long long> used;
  };
  nvml::Return ComputeProcesses(nvml::Handle handle, std::vector<Listed>* list) const;
  nvml::Return GraphicsProcesses(nvml::Handle handle, std::vector<Listed>* list) const;

  bool MigEnabled(nvml::Handle handle) const;
  unsigned MigCount(nvml::Handle handle) const;  // places; not every one is taken
  nvml::Return MigByIndex(nvml::Handle parent, unsigned index, nvml::Handle* handle) const;
  std::optional<unsigned> GpuInstance(nvml::Handle mig) const;

  // Errors of devices that Watch was called for, each once.
  nvml::Return MakeEvents(nvml::Events* events) const;
  nvml::Return WatchXids(nvml::Handle handle, nvml::Events events) const;
  nvml::Return NextEvent(nvml::Events events, nvml::EventData* event) const;  // kTimeout: none
  void FreeEvents(nvml::Events events) const;

 private:
  template <class... Arguments>
  nvml::Return Call(const char* names, Arguments... arguments) const;

  void* library_ = nullptr;
  std::string trouble_;
};

}  // namespace ty
