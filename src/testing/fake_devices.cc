#include "testing/fake_devices.h"

namespace ty {

Device FakeGpu(int index, int64_t memory) {
  Device device;
  device.id = "GPU-" + std::string(7, '0') + std::to_string(index) + "-0000-0000-0000-000000000000";
  device.kind = Device::Kind::kGpu;
  device.index = index;
  device.label = "GPU" + std::to_string(index);
  device.name = "NVIDIA GeForce RTX 3080";
  device.pci = "0000:0" + std::to_string(index) + ":00.0";
  device.memory = memory;
  device.strength = 1000 - index;
  return device;
}

bool FakeHost::Leave(const std::string& device) {
  if (left_behind) return false;
  left.push_back(device);
  return true;
}

HostClaim FakeHost::Claim(const std::string& device, bool, bool, const HostNote&) {
  HostClaim claim;
  if (again > 0) {
    again--;
    claim.again = true;
  } else if (gates.count(device) != 0) {
    claim.again = true;
  } else if (auto other = others.find(device); other != others.end()) {
    claim.holder = other->second;
  } else {
    claimed.push_back(device);
    claim.lock = std::make_shared<UniqueFd>();
  }
  return claim;
}

}  // namespace ty
