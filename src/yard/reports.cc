// What the watch saw is taken in: devices come and go, fall ill, are used from outside, run out of memory.
// Our own ledger decides who has what; a report only adds use from outside (queues 4.7).
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "msg/device.h"
#include "msg/outcome.h"
#include "msg/probe.h"
#include "yard/yard.h"

namespace ty {

namespace {

namespace json = boost::json;

// What counts as use from outside (design section 4).
constexpr int64_t kForeignMemory = int64_t{500} << 20;
constexpr double kForeignLoad = 0.8;
constexpr int64_t kHiddenMemory = int64_t{1} << 30;  // held by nobody who can be seen (contracts C16)
constexpr Duration kHeldByNobody = seconds(5);
constexpr Duration kLookAgain = milliseconds(100);  // at a card that is not free yet
constexpr size_t kCommandShown = 60;                // bytes of a foreign process's command
// What a driver keeps for itself wavers by a few MiB.
constexpr int64_t kWavers = int64_t{64} << 20;
// Of a shared device: less free than this and the next allocation of anybody fails.
constexpr int64_t kShortage = int64_t{256} << 20;

std::optional<Message> TroubleOf(ProbeState state, const std::string& detail) {
  switch (state) {
    case ProbeState::kNone:
    case ProbeState::kGood:
      return std::nullopt;
    case ProbeState::kNoLibrary:
      return msg::ProbeNoLibrary{};
    case ProbeState::kNoDriver:
      return msg::ProbeNoDriver{};
    case ProbeState::kMismatch:
      return msg::ProbeMismatch{};
    case ProbeState::kNoPermission:
      return msg::ProbeNoPermission{};
    case ProbeState::kHanging:
      return msg::ProbeHanging{};
    case ProbeState::kCrashed:
      return msg::ProbeCrashed{};
    case ProbeState::kFailing:
      break;
  }
  return msg::ProbeFailing{.detail = detail};
}

// What processes that cannot tell their memory may hold (WSL, some drivers): all that no other accounts for.
int64_t UntoldMemory(const DeviceReading& reading) {
  int64_t left = reading.memory_used.value_or(0);
  for (const DeviceProcess& process : *reading.processes) left -= process.memory.value_or(0);
  return std::max<int64_t>(0, left);
}

// Parts that were given must go on adding up to the whole, so what can be given stays as it was for as long
// as somebody has a part of it.
int64_t ReservedOf(const Entry& entry, int64_t seen) {
  if (entry.device.memory == 0) return seen;
  const bool wavers = std::abs(seen - entry.device.reserved) < kWavers;
  return wavers || !entry.leases.empty() ? entry.device.reserved : seen;
}

std::string Cut(const std::string& text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

}  // namespace

bool Yard::IsLive(const std::optional<Ulid>& attempt) const {
  return attempt && lives_.count(*attempt) != 0;
}

void Yard::Apply(DeviceReport& report) {
  Journal::Patience patience(journal_);
  probe_ = report.state;
  probe_trouble_ = TroubleOf(report.state, report.detail);
  if (!report.driver.empty()) driver_ = report.driver;
  if (!report.cuda.empty()) cuda_ = report.cuda;
  machine_.complete = report.state == ProbeState::kGood || report.state == ProbeState::kNone;

  std::set<std::string> seen, labels;
  for (DeviceReading& reading : report.devices) {
    const std::string id = reading.device.id;
    seen.insert(id);
    const bool placeholder = IsPlaceholder(reading.device);
    // A card that is known by its UUID and cannot be read now is still that card.
    const Entry* known = placeholder ? KnownAt(reading, report) : nullptr;
    if (known != nullptr) {
      seen.insert(known->device.id);
      reading.device = known->device;
    }
    const Entry* before = ledger_.Find(reading.device.id);
    const bool is_new = before == nullptr;
    if (!is_new) reading.device.reserved = ReservedOf(*before, reading.device.reserved);
    if (is_new || before->device != reading.device)
      decide_ = true;  // somebody may have waited for such a one
    Entry& entry = ledger_.Put(reading.device);
    if (is_new && !placeholder) {
      Emit("device.added", std::nullopt, 0,
           {{"device", entry.device.id},
            {"label", entry.device.label},
            {"name", entry.device.name},
            {"memory", entry.device.memory}});
    }
    labels.insert(entry.device.label);
    TakeIn(entry, std::move(reading), report);
  }
  // Cards read well have their true identity now; CPU slots made up before the driver came are not needed.
  const bool good = report.state == ProbeState::kGood && !report.devices.empty();
  const bool none = report.state == ProbeState::kNone;
  std::vector<std::string> unwanted;
  for (Entry& entry : ledger_.entries()) {
    const bool gpu = IsGpu(entry.device);
    entry.seen = seen.count(entry.device.id) != 0;
    if (gpu && !entry.seen && (none || IsPlaceholder(entry.device))) unwanted.push_back(entry.device.id);
    if (!gpu && good && !settings_.devices_chosen) unwanted.push_back(entry.device.id);
    if (!gpu || entry.seen || none || entry.retired) continue;
    // It was there before the yard was last started (queues 4.7, case 92: run on what there is, and say so).
    entry.unread = probe_trouble_;
    if (entry.unread && !entry.unread_since) entry.unread_since = Wall();
    if (good) {
      // Numbers move up when a card goes: the one that is gone must not look like the one that has its now.
      if (labels.contains(entry.device.label)) entry.device.label += "-lost";
      TakeOut(entry, OutOfService::Why::kLost, msg::DeviceLost{.device = entry.device.label});
    }
    Refresh(entry);
  }
  for (const std::string& id : unwanted) {
    Entry& entry = *ledger_.Find(id);
    if (entry.leases.empty()) {
      ledger_.Drop(id);
    } else if (!entry.retired) {
      entry.retired = true;
      Refresh(entry);
    }
    decide_ = true;
  }
  if (settings_.expect_gpus && report.devices.empty() && machine_.complete && ledger_.entries().empty()) {
    for (const Device& device : machine_.devices) ledger_.Put(device);
    decide_ = true;
  }
  for (const DeviceXid& xid : report.xids) {
    Entry* entry = ledger_.Find(xid.device);
    if (entry == nullptr) continue;
    const XidClass what = ClassOfXid(xid.xid);
    if (what == XidClass::kHarmless) continue;
    for (const Entry::Tenancy& tenancy : entry->leases) {
      Live* live = FindLive(tenancy.lease.attempt);
      if (live == nullptr) continue;
      live->xids.push_back({xid.xid, entry->device.label});
      live->device_broke = live->device_broke || what == XidClass::kHardware;
    }
    if (what == XidClass::kHardware) {
      TakeOut(*entry, OutOfService::Why::kXid, msg::DeviceXid{.device = entry->device.label, .xid = xid.xid});
    }
  }
  for (const AttemptMemory& memory : report.memory) {
    const Live* live = FindLive(memory.attempt);
    if (live == nullptr || !live->leased) continue;
    for (const std::string& id : live->attempt.devices) {
      Entry* entry = ledger_.Find(id);
      if (entry != nullptr && !IsGpu(entry->device)) entry->Of(memory.attempt)->used = memory.bytes;
    }
  }
  for (Entry& entry : ledger_.entries()) {
    if (!entry.leases.empty()) LookForMemory(entry, report);
  }
  if (!strays_.empty()) KeepFromStrays();
  if (report.state == ProbeState::kGood) KeepKnown();
  ConcludeMute(report.at);
}

// The card we know by its UUID that a placeholder of the report stands for: the one at its place on the bus.
// Where no bus is to be seen (WSL, containers), the one of its number, which stays a card's for as long as
// NVML counts it.
const Entry* Yard::KnownAt(const DeviceReading& reading, const DeviceReport& report) const {
  if (reading.health == DeviceHealth::kAbsent) return nullptr;
  const auto listed = [&](const std::string& id) {
    return std::any_of(report.devices.begin(), report.devices.end(),
                       [&](const DeviceReading& one) { return one.device.id == id; });
  };
  const std::string& pci = reading.device.pci;
  const Entry* known = nullptr;
  for (const Entry& entry : ledger_.entries()) {
    if (!IsGpu(entry.device) || IsPlaceholder(entry.device)) continue;
    const bool same = pci.empty() ? entry.device.index == reading.device.index && !listed(entry.device.id)
                                  : entry.device.pci == pci;
    if (same) known = &entry;
  }
  return known;
}

void Yard::TakeIn(Entry& entry, DeviceReading&& reading, const DeviceReport& report) {
  const std::string& label = entry.device.label;
  const DeviceHealth health = reading.health;
  const std::string detail = reading.detail;
  entry.retired = false;
  entry.unread.reset();
  if (probe_trouble_) entry.unread = probe_trouble_;
  if (!entry.unread && health == DeviceHealth::kFailing)
    entry.unread = msg::DeviceHandle{.device = label, .detail = detail};
  if (!entry.unread && health == DeviceHealth::kNoPermission)
    entry.unread = msg::DeviceDenied{.device = label};
  if (!entry.unread && health == DeviceHealth::kAbsent) {
    const int64_t number = entry.device.index;
    entry.unread = detail.empty() ? Message(msg::DeviceAbsentAll{.number = number})
                                  : msg::DeviceAbsent{.number = number, .devices = detail};
  }
  if (!entry.unread) entry.unread_since.reset();
  if (entry.unread && !entry.unread_since && health != DeviceHealth::kAbsent) entry.unread_since = Wall();
  entry.reading = std::move(reading);
  entry.read_at = report.at;

  if (!entry.unread && health == DeviceHealth::kLost)
    TakeOut(entry, OutOfService::Why::kLost, msg::DeviceLost{.device = label});
  if (!entry.unread && health == DeviceHealth::kUncorrectable)
    TakeOut(entry, OutOfService::Why::kEcc, msg::DeviceEcc{.device = label});
  // After a reboot a card that reads well has been looked at enough.
  if (entry.out && entry.out->boot != settings_.boot && !entry.unread && health == DeviceHealth::kGood &&
      entry.out->why != OutOfService::Why::kXid)
    Restore(entry);

  if (entry.unread || health != DeviceHealth::kGood) {
    entry.foreign.clear();
    entry.foreign_reason.reset();
    entry.memory_held.reset();
  } else {
    const HostHolder* holder = nullptr;
    for (const auto& [id, other] : report.elsewhere) {
      if (id == entry.device.id) holder = &other;
    }
    // What still has a card just given back is what is left of our own attempt, about to go.
    const bool ours = !entry.leases.empty() || entry.settling;
    const bool asked =
        std::find(report.asked.begin(), report.asked.end(), entry.device.id) != report.asked.end();
    if (ours || (asked && holder == nullptr)) {
      entry.elsewhere.reset();
    } else if (holder != nullptr) {
      entry.elsewhere = *holder;
      entry.noted = entry.noted || holder->instance == settings_.instance;
    }
    // What was left behind has ended: our note beside the lock says nothing any more.
    if (!ours && !entry.elsewhere && entry.noted) entry.noted = !host_->Leave(entry.device.id);
    Settle(entry, report, holder != nullptr || (host_ != nullptr && !asked));
    LookForForeign(entry, report);
  }
  Refresh(entry);
}

// A card just given back is free again when nothing of ours is left on it, or after a while in any case.
void Yard::Settle(Entry& entry, const DeviceReport& report, bool locked) {
  if (!entry.settling || report.at <= entry.settling->first) return;
  const DeviceReading& reading = *entry.reading;
  const bool processes =
      reading.processes &&
      std::any_of(reading.processes->begin(), reading.processes->end(), [](const DeviceProcess& process) {
        return process.type == DeviceProcess::Type::kCompute && process.attempt.has_value();
      });
  const bool free = !processes && !locked && reading.memory_used.value_or(0) <= kHiddenMemory;
  if (free || !entry.leases.empty()) {
    entry.settling.reset();
  } else {
    device_due_.emplace(now_ + kLookAgain, entry.device.id);
  }
}

// Compute processes that have no lease on the card and hold memory together, or load that nobody who has one
// makes. A desktop on GPU 0 is not foreign. While the device is ours, what cannot be seen is taken for ours
// (a container's PIDs).
void Yard::LookForForeign(Entry& entry, const DeviceReport& report) {
  const DeviceReading& reading = *entry.reading;
  const std::vector<DeviceProcess> before = std::exchange(entry.foreign, {});
  entry.foreign_reason.reset();
  const bool ours = !entry.leases.empty();
  bool anybody = false, ignored_user = false, others_untold = false;
  std::vector<DeviceProcess> outsiders;
  if (reading.processes) {
    for (const DeviceProcess& process : *reading.processes) {
      const bool hidden_tenant = ours && !process.visible && process.type == DeviceProcess::Type::kCompute;
      const bool tenant = process.attempt && entry.Of(*process.attempt) != nullptr;
      if (tenant || hidden_tenant) others_untold = others_untold || !process.memory;
      if (tenant) continue;
      anybody = true;
      if (process.type != DeviceProcess::Type::kCompute || hidden_tenant) continue;
      if (entry.ignored.count({process.pid, process.start}) != 0) {
        ignored_user = true;
        others_untold = others_untold || !process.memory;
        continue;
      }
      // A part of a desktop, as long as it does not hold by itself what a training does.
      if (process.draws && process.memory.value_or(0) <= kForeignMemory) {
        others_untold = others_untold || !process.memory;
        continue;
      }
      if (process.visible || !entry.ignore_hidden) outsiders.push_back(process);
    }
  }
  entry.bare = !anybody && (ours || reading.memory_used.value_or(0) <= kForeignMemory);
  const std::string& label = entry.device.label;
  const bool idle_for_us = !ours && !entry.settling && !entry.elsewhere && !ignored_user;
  const int64_t used = reading.memory_used.value_or(0);
  const bool loaded = idle_for_us && reading.utilisation.value_or(0) >= kForeignLoad;
  // What nobody accounts for is the outsiders' only where no tenant may have it, nor who was let pass.
  const int64_t untold = outsiders.empty() || others_untold ? 0 : UntoldMemory(reading);
  entry.foreign_reason = ReasonOf(entry, std::move(outsiders), untold, loaded, report.at);
  if (entry.foreign.empty() && idle_for_us && !entry.ignore_hidden) {
    const bool lists_untold = !reading.processes || !report.lists_trusted;
    if (lists_untold && used > kHiddenMemory) {
      entry.foreign_reason = msg::DeviceForeignHidden{.device = label, .used = used};
    } else if (loaded) {
      entry.foreign_reason = msg::DeviceBusyHidden{
          .device = label, .percent = static_cast<int64_t>(*reading.utilisation * 100 + 0.5)};
    }
  }
  // Those who were let pass, once they are gone, are forgotten.
  if (entry.ignore_hidden && used <= kHiddenMemory && reading.utilisation.value_or(0) < kForeignLoad)
    entry.ignore_hidden = false;
  std::erase_if(entry.ignored, [&](const auto& one) {
    return !reading.processes ||
           std::none_of(reading.processes->begin(), reading.processes->end(),
                        [&](const DeviceProcess& process) {
                          return process.pid == one.first && process.start == one.second;
                        });
  });

  // Memory of a card that nobody has: only to be believed where every process can be seen.
  const bool nobody = !ours && !entry.elsewhere && report.lists_trusted && reading.processes &&
                      reading.processes->empty() && used > kHiddenMemory;
  if (!nobody) {
    entry.memory_held.reset();
    if (entry.out && entry.out->why == OutOfService::Why::kMemoryHeld) Restore(entry);
  } else if (!entry.memory_held) {
    entry.memory_held = now_;
  } else if (!entry.settling && now_ - *entry.memory_held >= kHeldByNobody) {
    TakeOut(entry, OutOfService::Why::kMemoryHeld, msg::DeviceMemoryHeld{.device = label, .used = used});
  }

  auto pids = [](const std::vector<DeviceProcess>& processes) {
    std::set<std::pair<int, uint64_t>> set;
    for (const DeviceProcess& process : processes) set.emplace(process.pid, process.start);
    return set;
  };
  if (pids(before) == pids(entry.foreign)) return;
  json::array list;
  for (const DeviceProcess& process : entry.foreign) {
    list.push_back({{"pid", process.pid},
                    {"user", Printable(process.user)},
                    {"command", Printable(process.command)},
                    {"memory", process.memory ? json::value(*process.memory) : json::value(nullptr)}});
  }
  Emit("device.foreign", std::nullopt, 0,
       {{"device", entry.device.id}, {"label", label}, {"processes", std::move(list)}});
}

// Makes those who are on the card without a lease its `foreign`, when together they hold enough memory or one
// that is a task of ours may be who loads it; and says who the biggest is.
std::optional<Message> Yard::ReasonOf(Entry& entry, std::vector<DeviceProcess> outsiders, int64_t untold,
                                      bool loaded, Time at) {
  const auto memory_of = [&](const DeviceProcess& process) { return process.memory.value_or(untold); };
  int64_t all = 0;
  bool may_tell = true, astray = false;
  for (const DeviceProcess& process : outsiders) {
    all += process.memory.value_or(0);
    may_tell = may_tell && process.memory;
    astray = astray || IsLive(process.attempt);
  }
  if (!may_tell) all += untold;
  if (all <= kForeignMemory && !(loaded && astray)) return std::nullopt;
  std::stable_sort(outsiders.begin(), outsiders.end(), [&](const DeviceProcess& a, const DeviceProcess& b) {
    return memory_of(a) > memory_of(b);
  });
  // A load is the task's that is seen, not that of a stranger who holds a little.
  if (all <= kForeignMemory) std::erase_if(outsiders, [&](const auto& one) { return !IsLive(one.attempt); });
  entry.foreign = std::move(outsiders);
  const DeviceProcess& biggest = entry.foreign.front();
  const std::string& label = entry.device.label;
  if (IsLive(biggest.attempt)) {
    const Task& task = *FindTask(FindLive(*biggest.attempt)->attempt.task);
    return msg::DeviceAstray{.device = label,
                             .task = std::to_string(task.id.value),
                             .name = task.name,
                             .pid = biggest.pid,
                             .used = memory_of(biggest)};
  }
  if (!biggest.visible) return msg::DeviceForeignHidden{.device = label, .used = all};
  const std::string command = Printable(Cut(biggest.command, kCommandShown));
  if (entry.foreign.size() == 1) {
    return msg::DeviceForeign{.device = label,
                              .pid = biggest.pid,
                              .user = biggest.user,
                              .command = command,
                              .used = all,
                              .since = biggest.since.value_or(at)};
  }
  return msg::DeviceForeignMany{.device = label,
                                .count = static_cast<int64_t>(entry.foreign.size()),
                                .used = all,
                                .pid = biggest.pid,
                                .user = biggest.user,
                                .command = command};
}

// A shared device runs out: the one above its own part is stopped alone, else the newest, before all die.
void Yard::LookForMemory(Entry& entry, const DeviceReport& report) {
  if (IsGpu(entry.device)) {
    if (!entry.reading || !entry.reading->processes || entry.read_at != report.at) return;
    for (Entry::Tenancy& tenancy : entry.leases) {
      std::optional<int64_t> used;
      for (const DeviceProcess& process : *entry.reading->processes) {
        if (process.attempt == tenancy.lease.attempt && process.memory)
          used = used.value_or(0) + *process.memory;
      }
      tenancy.used = used;
    }
  }
  if (entry.leases.size() < 2) return;
  int64_t sum = 0;
  for (const Entry::Tenancy& tenancy : entry.leases) {
    const Live* live = FindLive(tenancy.lease.attempt);
    if (live == nullptr || live->exit || live->attempt.state == AttemptState::kStopping)
      return;  // room is coming
    sum += tenancy.used.value_or(0);
  }
  // A card's own word counts: its driver keeps a part for itself, which is neither used nor free.
  bool shortage = entry.device.memory > 0 && sum > entry.device.memory;
  if (IsGpu(entry.device) && entry.reading->memory_free)
    shortage = *entry.reading->memory_free < std::min(kShortage, entry.device.memory / 50);
  if (!shortage) return;
  const Entry::Tenancy* victim = nullptr;
  int64_t most = 0;
  for (const Entry::Tenancy& tenancy : entry.leases) {
    const int64_t over = tenancy.used.value_or(0) - tenancy.lease.memory;
    if (tenancy.lease.memory > 0 && over > most) {
      most = over;
      victim = &tenancy;
    }
  }
  if (victim == nullptr) victim = &entry.leases.back();
  Live* live = FindLive(victim->lease.attempt);
  if (live == nullptr) return;
  Change(*FindTask(victim->task), [](Task& task) { task.alone = true; });
  Displace(*live, msg::OutcomeShareMemory{.device = entry.device.label});
}

}  // namespace ty
