// What the probe's helper writes on a line and the watch reads. Both are the same program: no format that
// others may rely on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "os/device_watch.h"

namespace ty {

std::string ReportLine(const DeviceReport& report);                  // JSON, with the newline
std::optional<DeviceReport> ParseReportLine(std::string_view line);  // nothing when it is not one of ours

}  // namespace ty
