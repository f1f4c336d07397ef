// Devices of the API put into words: the list for people, and the labels that stand for ids elsewhere.
#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/caller.h"

namespace ty {

class Link;

// "GPU0", "cpu:1"; the id when it has no label.
std::string LabelOf(const boost::json::value& device);

// The answer of /api/v1/devices as a table with lines below each device: why it is not given out, who uses it
// since when. Fits caller.width.
std::string DevicesTable(const Caller& caller, const boost::json::value& answer);

// Many labels in short: "GPU0-3, GPU6", joined by `gap`; three and more in a row are drawn together.
std::string LabelsText(const std::vector<std::string>& labels, const char* gap = " ");

// From ids to labels. An id it does not know stands cut short: "GPU-8f3a2c10…".
class DeviceLabels {
 public:
  DeviceLabels() = default;
  // From a list of devices.
  explicit DeviceLabels(const boost::json::array& devices);
  // For the devices named in `holders` (tasks or attempts); the yard is asked only when one of them is more
  // than a CPU slot, whose id is its label.
  static DeviceLabels For(Link& link, const boost::json::array& holders);

  std::string Of(const std::string& id) const;

 private:
  std::map<std::string, std::string> by_id_;
};

}  // namespace ty
