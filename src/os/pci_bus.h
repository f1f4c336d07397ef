// NVIDIA cards as the kernel sees them, whatever their driver says.
#pragma once

#include <string>
#include <vector>

namespace ty {

struct PciCard {
  std::string address;  // "0000:01:00.0"
  std::string model;    // "10de:2206"
  bool operator==(const PciCard&) const = default;
};
// Display controllers of NVIDIA in the order of their addresses. `root` goes before /sys.
std::vector<PciCard> ListNvidiaCards(const std::string& root);

}  // namespace ty
