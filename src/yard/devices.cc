// What stands against giving a device out, after a restart too: quarantine, holds and releases by hand; and
// what the watch is to look at.
#include <algorithm>
#include <boost/json.hpp>

#include "base/log.h"
#include "base/text.h"
#include "msg/act.h"
#include "msg/device.h"
#include "msg/outcome.h"
#include "msg/probe.h"
#include "yard/yard.h"

namespace ty {

namespace {

namespace json = boost::json;

const char* Name(OutOfService::Why why) {
  switch (why) {
    case OutOfService::Why::kLost:
      return "lost";
    case OutOfService::Why::kXid:
      return "xid";
    case OutOfService::Why::kEcc:
      return "ecc";
    case OutOfService::Why::kUnkillable:
      return "unkillable";
    case OutOfService::Why::kMemoryHeld:
      return "memory_held";
  }
  return "";
}

std::optional<OutOfService::Why> ParseWhy(std::string_view name) {
  using Why = OutOfService::Why;
  for (Why why : {Why::kLost, Why::kXid, Why::kEcc, Why::kUnkillable, Why::kMemoryHeld}) {
    if (name == Name(why)) return why;
  }
  return std::nullopt;
}

std::string OutKey(const std::string& id) {
  return "device.out." + id;
}
std::string HoldKey(const std::string& id) {
  return "device.hold." + id;
}
constexpr std::string_view kKnownKey = "device.known";

json::object ObjectOf(const std::string& text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  return !error && value.is_object() ? std::move(value.as_object()) : json::object{};
}

std::string TextAt(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

int64_t IntAt(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_int64() ? value->as_int64() : 0;
}

}  // namespace

void Yard::Refresh(const Entry& entry) {
  if (ledger_.Refresh(entry)) decide_ = true;
}

// ---- After a restart.

// Devices that were there are expected to be there, whatever the driver says now; what a person or a fault
// took out of service stays out.
void Yard::LoadDevices(const OpenState& state) {
  const bool gpus = watch_ != nullptr;
  for (const auto& [key, value] : state.settings) {
    if (key != kKnownKey || !gpus || settings_.devices_chosen) continue;
    known_ = value;
    boost::system::error_code error;
    const json::value list = json::parse(value, error);
    if (error || !list.is_array()) continue;
    for (const json::value& item : list.as_array()) {
      if (!item.is_object() || TextAt(item.as_object(), "id").empty()) continue;
      const json::object& one = item.as_object();
      if (ledger_.Find(TextAt(one, "id")) != nullptr) continue;
      Device device;
      device.id = TextAt(one, "id");
      device.kind = TextAt(one, "kind") == "mig" ? Device::Kind::kMigSlice : Device::Kind::kGpu;
      device.index = static_cast<int>(IntAt(one, "index"));
      device.label = TextAt(one, "label");
      device.name = TextAt(one, "name");
      device.pci = TextAt(one, "pci");
      device.memory = IntAt(one, "memory");
      device.reserved = IntAt(one, "reserved");
      Entry& entry = ledger_.Put(device);
      entry.unread = msg::ProbeHanging{};  // until the first report, which is on its way
      entry.unread_since = Wall();
      Refresh(entry);
    }
  }
  for (const auto& [key, value] : state.settings) {
    if (value.empty()) continue;
    const json::object kept = ObjectOf(value);
    if (key.starts_with("device.out.")) {
      Entry* entry = ledger_.Find(key.substr(11));
      const std::optional<OutOfService::Why> why = ParseWhy(TextAt(kept, "why"));
      const json::value* reason = kept.if_contains("reason");
      if (entry == nullptr || !why || reason == nullptr) continue;
      Result<Message> message = ParseMessage(*reason);
      if (!message) continue;
      entry->out = OutOfService{*why, *message, FromNanos(IntAt(kept, "since")), TextAt(kept, "boot")};
      Refresh(*entry);
    } else if (key.starts_with("device.hold.")) {
      Entry* entry = ledger_.Find(key.substr(12));
      if (entry == nullptr) continue;
      Entry::Hold hold;
      hold.since = FromNanos(IntAt(kept, "since"));
      if (kept.contains("until")) hold.until = FromNanos(IntAt(kept, "until"));
      entry->hold = hold;
      if (hold.until) device_due_.emplace(*hold.until, entry->device.id);
      Refresh(*entry);
    }
  }
}

// The devices that were seen well, so that a start with a hanging driver still knows what there is.
void Yard::KeepKnown() {
  json::array list;
  for (const Entry& entry : ledger_.entries()) {
    const Device& device = entry.device;
    if (!IsGpu(device) || entry.retired || IsPlaceholder(device)) continue;
    list.push_back({{"id", device.id},
                    {"kind", device.kind == Device::Kind::kMigSlice ? "mig" : "gpu"},
                    {"index", device.index},
                    {"label", device.label},
                    {"name", device.name},
                    {"pci", device.pci},
                    {"memory", device.memory},
                    {"reserved", device.reserved}});
  }
  std::string known = json::serialize(list);
  if (known == known_) return;
  known_ = std::move(known);
  journal_.Write(SettingChanged{std::string(kKnownKey), known_});
}

// ---- Quarantine.

void Yard::TakeOut(Entry& entry, OutOfService::Why why, Message reason) {
  if (entry.out && entry.out->reason == reason) return;
  const bool lost = why == OutOfService::Why::kLost;
  entry.out = OutOfService{why, std::move(reason), Wall(), settings_.boot};
  journal_.Write(SettingChanged{OutKey(entry.device.id),
                                json::serialize(json::object{{"why", Name(why)},
                                                             {"reason", ToJson(entry.out->reason)},
                                                             {"since", ToNanos(Wall())},
                                                             {"boot", settings_.boot}})});
  Emit(lost ? "device.lost" : "device.quarantined", std::nullopt, 0,
       {{"device", entry.device.id},
        {"label", entry.device.label},
        {"why", Name(why)},
        {"reason", ToJson(entry.out->reason)}});
  Log(entry.device.label + " is out of service: " + Name(why));
  Refresh(entry);
  if (lost) LoseTenants(entry);
}

void Yard::Restore(Entry& entry) {
  if (!entry.out) return;
  entry.out.reset();
  journal_.Write(SettingChanged{OutKey(entry.device.id), ""});
  Emit("device.restored", std::nullopt, 0, {{"device", entry.device.id}, {"label", entry.device.label}});
  Refresh(entry);
}

// What ran on a lost card cannot go on; it is stopped and runs again elsewhere. Other cards are not touched.
void Yard::LoseTenants(Entry& entry) {
  for (const Entry::Tenancy& tenancy : entry.leases) {
    Live* live = FindLive(tenancy.lease.attempt);
    if (live == nullptr) continue;
    live->device_broke = true;
    Displace(*live, msg::OutcomeDeviceLost{.device = entry.device.label});
  }
}

// ---- By hand.

void Yard::Apply(ActOnDevices& act) {
  std::vector<std::pair<std::string, Status>> answers;
  if (const Status room = HasRoom(false); !room) {
    for (const std::string& text : act.devices) answers.emplace_back(text, room);
    return act.reply(std::move(answers));
  }
  for (const std::string& text : act.devices) {
    const std::vector<std::string> ids = ledger_.Select(text);
    if (ids.size() != 1) {
      std::vector<std::string> all = ids;
      if (ids.empty()) {
        for (const Entry& entry : ledger_.entries()) all.push_back(entry.device.id);
      }
      std::string labels = ledger_.Labels(all);
      const Message why =
          ids.empty() ? Message(msg::ActDeviceUnknown{.device = Printable(text), .devices = labels})
                      : Message(msg::ActDeviceAmbiguous{.device = Printable(text), .devices = labels});
      answers.emplace_back(text, Fail(ids.empty() ? Code::kNotFound : Code::kInvalid, why, "/devices"));
      continue;
    }
    Entry& entry = *ledger_.Find(ids.front());
    const std::string label = entry.device.label;
    const Status done = act.verb == DeviceVerb::kHold ? HoldDevice(entry, act.until) : ReleaseDevice(entry);
    answers.emplace_back(label, done);
  }
  journal_.Then([reply = std::move(act.reply), answers = std::move(answers)](const Receipt& receipt) mutable {
    if (!receipt.committed) {
      for (auto& [device, done] : answers) done = Forward(receipt.committed.error());
    }
    reply(std::move(answers));
  });
}

// What runs on it goes on; nothing new starts.
Status Yard::HoldDevice(Entry& entry, std::optional<Time> until) {
  entry.hold = Entry::Hold{until, Wall()};
  json::object kept{{"since", ToNanos(Wall())}};
  if (until) {
    kept["until"] = ToNanos(*until);
    device_due_.emplace(OnOurClock(*until), entry.device.id);
  }
  journal_.Write(SettingChanged{HoldKey(entry.device.id), json::serialize(kept)});
  Refresh(entry);
  return {};
}

Status Yard::ReleaseDevice(Entry& entry) {
  const bool gone =
      entry.out && IsGpu(entry.device) && machine_.complete && !entry.seen && entry.leases.empty();
  if (gone) {  // not on this machine any more: forgotten; should it come back it is a new one
    journal_.Write(SettingChanged{OutKey(entry.device.id), ""});
    journal_.Write(SettingChanged{HoldKey(entry.device.id), ""});
    ledger_.Drop(entry.device.id);
    KeepKnown();
    return {};
  }
  if (entry.out) {
    const bool gpu = IsGpu(entry.device);
    const bool well =
        !gpu || (!entry.unread && entry.reading && entry.reading->health == DeviceHealth::kGood);
    const bool stuck = entry.out->why == OutOfService::Why::kUnkillable && !entry.leases.empty();
    if (stuck) return Conflict(entry.out->reason);
    if (!well) {
      if (watch_ != nullptr) watch_->LookNow();
      const std::string& label = entry.device.label;
      const bool counts =
          !entry.unread && entry.reading && entry.reading->health == DeviceHealth::kUncorrectable;
      if (counts) return Conflict(msg::ActDeviceStillEcc{.device = label});
      return Conflict(msg::ActDeviceStillBad{.device = label});
    }
  }
  const bool by_hand = entry.out || entry.hold || entry.foreign_reason;
  if (entry.out) Restore(entry);
  if (entry.hold) {
    entry.hold.reset();
    journal_.Write(SettingChanged{HoldKey(entry.device.id), ""});
  }
  if (entry.stray) {
    entry.let_pass.insert(*entry.stray);
    KeepFromStrays();
  }
  if (entry.foreign_reason) {
    for (const DeviceProcess& process : entry.foreign) entry.ignored.emplace(process.pid, process.start);
    const bool hidden = entry.foreign.empty() || !entry.foreign.front().visible;
    entry.ignore_hidden = entry.ignore_hidden || hidden;
    entry.foreign.clear();
    entry.foreign_reason.reset();
  }
  Refresh(entry);
  // What only others can end is not ended by us.
  if (by_hand) return {};
  if (entry.elsewhere && entry.elsewhere->instance == settings_.instance)
    return Conflict(msg::ActDeviceLeftBehind{.device = entry.device.label});
  if (entry.elsewhere || (entry.gate && entry.gate->shut))
    return Conflict(msg::ActDeviceElsewhere{.device = entry.device.label});
  return {};
}

void Yard::EndHolds() {
  while (!device_due_.empty() && device_due_.begin()->first <= now_) {
    Entry* entry = ledger_.Find(device_due_.begin()->second);
    device_due_.erase(device_due_.begin());
    if (entry == nullptr) continue;
    if (entry->hold && entry->hold->until && *entry->hold->until <= Wall()) {
      entry->hold.reset();
      journal_.Write(SettingChanged{HoldKey(entry->device.id), ""});
    }
    if (entry->settling && entry->settling->second <= now_) {
      entry->settling.reset();
      // What is left on it is not our last tenant's any more, but memory that nobody holds, from now on.
      if (entry->memory_held) entry->memory_held = now_;
    }
    if (entry->settling && watch_ != nullptr) watch_->LookNow();
    if (entry->gate && entry->gate->again <= now_) entry->gate->shut = false;
    Refresh(*entry);
  }
}

// ---- What the watch is to look at.

void Yard::TellWatch() {
  if (watch_ == nullptr) return;
  WatchWish wish;
  for (const Entry& entry : ledger_.entries()) {
    if (IsGpu(entry.device)) {
      if (entry.leases.empty()) {
        wish.elsewhere.push_back(entry.device.id);
      } else {
        wish.often = true;
      }
      wish.often = wish.often || entry.settling || (entry.memory_held && !entry.out);
    } else if (entry.leases.size() > 1) {
      for (const Entry::Tenancy& tenancy : entry.leases) {
        const Live* live = FindLive(tenancy.lease.attempt);
        if (live != nullptr && live->pid > 0) wish.memory.emplace_back(tenancy.lease.attempt, live->pid);
      }
    }
  }
  wish.often = wish.often || !wish.memory.empty() || (ledger_.has_gpus() && !ready_.device_lines().empty());
  if (wish == wish_) return;
  wish_ = wish;
  watch_->Want(std::move(wish));
}

DeviceView Yard::View(const Entry& entry) const {
  DeviceView view;
  view.device = entry.device;
  view.trouble = ledger_.TroubleOf(entry).value_or(Message{});
  view.usable = view.trouble.empty();
  for (const Entry::Tenancy& tenancy : entry.leases) {
    LeaseView lease;
    lease.uid = tenancy.lease.attempt;
    lease.task = tenancy.task;
    const Task* task = FindTask(tenancy.task);
    if (task != nullptr) lease.task_name = task->name;
    auto live = lives_.find(tenancy.lease.attempt);
    if (live != lives_.end()) {
      lease.attempt = live->second.attempt.number;
      lease.since = live->second.attempt.created;
      lease.frozen = live->second.frozen;
    }
    lease.share_milli = tenancy.lease.share_milli;
    lease.asked_milli = tenancy.lease.asked_milli;
    lease.mode = tenancy.lease.mode;
    lease.memory = tenancy.lease.memory;
    lease.used = tenancy.used;
    view.leases.push_back(std::move(lease));
  }
  const bool shared = !entry.leases.empty() && entry.leases.front().lease.mode != ShareMode::kWhole;
  const bool gate_shut = entry.gate && entry.gate->shut;
  view.state = entry.out               ? (entry.out->why == OutOfService::Why::kLost ? "lost" : "quarantined")
               : entry.unread          ? "unknown"
               : entry.hold            ? "held"
               : !entry.leases.empty() ? (shared ? "shared" : "leased")
               : entry.stray           ? "foreign"
               : entry.elsewhere       ? "elsewhere"
               : gate_shut             ? "elsewhere"
               : entry.foreign_reason  ? "foreign"
               : entry.settling || entry.memory_held ? "settling"
                                                     : "free";
  if (entry.hold) view.held_until = entry.hold->until;
  if (entry.out) {
    view.out_since = entry.out->since;
  } else if (entry.unread) {
    view.out_since = entry.unread_since;
  }
  view.reading = entry.reading;
  view.read_at = entry.read_at;
  view.foreign = entry.foreign;
  if (entry.elsewhere && entry.elsewhere->instance != settings_.instance) view.elsewhere = entry.elsewhere;
  if (view.reading && view.reading->processes) {  // attempts of ours only by name
    for (DeviceProcess& process : *view.reading->processes) {
      if (!IsLive(process.attempt)) process.attempt.reset();
      if (process.attempt)
        view.tasks.emplace_back(*process.attempt, lives_.at(*process.attempt).attempt.task);
    }
  }
  return view;
}

std::vector<DeviceView> Yard::Devices() const {
  std::vector<DeviceView> views;
  for (const Entry& entry : ledger_.entries()) views.push_back(View(entry));
  return views;
}

}  // namespace ty
