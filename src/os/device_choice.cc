#include <algorithm>

#include "base/text.h"
#include "msg/devices.h"
#include "os/probe.h"

namespace ty {

namespace {

constexpr int kMostSlots = 4096;
constexpr int kMostGpus = 1024;
constexpr std::string_view kCpu = "cpu:", kGpu = "gpu:";

// "0,2"; nothing when a word is no number, too big or there twice.
std::optional<std::vector<int>> ParseNumbers(std::string_view text) {
  std::vector<int> numbers;
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::optional<int64_t> number = ParseInt(text.substr(0, comma));
    if (!number || *number < 0 || *number >= kMostGpus) return std::nullopt;
    if (std::find(numbers.begin(), numbers.end(), *number) != numbers.end()) return std::nullopt;
    numbers.push_back(static_cast<int>(*number));
    if (comma == text.size()) return numbers;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<DeviceChoice> DeviceChoice::Parse(std::string_view text) {
  DeviceChoice choice;
  if (text.empty()) return choice;
  if (text == "gpu") {
    choice.kind = Kind::kGpu;
    return choice;
  }
  if (text.starts_with(kGpu)) {
    auto gpus = ParseNumbers(text.substr(kGpu.size()));
    if (!gpus) return Invalid(msg::DevicesGpuNumbers{.text = Printable(text)}, "/devices");
    choice.kind = Kind::kGpu;
    choice.gpus = std::move(*gpus);
    return choice;
  }
  if (!text.starts_with(kCpu)) return Invalid(msg::DevicesUnknown{.text = Printable(text)}, "/devices");
  const std::optional<int64_t> slots = ParseInt(text.substr(kCpu.size()));
  if (!slots || *slots < 1 || *slots > kMostSlots) {
    return Invalid(msg::DevicesSlotsRange{.text = Printable(text), .most = kMostSlots}, "/devices");
  }
  choice.kind = Kind::kCpu;
  choice.cpu_slots = static_cast<int>(*slots);
  return choice;
}

}  // namespace ty
