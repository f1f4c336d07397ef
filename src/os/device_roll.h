// DeviceRoll remembers every GPU this yard has seen and calls the roll at each look: who is there, who is
// missing, and who hides behind a handle that does not answer. Pure but for what it remembers.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "os/device_watch.h"
#include "os/pci_bus.h"

namespace ty {

class DeviceRoll {
 public:
  // `only`: numbers of the GPUs to use as of the first good look; empty: all.
  explicit DeviceRoll(std::vector<int> only) : only_(std::move(only)) {}

  // Of a good look: devices without an id get the one they had, or one by their place on the bus; those seen
  // before and not listed are lost. XIDs of devices that are not ours to use are left out.
  void Complete(DeviceReport& report, const std::vector<PciCard>& bus);
  // When NVML does not answer: the devices as they were, unreadable; before any good look, cards on the bus.
  std::vector<DeviceReading> Unreadable(const std::vector<PciCard>& bus, const std::string& detail) const;

 private:
  void NameUnnamed(std::vector<DeviceReading>& seen, const std::vector<PciCard>& bus) const;
  void AddMissing(std::vector<DeviceReading>& seen);
  void KeepChosen(std::vector<DeviceReading>& seen);

  std::vector<int> only_;
  std::optional<std::set<std::string>> chosen_;  // ids behind `only_`: numbers move when a card goes
  std::vector<Device> known_;
  std::vector<DeviceReading> last_;  // of the last good look
  std::string there_;                // "GPU0, GPU1": labels of all that are there, chosen or not
};

}  // namespace ty
