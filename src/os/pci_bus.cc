#include "os/pci_bus.h"

#include <stdlib.h>

#include "posix/files.h"

namespace ty {

namespace {

// "0x10de\n"
unsigned long ReadHex(const std::string& path) {
  const auto text = ReadFile(path, 64);
  return text ? ::strtoul(text->c_str(), nullptr, 16) : 0;
}

std::string Hex4(unsigned long number) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text(4, '0');
  for (int i = 3; i >= 0; --i, number >>= 4) text[static_cast<size_t>(i)] = kDigits[number & 0xF];
  return text;
}

}  // namespace

std::vector<PciCard> ListNvidiaCards(const std::string& root) {
  constexpr unsigned long kNvidia = 0x10de, kDisplayClass = 0x03;
  std::vector<PciCard> cards;
  const std::string folder = root + "/sys/bus/pci/devices/";
  const auto addresses = ListFolder(folder);
  if (!addresses) return cards;
  for (const std::string& address : *addresses) {
    if (ReadHex(folder + address + "/vendor") != kNvidia) continue;
    if (ReadHex(folder + address + "/class") >> 16 != kDisplayClass) continue;
    cards.push_back({address, "10de:" + Hex4(ReadHex(folder + address + "/device"))});
  }
  return cards;
}

}  // namespace ty
