#include "os/gpu_look.h"

#include <errno.h>
#include <signal.h>

#include <algorithm>

#include "posix/clocks.h"

namespace ty {

namespace {

using nvml::Handle;
using nvml::Return;

constexpr int64_t kSlowPeriod = 9'000'000'000;  // ns: at each look of an idle yard, at one of ten else
constexpr size_t kMostEvents = 256;
constexpr unsigned kMostSlices = 64;

ProbeState StateOf(Return code) {
  switch (code) {
    case nvml::kDriverNotLoaded:
      return ProbeState::kNoDriver;
    case nvml::kVersionMismatch:
      return ProbeState::kMismatch;
    case nvml::kNoPermission:
      return ProbeState::kNoPermission;
    case nvml::kLibraryNotFound:
      return ProbeState::kNoLibrary;
    default:
      return ProbeState::kFailing;
  }
}

DeviceHealth HealthOf(Return code) {
  if (code == nvml::kGpuIsLost) return DeviceHealth::kLost;
  if (code == nvml::kNoPermission) return DeviceHealth::kNoPermission;
  return DeviceHealth::kFailing;
}

// Errors that say something about the card, not about one figure that it lacks.
bool IsGrave(Return code) {
  return code == nvml::kGpuIsLost || code == nvml::kResetRequired || code == nvml::kInsufficientPower ||
         code == nvml::kIrqIssue;
}

// The name of a slice tells its size: "NVIDIA A100-SXM4-40GB MIG 1g.5gb".
std::string SliceLabel(int card, unsigned index) {
  return "GPU" + std::to_string(card) + "/" + std::to_string(index);
}

std::vector<std::string> NamesOfSlowness(unsigned long long bits) {
  constexpr std::pair<unsigned long long, const char*> kNames[] = {
      {nvml::kSlowClockSetting, "clock_setting"},
      {nvml::kSlowPowerCap, "power_cap"},
      {nvml::kSlowHardware, "hw_slowdown"},
      {nvml::kSlowSyncBoost, "sync_boost"},
      {nvml::kSlowThermal, "thermal"},
      {nvml::kSlowHardwareThermal, "hw_thermal"},
      {nvml::kSlowPowerBrake, "power_brake"},
      {nvml::kSlowDisplayClock, "display_clock"},
  };
  std::vector<std::string> names;
  for (const auto& [bit, name] : kNames) {
    if ((bits & bit) != 0) names.emplace_back(name);
  }
  return names;
}

}  // namespace

bool GpuLook::Begin(DeviceReport& report) {
  if (!nvml_.Open(library_)) {
    report.state = ProbeState::kNoLibrary;
    report.detail = nvml_.trouble();
    return false;
  }
  if (begun_) return true;
  const Return code = nvml_.Init();
  if (code != nvml::kSuccess) {
    report.state = StateOf(code);
    report.detail = nvml_.Words(code);
    return false;
  }
  begun_ = true;
  if (nvml_.MakeEvents(&events_) != nvml::kSuccess) events_ = nullptr;  // then errors show as lost cards only
  return true;
}

void GpuLook::Fail(DeviceReport& report, Return code) {
  report.state = StateOf(code);
  report.detail = nvml_.Words(code);
  report.devices.clear();
  if (events_ != nullptr) nvml_.FreeEvents(events_);
  events_ = nullptr;
  watched_.clear();
  nvml_.Shutdown();
  begun_ = false;
}

DeviceReport GpuLook::Look() {
  DeviceReport report;
  report.at = FromNanos(WallNanos());
  report.lists_trusted = trusted_;
  if (!Begin(report)) return report;
  unsigned count = 0;
  if (const Return code = nvml_.Count(&count); code != nvml::kSuccess && code != nvml::kGpuNotFound) {
    Fail(report, code);
    return report;
  }
  report.state = ProbeState::kGood;
  report.driver = nvml_.DriverVersion();
  report.cuda = nvml_.CudaVersion();
  on_card_.clear();
  for (unsigned index = 0; index < count; ++index) LookAtCard(index, report);
  TakeXids(report);
  facts_.Forget();
  return report;
}

void GpuLook::LookAtCard(unsigned index, DeviceReport& report) {
  DeviceReading card;
  card.device.kind = Device::Kind::kGpu;
  card.device.index = static_cast<int>(index);
  card.device.label = "GPU" + std::to_string(index);
  Handle handle = nullptr;
  Return code = nvml_.HandleByIndex(index, &handle);
  if (code == nvml::kSuccess) {
    nvml_.Pci(handle, &card.device.pci);
    code = nvml_.Uuid(handle, &card.device.id);
  }
  if (code != nvml::kSuccess) {
    card.health = HealthOf(code);
    card.detail = nvml_.Words(code);
    card.device.usable = false;
    report.devices.push_back(std::move(card));
    return;
  }
  const Lasting& lasting = LastingOf(handle, card.device.id);
  card.device.name = lasting.name;
  card.device.strength = lasting.strength;
  Watch(handle, card.device.id);
  if (nvml_.MigEnabled(handle)) return LookAtSlices(handle, card, report);
  on_card_[handle].emplace_back(card.device.id, std::nullopt);
  ReadFigures(handle, card);
  ReadHealth(handle, card);
  ReadProcesses(handle, card);
  report.devices.push_back(std::move(card));
}

// A card in MIG mode is nothing to lease itself. The numbers of its slices have gaps.
void GpuLook::LookAtSlices(Handle parent, const DeviceReading& card, DeviceReport& report) {
  Nvml::MemoryUse whole;
  nvml_.Memory(parent, &whole);
  DeviceReading health;  // an error of the card is one of each slice
  health.device.id = card.device.id;
  ReadHealth(parent, health);
  const unsigned count = std::min(nvml_.MigCount(parent), kMostSlices);
  for (unsigned index = 0; index < count; ++index) {
    Handle handle = nullptr;
    Return code = nvml_.MigByIndex(parent, index, &handle);
    if (code == nvml::kNotFound || code == nvml::kInvalidArgument) continue;  // a free place
    DeviceReading slice;
    slice.device = card.device;
    slice.device.id.clear();
    slice.device.kind = Device::Kind::kMigSlice;
    slice.device.label = SliceLabel(card.device.index, index);
    if (code == nvml::kSuccess) code = nvml_.Uuid(handle, &slice.device.id);
    if (code != nvml::kSuccess) {
      slice.health = HealthOf(code);
      slice.detail = nvml_.Words(code);
      slice.device.usable = false;
      report.devices.push_back(std::move(slice));
      continue;
    }
    nvml_.Name(handle, &slice.device.name);
    on_card_[parent].emplace_back(slice.device.id, nvml_.GpuInstance(handle));
    ReadFigures(handle, slice);
    if (whole.total > 0)
      slice.device.strength *= static_cast<double>(slice.device.memory) / static_cast<double>(whole.total);
    if (slice.health == DeviceHealth::kGood && health.health != DeviceHealth::kGood) {
      slice.health = health.health;
      slice.detail = health.detail;
      slice.device.usable = false;
    }
    slice.ecc_uncorrectable = health.ecc_uncorrectable;
    ReadProcesses(handle, slice);
    report.devices.push_back(std::move(slice));
  }
}

const GpuLook::Lasting& GpuLook::LastingOf(Handle handle, const std::string& id) {
  auto [it, is_new] = lasting_.try_emplace(id);
  Lasting& lasting = it->second;
  if (!is_new && !lasting.name.empty()) return lasting;
  nvml_.Name(handle, &lasting.name);
  unsigned cores = 0, mhz = 0;
  if (nvml_.Cores(handle, &cores) == nvml::kSuccess &&
      nvml_.MaxClock(handle, nvml::kClockSm, &mhz) == nvml::kSuccess)
    lasting.strength = static_cast<double>(cores) * mhz;
  return lasting;
}

void GpuLook::ReadFigures(Handle handle, DeviceReading& reading) {
  Return grave = nvml::kSuccess;
  const auto got = [&](Return code) {
    if (IsGrave(code) && grave == nvml::kSuccess) grave = code;
    return code == nvml::kSuccess;
  };
  const auto read = [&](auto member, std::optional<double>& figure, double scale) {
    unsigned value = 0;
    if (got((nvml_.*member)(handle, &value))) figure = value * scale;
  };
  Nvml::MemoryUse memory;
  const Return code = nvml_.Memory(handle, &memory);
  if (got(code)) {
    reading.device.memory = static_cast<int64_t>(memory.total);
    reading.device.reserved = static_cast<int64_t>(std::min(memory.reserved, memory.total));
    reading.memory_used = static_cast<int64_t>(memory.used);
    reading.memory_free = static_cast<int64_t>(memory.free);
  } else if (code == nvml::kUnknown || code == nvml::kUninitialized) {
    grave = code;  // every card can tell its memory unless something is very wrong
  }
  nvml::Utilization load = {};
  if (got(nvml_.UtilizationOf(handle, &load))) {
    reading.utilisation = load.gpu / 100.0;
    reading.memory_utilisation = load.memory / 100.0;
  }
  read(&Nvml::Temperature, reading.temperature_c, 1);
  read(&Nvml::Power, reading.power_w, 0.001);
  read(&Nvml::PowerLimit, reading.power_limit_w, 0.001);
  read(&Nvml::Fan, reading.fan, 0.01);
  unsigned mhz = 0;
  if (got(nvml_.Clock(handle, nvml::kClockSm, &mhz))) reading.clock_mhz = mhz;
  if (got(nvml_.Clock(handle, nvml::kClockMemory, &mhz))) reading.memory_clock_mhz = mhz;
  unsigned long long slow = 0;
  if (got(nvml_.SlowReasons(handle, &slow))) reading.throttle = NamesOfSlowness(slow);
  if (grave == nvml::kSuccess) return;
  reading.health = HealthOf(grave);
  reading.detail = nvml_.Words(grave);
  reading.device.usable = false;
}

void GpuLook::ReadHealth(Handle handle, DeviceReading& reading) {
  Slow& slow = slow_[reading.device.id];
  const int64_t now = MonotonicNanos();
  if (slow.read_at == 0 || now - slow.read_at >= kSlowPeriod) {
    slow = {now, std::nullopt, false};
    unsigned long long count = 0;
    if (nvml_.UncorrectedErrors(handle, &count) == nvml::kSuccess) slow.ecc = static_cast<int64_t>(count);
    nvml_.RowsNotRemapped(handle, &slow.rows_failed);
  }
  reading.ecc_uncorrectable = slow.ecc;
  if (reading.health != DeviceHealth::kGood) return;
  if (!slow.rows_failed && slow.ecc.value_or(0) == 0) return;
  reading.health = DeviceHealth::kUncorrectable;
  reading.detail = slow.rows_failed ? "row remapping failed" : "uncorrectable ECC errors";
  reading.device.usable = false;
}

void GpuLook::ReadProcesses(Handle handle, DeviceReading& reading) {
  std::vector<Nvml::Listed> compute, graphics;
  if (nvml_.ComputeProcesses(handle, &compute) != nvml::kSuccess) return;
  nvml_.GraphicsProcesses(handle, &graphics);
  std::map<unsigned, DeviceProcess> by_pid;
  const auto add = [&](const Nvml::Listed& listed, DeviceProcess::Type type) {
    auto [it, is_new] = by_pid.try_emplace(listed.pid);
    if (!is_new) {  // in both lists: a compute process that draws
      it->second.draws = true;
      return;
    }
    it->second.pid = static_cast<int>(listed.pid);
    it->second.type = type;
    if (listed.used) it->second.memory = static_cast<int64_t>(*listed.used);
  };
  for (const Nvml::Listed& listed : compute) add(listed, DeviceProcess::Type::kCompute);
  for (const Nvml::Listed& listed : graphics) add(listed, DeviceProcess::Type::kGraphics);
  std::vector<DeviceProcess>& processes = reading.processes.emplace();
  for (auto& [pid, process] : by_pid) {
    // What ended between the list and this look is not worth a line. One that /proc hides from us (hidepid)
    // still answers to its number.
    const bool found = facts_.Fill(process, trusted_);
    const bool gone = !found && trusted_ && ::kill(process.pid, 0) != 0 && errno == ESRCH;
    if (!gone) processes.push_back(std::move(process));
  }
}

void GpuLook::Watch(Handle handle, const std::string& id) {
  if (events_ == nullptr) return;
  std::string& registered = watched_[handle];
  if (registered == id) return;
  if (nvml_.WatchXids(handle, events_) == nvml::kSuccess) registered = id;
}

void GpuLook::TakeXids(DeviceReport& report) {
  if (events_ == nullptr) return;
  for (size_t i = 0; i < kMostEvents; ++i) {
    nvml::EventData event = {};
    if (nvml_.NextEvent(events_, &event) != nvml::kSuccess) return;
    if (event.type != nvml::kXidEvent) continue;
    const auto xid = static_cast<int64_t>(event.data);
    const auto on_card = on_card_.find(event.device);
    if (on_card == on_card_.end()) {
      const auto card = watched_.find(event.device);
      if (card != watched_.end()) report.xids.push_back({card->second, xid});
      continue;
    }
    // An event of one instance is its slice's; one of the card is everybody's on it.
    const bool of_card = event.gpu_instance == nvml::kNoInstance;
    for (const auto& [id, instance] : on_card->second) {
      if (of_card || !instance || *instance == event.gpu_instance) report.xids.push_back({id, xid});
    }
  }
}

}  // namespace ty
