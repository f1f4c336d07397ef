#include "os/report_json.h"

#include <boost/json.hpp>

namespace ty {

namespace {

namespace json = boost::json;

template <class Enum>
std::optional<Enum> EnumOf(int64_t number, Enum last) {
  if (number < 0 || number > static_cast<int64_t>(last)) return std::nullopt;
  return static_cast<Enum>(number);
}

template <class Value>
void PutIf(json::object& object, const char* key, const std::optional<Value>& value) {
  if (value) object[key] = *value;
}

// Reads members that may be missing; a wrong type counts as missing.
class Reader {
 public:
  explicit Reader(const json::object& object) : object_(object) {}
  std::string Text(const char* key) const {
    const json::string* text = object_.contains(key) ? object_.at(key).if_string() : nullptr;
    return text == nullptr ? "" : std::string(*text);
  }
  std::optional<int64_t> Int(const char* key) const {
    const json::value* value = object_.if_contains(key);
    if (value == nullptr) return std::nullopt;
    json::error_code error;
    const auto number = value->to_number<int64_t>(error);
    return error ? std::nullopt : std::optional<int64_t>(number);
  }
  std::optional<double> Real(const char* key) const {
    const json::value* value = object_.if_contains(key);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->to_number<double>();
  }
  bool Flag(const char* key) const {
    const json::value* value = object_.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
  }
  const json::array* List(const char* key) const {
    const json::value* value = object_.if_contains(key);
    return value == nullptr ? nullptr : value->if_array();
  }

