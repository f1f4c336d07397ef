#include "engine/local/devices_told.h"

#include <boost/json.hpp>

#include "model/outcome.h"
#include "msg/head.h"
#include "posix/files.h"

namespace ty {

namespace {

constexpr size_t kLongestHead = 1 << 20;

// "GPU-a,GPU-b" and "cpu:0, cpu:1".
std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    parts.emplace_back(part);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

// Whether the head says with what it was started (of GPUs only the labels, which tell nothing later), and the
// CPU slots that it names.
bool ReadHead(const AttemptPaths& paths, std::vector<std::string>& slots) {
  const auto text = ReadFile(paths.Head(), kLongestHead);
  boost::json::error_code bad;
  const boost::json::value head = boost::json::parse(text.value_or(""), bad);
  if (bad || !head.is_array()) return false;
  for (const boost::json::value& item : head.get_array()) {
    const Result<Message> message = ParseMessage(item);
    if (!message) continue;
    if (message->id == msg::HeadGpus::kId) return false;
    if (message->id == msg::HeadCores::kId) return true;
    if (message->id != msg::HeadDevices::kId) continue;
    for (const auto& [name, value] : message->args)
      if (const auto* labels = std::get_if<std::string>(&value); labels && name == "devices")
        slots = SplitAtCommas(*labels);
    return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<std::string>> DevicesTold(const wire::ShimSpec& spec, const AttemptPaths& paths) {
  if (spec.devices) return spec.devices;
  std::vector<std::string> devices;
  const bool said = ReadHead(paths, devices);
  for (const std::string& variable : spec.environment) {
    constexpr std::string_view kVisible = "CUDA_VISIBLE_DEVICES=";
    if (!variable.starts_with(kVisible)) continue;
    for (std::string& device : SplitAtCommas(std::string_view(variable).substr(kVisible.size())))
      if (device.starts_with("GPU-") || device.starts_with("MIG-")) devices.push_back(std::move(device));
  }
  if (!said && devices.empty()) return std::nullopt;
  return devices;
}

}  // namespace ty
