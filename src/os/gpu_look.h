// GpuLook turns what NVML says into a DeviceReport. Helper process only: any call may hang or abort.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "os/device_watch.h"
#include "os/nvml.h"
#include "os/process_facts.h"

namespace ty {

class GpuLook {
 public:
  explicit GpuLook(std::string library) : library_(std::move(library)) {}
  // A device whose handle or UUID cannot be had comes with an empty id, at its number; who knows the machine
  // from before gives it its name. After an error of the whole of NVML the next look initialises it afresh.
  DeviceReport Look();

 private:
  struct Lasting {  // does not change while a device keeps its UUID
    std::string name;
    double strength = 0;
  };
  struct Slow {  // changes seldom and costs more to read
    int64_t read_at = 0;
    std::optional<int64_t> ecc;
    bool rows_failed = false;
  };
  bool Begin(DeviceReport& report);
  void Fail(DeviceReport& report, nvml::Return code);
  void LookAtCard(unsigned index, DeviceReport& report);
  void LookAtSlices(nvml::Handle parent, const DeviceReading& card, DeviceReport& report);
  void ReadFigures(nvml::Handle handle, DeviceReading& reading);
  void ReadHealth(nvml::Handle handle, DeviceReading& reading);
  void ReadProcesses(nvml::Handle handle, DeviceReading& reading);
  const Lasting& LastingOf(nvml::Handle handle, const std::string& id);
  void Watch(nvml::Handle handle, const std::string& id);
  void TakeXids(DeviceReport& report);

  std::string library_;
  Nvml nvml_;
  bool begun_ = false;
  nvml::Events events_ = nullptr;
  std::map<nvml::Handle, std::string> watched_;  // card -> its id, as registered for events
  // Who lies on a card: slices with their instances, or the card itself.
  std::map<nvml::Handle, std::vector<std::pair<std::string, std::optional<unsigned>>>> on_card_;
  std::map<std::string, Lasting> lasting_;
  std::map<std::string, Slow> slow_;
  ProcessFacts facts_;
  bool trusted_ = HostPidsAreOurs();
};

}  // namespace ty
