#include "os/device_roll.h"

#include <algorithm>

namespace ty {

namespace {

bool Lists(const std::vector<DeviceReading>& seen, const std::string& id) {
  return std::any_of(seen.begin(), seen.end(), [&](const DeviceReading& one) { return one.device.id == id; });
}

// A card by its place on the bus, or by its number alone, for as long as nobody can tell its UUID.
Device CardAt(const std::string& pci, int index, const std::string& model) {
  Device device;
  device.id = "pci:" + (pci.empty() ? "gpu" + std::to_string(index) : pci);
  device.kind = Device::Kind::kGpu;
  device.index = index;
  device.label = "GPU" + std::to_string(index);
  device.name = model.empty() ? "NVIDIA GPU" : "NVIDIA GPU " + model;
  device.pci = pci;
  device.usable = false;
  return device;
}

DeviceReading Without(Device device, DeviceHealth health, std::string detail) {
  DeviceReading reading;
  reading.device = std::move(device);
  reading.device.usable = false;
  reading.health = health;
  reading.detail = std::move(detail);
  return reading;
}

bool IsPlaceOnly(const Device& device) {
  return device.id.starts_with("pci:");
}

bool SamePlace(const Device& known, const Device& device) {
  if (known.kind != device.kind) return false;
  if (device.kind == Device::Kind::kMigSlice) return known.pci == device.pci && known.label == device.label;
  return device.pci.empty() ? known.index == device.index : known.pci == device.pci;
}

void TakeName(const Device& known, Device& device) {
  device.id = known.id;
  device.name = known.name;
  device.pci = known.pci;
  device.memory = known.memory;
  device.reserved = known.reserved;
  device.strength = known.strength;
}

// NVML numbers cards in the order of the bus, so one that cannot tell its place and was never seen is the
// first on the bus that no other claims.
void GuessPlaces(std::vector<DeviceReading>& seen, const std::vector<PciCard>& bus) {
  for (DeviceReading& one : seen) {
    if (!one.device.id.empty() || !one.device.pci.empty()) continue;
    for (const PciCard& card : bus) {
      const bool claimed = std::any_of(seen.begin(), seen.end(), [&](const DeviceReading& other) {
        return other.device.pci == card.address;
      });
      if (claimed) continue;
      one.device.pci = card.address;
      break;
    }
  }
}

// Numbers move up when a card goes: the one that is gone must not look like the one that has its number now.
void KeepLabelsApart(std::vector<DeviceReading>& missing, const std::vector<DeviceReading>& seen) {
  for (DeviceReading& gone : missing) {
    const bool taken = std::any_of(seen.begin(), seen.end(), [&](const DeviceReading& one) {
      return one.device.label == gone.device.label;
    });
    if (taken) gone.device.label += "-lost";
  }
}

}  // namespace

void DeviceRoll::Complete(DeviceReport& report, const std::vector<PciCard>& bus) {
  NameUnnamed(report.devices, bus);
  KeepChosen(report.devices);
  AddMissing(report.devices);
  std::erase_if(report.xids, [&](const DeviceXid& xid) { return !Lists(report.devices, xid.device); });
  last_ = report.devices;
}

// A handle that fails tells nothing, but its number stays the card's for as long as NVML counts it: first the
// card that had this number or place, then the bus.
void DeviceRoll::NameUnnamed(std::vector<DeviceReading>& seen, const std::vector<PciCard>& bus) const {
  const auto name_known = [&] {
    for (DeviceReading& one : seen) {
      if (!one.device.id.empty()) continue;
      const auto known = std::find_if(known_.begin(), known_.end(), [&](const Device& before) {
        return SamePlace(before, one.device) && !Lists(seen, before.id);
      });
      if (known != known_.end()) TakeName(*known, one.device);
    }
  };
  name_known();
  GuessPlaces(seen, bus);
  name_known();
  for (DeviceReading& one : seen) {
    Device& device = one.device;
    if (!device.id.empty()) continue;
    if (device.kind == Device::Kind::kMigSlice) {
      device.id = "pci:" + device.pci + device.label.substr(device.label.find('/'));
    } else {
      device = CardAt(device.pci, device.index, "");
    }
    device.usable = false;
  }
}

// `only_` names cards by number, which moves when a card goes: the first good look turns numbers into ids.
void DeviceRoll::KeepChosen(std::vector<DeviceReading>& seen) {
  if (only_.empty()) return;
  there_.clear();
  for (const DeviceReading& one : seen) there_ += (there_.empty() ? "" : ", ") + one.device.label;
  if (!chosen_) {
    chosen_.emplace();
    for (const int index : only_) {
      bool there = false;
      for (const DeviceReading& one : seen) {
        if (one.device.index != index) continue;
        chosen_->insert(one.device.id);
        there = true;
      }
      // Said rather than passed over in silence: whoever typed the number wants to know.
      if (!there) known_.push_back(CardAt("", index, ""));
    }
  }
  // A chosen card may get its UUID only now, or be cut into other slices: it is the same card.
  for (const DeviceReading& one : seen) {
    const bool same_card = std::any_of(known_.begin(), known_.end(), [&](const Device& known) {
      return known.pci.empty() ? known.index == one.device.index : known.pci == one.device.pci;
    });
    if (same_card) chosen_->insert(one.device.id);
  }
  std::erase_if(seen, [&](const DeviceReading& one) { return !chosen_->contains(one.device.id); });
}

void DeviceRoll::AddMissing(std::vector<DeviceReading>& seen) {
  // A card that was only a place until now has its name: it is not missing.
  std::erase_if(known_, [&](const Device& known) {
    return IsPlaceOnly(known) && std::any_of(seen.begin(), seen.end(), [&](const DeviceReading& one) {
             return known.id != one.device.id &&
                    (known.pci.empty() ? one.device.index == known.index : one.device.pci == known.pci);
           });
  });
  std::vector<DeviceReading> missing;
  for (const Device& known : known_) {
    if (Lists(seen, known.id)) continue;
    const bool never = known.pci.empty() && IsPlaceOnly(known);
    missing.push_back(never ? Without(known, DeviceHealth::kAbsent, there_)
                            : Without(known, DeviceHealth::kLost, "not listed any more"));
  }
  for (const DeviceReading& one : seen) {
    const auto it = std::find_if(known_.begin(), known_.end(),
                                 [&](const Device& known) { return known.id == one.device.id; });
    if (it == known_.end()) {
      known_.push_back(one.device);
    } else if (one.device.usable) {
      *it = one.device;
    }
  }
  KeepLabelsApart(missing, seen);
  std::move(missing.begin(), missing.end(), std::back_inserter(seen));
}

std::vector<DeviceReading> DeviceRoll::Unreadable(const std::vector<PciCard>& bus,
                                                  const std::string& detail) const {
  std::vector<DeviceReading> devices;
  for (const DeviceReading& one : last_) devices.push_back(Without(one.device, one.health, one.detail));
  if (!devices.empty()) return devices;
  int index = 0;
  for (const PciCard& card : bus) {
    const bool chosen = only_.empty() || std::find(only_.begin(), only_.end(), index) != only_.end();
    if (chosen)
      devices.push_back(Without(CardAt(card.address, index, card.model), DeviceHealth::kFailing, detail));
    ++index;
  }
  return devices;
}

}  // namespace ty