 private:
  const json::object& object_;
};

json::object Json(const DeviceProcess& process) {
  json::object object = {{"pid", process.pid}, {"type", static_cast<int>(process.type)}};
  PutIf(object, "memory", process.memory);
  if (process.draws) object["draws"] = true;
  if (!process.visible) return object;
  object["user"] = process.user;
  object["command"] = process.command;
  object["start"] = process.start;
  if (process.since) object["since"] = ToNanos(*process.since);
  if (process.attempt) object["attempt"] = process.attempt->Text();
  return object;
}

DeviceProcess ProcessOf(const json::object& object) {
  const Reader read(object);
  DeviceProcess process;
  process.pid = static_cast<int>(read.Int("pid").value_or(0));
  process.type = EnumOf(read.Int("type").value_or(0), DeviceProcess::Type::kGraphics)
                     .value_or(DeviceProcess::Type::kCompute);
  process.memory = read.Int("memory");
  process.draws = object.contains("draws");
  process.visible = object.contains("user");
  process.user = read.Text("user");
  process.command = read.Text("command");
  process.start = static_cast<uint64_t>(read.Int("start").value_or(0));
  if (const auto since = read.Int("since")) process.since = FromNanos(*since);
  process.attempt = Ulid::Parse(read.Text("attempt"));
  return process;
}

json::object Json(const DeviceReading& reading) {
  const Device& device = reading.device;
  json::object object = {{"id", device.id},
                         {"kind", static_cast<int>(device.kind)},
                         {"index", device.index},
                         {"label", device.label},
                         {"name", device.name},
                         {"pci", device.pci},
                         {"memory", device.memory},
                         {"reserved", device.reserved},
                         {"strength", device.strength},
                         {"usable", device.usable},
                         {"health", static_cast<int>(reading.health)},
                         {"detail", reading.detail}};
  PutIf(object, "used", reading.memory_used);
  PutIf(object, "free", reading.memory_free);
  PutIf(object, "load", reading.utilisation);
  PutIf(object, "memory_load", reading.memory_utilisation);
  PutIf(object, "temperature", reading.temperature_c);
  PutIf(object, "power", reading.power_w);
  PutIf(object, "power_limit", reading.power_limit_w);
  PutIf(object, "clock", reading.clock_mhz);
  PutIf(object, "memory_clock", reading.memory_clock_mhz);
  PutIf(object, "fan", reading.fan);
  PutIf(object, "ecc", reading.ecc_uncorrectable);
  if (!reading.throttle.empty()) object["throttle"] = json::value_from(reading.throttle);
  if (reading.processes) {
    json::array& list = (object["processes"] = json::array()).get_array();
    for (const DeviceProcess& process : *reading.processes) list.push_back(Json(process));
  }
  return object;
}

std::optional<DeviceReading> ReadingOf(const json::object& object) {
  const Reader read(object);
  DeviceReading reading;
  Device& device = reading.device;
  const auto kind = EnumOf(read.Int("kind").value_or(-1), Device::Kind::kMigSlice);
  const auto health = EnumOf(read.Int("health").value_or(-1), DeviceHealth::kUncorrectable);
  if (!kind || !health) return std::nullopt;
  device.kind = *kind;
  device.id = read.Text("id");
  device.index = static_cast<int>(read.Int("index").value_or(0));
  device.label = read.Text("label");
  device.name = read.Text("name");
  device.pci = read.Text("pci");
  device.memory = read.Int("memory").value_or(0);
  device.reserved = read.Int("reserved").value_or(0);
  device.strength = read.Real("strength").value_or(0);
  device.usable = read.Flag("usable");
  reading.health = *health;
  reading.detail = read.Text("detail");
  reading.memory_used = read.Int("used");
  reading.memory_free = read.Int("free");
  reading.utilisation = read.Real("load");
  reading.memory_utilisation = read.Real("memory_load");
  reading.temperature_c = read.Real("temperature");
  reading.power_w = read.Real("power");
  reading.power_limit_w = read.Real("power_limit");
  reading.clock_mhz = read.Real("clock");
  reading.memory_clock_mhz = read.Real("memory_clock");
  reading.fan = read.Real("fan");
  reading.ecc_uncorrectable = read.Int("ecc");
  if (const json::array* reasons = read.List("throttle")) {
    for (const json::value& reason : *reasons) {
      if (reason.is_string()) reading.throttle.emplace_back(reason.get_string());
    }
  }
  if (const json::array* processes = read.List("processes")) {
    reading.processes.emplace();
    for (const json::value& process : *processes) {
      if (process.is_object()) reading.processes->push_back(ProcessOf(process.get_object()));
    }
  }
  return reading;
}

}  // namespace

std::string ReportLine(const DeviceReport& report) {
  json::object object = {{"at", ToNanos(report.at)}, {"state", static_cast<int>(report.state)},
                         {"detail", report.detail},  {"driver", report.driver},
                         {"cuda", report.cuda},      {"trusted", report.lists_trusted},
                         {"devices", json::array()}, {"xids", json::array()}};
  for (const DeviceReading& reading : report.devices) object["devices"].get_array().push_back(Json(reading));
  for (const DeviceXid& xid : report.xids)
    object["xids"].get_array().push_back(json::array{json::value(xid.device), xid.xid});
  return json::serialize(object) + "\n";
}

std::optional<DeviceReport> ParseReportLine(std::string_view line) {
  json::error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // names come from the driver
  const json::value value = json::parse(line, error, {}, options);
  if (error || !value.is_object()) return std::nullopt;
  const Reader read(value.get_object());
  const auto state = EnumOf(read.Int("state").value_or(-1), ProbeState::kFailing);
  const json::array* devices = read.List("devices");
  if (!state || devices == nullptr) return std::nullopt;
  DeviceReport report;
  report.at = FromNanos(read.Int("at").value_or(0));
  report.state = *state;
  report.detail = read.Text("detail");
  report.driver = read.Text("driver");
  report.cuda = read.Text("cuda");
  report.lists_trusted = read.Flag("trusted");
  for (const json::value& device : *devices) {
    auto reading = device.is_object() ? ReadingOf(device.get_object()) : std::nullopt;
    if (!reading) return std::nullopt;
    report.devices.push_back(std::move(*reading));
  }
  if (const json::array* xids = read.List("xids")) {
    for (const json::value& entry : *xids) {
      const json::array* pair = entry.if_array();
      if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_int64()) continue;
      report.xids.push_back({std::string((*pair)[0].get_string()), (*pair)[1].get_int64()});
    }
  }
  return report;
}

}  // namespace ty
