// Ledger knows every device of the yard: who leases it, and what stands against giving it out. It decides who
// holds what; what the watch sees only adds use from outside. Rows for the scheduler are kept true at every
// change. On the Yard's thread; it writes nothing and tells nobody: the Yard does (reports.cc, devices.cc,
// leases.cc).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/lease.h"
#include "os/device_watch.h"
#include "sched/sched.h"
#include "sched/turns.h"

namespace ty {

// Why a device is out of service until a person or a check gives it back. Kept in the settings.
struct OutOfService {
  enum class Why : uint8_t { kLost, kXid, kEcc, kUnkillable, kMemoryHeld } why = Why::kLost;
  Message reason;
  Time since;
  std::string boot;  // a reboot is a check
};

struct Entry {
  struct Tenancy {
    Lease lease;
    TaskId task;
    std::optional<int64_t> used;  // device memory, as last measured
  };

  Device device;
  std::vector<Tenancy> leases;  // the oldest first
  Turns turns;                  // of those that share it in turns

  // What stands against it.
  std::optional<OutOfService> out;
  struct Hold {
    std::optional<Time> until;
    Time since;
  };
  std::optional<Hold> hold;
  std::optional<Message> unread;  // NVML cannot tell how it is
  std::optional<Time> unread_since;
  bool seen = false;     // in the last report
  bool retired = false;  // leased still, but not one of the yard's devices any more
  std::optional<HostHolder> elsewhere;
  std::optional<Ulid> stray;  // a run that no row tells of has it …
  std::set<Ulid> let_pass;    // … but for these, which a person said are no reason to wait
  // Its host lease could not be asked for: somebody has the gate. It is left out until `again`.
  struct Gate {
    Time since, again;
    bool shut = true;                  // false from `again` on, while it is being tried once more
    std::optional<HostHolder> holder;  // for longer than anybody decides: who
  };
  std::optional<Gate> gate;
  bool noted = false;  // our note beside its lock is to go when what was left behind has ended
  std::vector<DeviceProcess> foreign;             // without a lease on it, ours too
  std::optional<Message> foreign_reason;          // with `foreign`, or of somebody not visible
  std::set<std::pair<int, uint64_t>> ignored;     // processes that are no reason to wait any more
  bool ignore_hidden = false;                     // nor what cannot be seen
  std::optional<std::pair<Time, Time>> settling;  // since; given up at
  std::optional<Time> memory_held;                // since when nobody visible holds its memory
  bool bare = true;

  std::optional<DeviceReading> reading;
  std::optional<Time> read_at;

  const Tenancy* Of(const Ulid& attempt) const;
  Tenancy* Of(const Ulid& attempt);
};

// A card that is only known by its place on the bus.
inline bool IsPlaceholder(const Device& device) {
  return device.id.starts_with("pci:");
}

class Ledger {
 public:
  explicit Ledger(std::string instance) : instance_(std::move(instance)) {}

  // A new entry, or the known one of that id with `device` as it is now.
  Entry& Put(const Device& device);
  // Entries nobody leases and nobody wants any more.
  void Drop(const std::string& id);

  Entry* Find(const std::string& id);
  const Entry* Find(const std::string& id) const;
  // "0", "GPU0", "cpu:1", an id or its beginning: the entries that could be meant.
  std::vector<std::string> Select(const std::string& text) const;
  std::string Labels(const std::vector<std::string>& ids, std::string_view between = ", ") const;
  std::string LabelOf(const std::string& id) const;

  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<DeviceRow>& rows() const { return rows_; }
  bool has_gpus() const;

  // What stands against giving it out now, in the order of what to say first. Nothing: it may be given.
  std::optional<Message> TroubleOf(const Entry& entry) const;
  // Makes the row true again after a change of the entry. Whether it can be given out now and could not
  // before.
  bool Refresh(const Entry& entry);

 private:
  void Sort();
  Message Elsewhere(const Entry& entry) const;
  Message GateOf(const Entry& entry) const;

  const std::string instance_;   // of this yard
  std::vector<Entry> entries_;   // CPU slots, then GPUs in the order of their numbers
  std::vector<DeviceRow> rows_;  // of the same order
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace ty
