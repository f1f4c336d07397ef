#include "yard/ledger.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "msg/device.h"
#include "msg/stray.h"

namespace ty {

namespace {

constexpr size_t kShortestPart = 6;  // of an id that stands for it

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

}  // namespace

Message Ledger::Elsewhere(const Entry& entry) const {
  const HostHolder& holder = *entry.elsewhere;
  if (holder.instance == instance_) return msg::DeviceLeftBehind{.device = entry.device.label};
  if (holder.user.empty()) return msg::DeviceElsewhereUnnamed{.device = entry.device.label};
  return msg::DeviceElsewhere{.device = entry.device.label,
                              .task = std::to_string(holder.task),
                              .name = holder.task_name,
                              .user = holder.user};
}

Message Ledger::GateOf(const Entry& entry) const {
  const std::optional<HostHolder>& holder = entry.gate->holder;
  if (!holder) return msg::DeviceGateBusy{.device = entry.device.label};
  if (holder->user.empty()) return msg::DeviceGateKeptUnnamed{.device = entry.device.label};
  return msg::DeviceGateKept{.device = entry.device.label, .user = holder->user};
}

const Entry::Tenancy* Entry::Of(const Ulid& attempt) const {
  auto found = std::find_if(leases.begin(), leases.end(),
                            [&](const Tenancy& tenancy) { return tenancy.lease.attempt == attempt; });
  return found == leases.end() ? nullptr : &*found;
}

Entry::Tenancy* Entry::Of(const Ulid& attempt) {
  return const_cast<Tenancy*>(std::as_const(*this).Of(attempt));
}

Entry& Ledger::Put(const Device& device) {
  if (Entry* known = Find(device.id)) {
    if (known->device == device) return *known;
    known->device = device;
  } else {
    entries_.emplace_back();
    entries_.back().device = device;
  }
  Sort();
  return *Find(device.id);
}

void Ledger::Drop(const std::string& id) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.device.id == id; });
  Sort();
}

void Ledger::Sort() {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    const bool gpu_a = IsGpu(a.device), gpu_b = IsGpu(b.device);
    return gpu_a != gpu_b ? gpu_b : a.device.index < b.device.index;
  });
  index_.clear();
  rows_.resize(entries_.size());
  for (size_t i = 0; i < entries_.size(); i++) {
    index_[entries_[i].device.id] = i;
    rows_[i] = {};
  }
  for (const Entry& entry : entries_) Refresh(entry);
}

Entry* Ledger::Find(const std::string& id) {
  return const_cast<Entry*>(std::as_const(*this).Find(id));
}

const Entry* Ledger::Find(const std::string& id) const {
  auto found = index_.find(id);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

bool Ledger::has_gpus() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return IsGpu(entry.device) && !entry.retired; });
}

// A number means a GPU where there are any, else a CPU slot.
std::vector<std::string> Ledger::Select(const std::string& text) const {
  const std::string wanted = Lower(text);
  const std::optional<int64_t> number = ParseInt(text);
  std::vector<std::string> found;
  for (const Entry& entry : entries_) {
    const Device& device = entry.device;
    if (Lower(device.id) == wanted || Lower(device.label) == wanted) return {device.id};
    const bool kind = device.kind == (has_gpus() ? Device::Kind::kGpu : Device::Kind::kCpuSlot);
    if (number && kind && device.index == *number) return {device.id};
    if (wanted.size() >= kShortestPart && Lower(device.id).starts_with(wanted)) found.push_back(device.id);
  }
  return found;
}

std::string Ledger::LabelOf(const std::string& id) const {
  const Entry* entry = Find(id);
  return entry == nullptr || entry->device.label.empty() ? id : entry->device.label;
}

std::string Ledger::Labels(const std::vector<std::string>& ids, std::string_view between) const {
  std::string text;
  for (const std::string& id : ids) {
    if (!text.empty()) text += between;
    text += LabelOf(id);
  }
  return text;
}

std::optional<Message> Ledger::TroubleOf(const Entry& entry) const {
  if (entry.retired) return msg::DeviceRetired{.device = entry.device.label};
  if (entry.out) return entry.out->reason;
  if (entry.unread) return entry.unread;
  if (entry.hold) {
    if (entry.hold->until) return msg::DeviceHeld{.device = entry.device.label, .until = *entry.hold->until};
    return msg::DeviceHeldOpen{.device = entry.device.label};
  }
  if (entry.stray) return msg::StrayDevice{.device = entry.device.label, .run = entry.stray->Text()};
  if (entry.elsewhere) return Elsewhere(entry);
  if (entry.gate && entry.gate->shut) return GateOf(entry);
  if (entry.foreign_reason) return entry.foreign_reason;
  if (entry.settling) return msg::DeviceSettling{.device = entry.device.label};
  if (entry.memory_held && entry.reading)
    return msg::DeviceFreeing{.device = entry.device.label, .used = entry.reading->memory_used.value_or(0)};
  return std::nullopt;
}

bool Ledger::Refresh(const Entry& entry) {
  DeviceRow& row = rows_[index_.at(entry.device.id)];
  const bool usable = row.usable, bare = row.bare;
  row.id = entry.device.id;
  row.label = entry.device.label;
  row.kind = entry.device.kind;
  row.memory = entry.device.memory;
  row.reserved = entry.device.reserved;
  row.strength = entry.device.strength;
  row.trouble = TroubleOf(entry);
  row.usable = !row.trouble;
  row.for_good = entry.retired || entry.out || (entry.hold && !entry.hold->until);
  row.soon = row.trouble && (row.trouble->id == "device.settling" || row.trouble->id == "device.gate_busy");
  row.bare = entry.bare;
  row.tenants.clear();
  row.mode = ShareMode::kWhole;
  for (const Entry::Tenancy& tenancy : entry.leases) {
    row.tenants.push_back({tenancy.task, tenancy.lease.asked_milli, tenancy.lease.memory});
    row.mode = tenancy.lease.mode;
  }
  return (row.usable && !usable) || (row.bare && !bare);
}

}  // namespace ty
