// Who has what: devices are given out, shared, taken in turns and given back. The sum of what is granted on a
// device is never above the whole of it, in memory as in the store.
#include <algorithm>
#include <boost/json.hpp>

#include "base/log.h"
#include "msg/outcome.h"
#include "sched/shares.h"
#include "yard/yard.h"

namespace ty {

namespace {

// Another yard is deciding about the same device: when to ask again, at first and later; for how long anybody
// decides; and after how long it is another's deciding.
constexpr Duration kGateSoon = milliseconds(20);
constexpr Duration kGateSeldom = seconds(1);
constexpr Duration kGateLongest = seconds(2);
constexpr Duration kGateForgotten = seconds(1);
constexpr Duration kSettlePatience = seconds(5);  // contracts C16

}  // namespace

// A device that turns out to be another yard's is left out, and what is left is decided anew from the task on
// that was to have it: it may be given another, and those behind it do not go before it.
void Yard::DecideAll() {
  for (size_t round = 0; round <= ledger_.rows().size(); round++) {
    decide_ = false;
    Decisions decisions = Decide(MakeView(), now_);
    decide_at_ = decisions.next_wakeup;
    bool refused = false;
    for (const Decision& decision : decisions.starts) {
      std::vector<std::shared_ptr<const UniqueFd>> locks;
      refused = !ClaimHost(decision, locks);
      if (refused) break;
      Record(decision, std::move(locks));
    }
    if (refused) continue;
    for (const PassedOver& passed : decisions.passed_over)
      ready_.MarkPassedOver(passed.task, now_, passed.starts);
    return;
  }
}

bool Yard::ClaimHost(const Decision& decision, std::vector<std::shared_ptr<const UniqueFd>>& locks) {
  if (host_ == nullptr) return true;
  const Task& task = *FindTask(decision.task);
  std::vector<Entry*> claimed;
  for (int index : decision.devices) {
    Entry& entry = ledger_.entries()[index];
    if (!IsGpu(entry.device)) continue;
    const bool ours = !entry.leases.empty();
    HostClaim claim = host_->Claim(entry.device.id, decision.share.mode != ShareMode::kWhole, ours,
                                   HostNote{settings_.owner, settings_.instance, task.id, task.name, Wall()});
    if (!claim.again) entry.gate.reset();
    if (claim.lock) {
      locks.push_back(std::move(claim.lock));
      if (!ours) claimed.push_back(&entry);
      continue;
    }
    if (!claim.again && !claim.holder) continue;  // there is no place for host leases here
    locks.clear();
    for (Entry* other : claimed) other->noted = !host_->Leave(other->device.id);
    if (claim.again) {
      ShutGate(entry);
    } else {
      entry.elsewhere = std::move(claim.holder);
      Refresh(entry);
    }
    return false;
  }
  return true;
}

// Deciding takes milliseconds. Whoever takes longer keeps the device, and is named.
void Yard::ShutGate(Entry& entry) {
  const bool still = entry.gate && now_ - entry.gate->again < kGateForgotten;
  Entry::Gate gate;
  gate.since = still ? entry.gate->since : now_;
  const Duration shut = now_ - gate.since;
  gate.again = now_ + std::clamp(shut / 4, kGateSoon, kGateSeldom);
  if (shut >= kGateLongest) gate.holder = host_->WhoHasGate(entry.device.id);
  device_due_.emplace(gate.again, entry.device.id);
  entry.gate = std::move(gate);
  Refresh(entry);
}

void Yard::Grant(Live& live, const Task& task, const Decision& decision) {
  Attempt& attempt = live.attempt;
  live.leased = true;
  for (int index : decision.devices) {
    Entry& entry = ledger_.entries()[index];
    Lease lease;
    lease.attempt = attempt.uid;
    lease.device = entry.device.id;
    lease.asked_milli = decision.share.milli;
    lease.mode = decision.share.mode;
    lease.slice = decision.share.slice;
    lease.memory = MemoryOfLease(ReadyOf(task).wish, entry.device.to_give());
    entry.leases.push_back({lease, task.id, std::nullopt});
    Regrant(entry, /*shrink=*/true);
    Entry::Tenancy& mine = entry.leases.back();
    journal_.Write(LeaseGranted{mine.lease});
    boost::json::object data{{"device", lease.device},
                             {"label", entry.device.label},
                             {"share_milli", mine.lease.share_milli},
                             {"asked_milli", lease.asked_milli},
                             {"mode", Name(lease.mode)}};
    if (task.wish.exclusive) data["exclusive"] = true;
    Emit("lease.granted", task.id, attempt.number, data);
    Refresh(entry);
  }
}

// What each sharer has now: what is left over is given to those who are there, in proportion to what they
// asked. The newest of a device is written by Grant.
void Yard::Regrant(Entry& entry, bool shrink) {
  std::vector<int> asked;
  for (const Entry::Tenancy& tenancy : entry.leases) asked.push_back(tenancy.lease.asked_milli);
  const std::vector<int> granted = GrantShares(asked);
  for (size_t i = 0; i < entry.leases.size(); i++) {
    Lease& lease = entry.leases[i].lease;
    if (lease.share_milli == granted[i]) continue;
    lease.share_milli = granted[i];
    if (shrink && i + 1 == entry.leases.size()) continue;
    journal_.Write(LeaseChanged{lease.attempt, lease.device, granted[i]});
    const Live* live = FindLive(lease.attempt);
    Emit("lease.changed", entry.leases[i].task, live == nullptr ? 0 : live->attempt.number,
         {{"device", lease.device},
          {"label", entry.device.label},
          {"share_milli", granted[i]},
          {"asked_milli", lease.asked_milli},
          {"mode", Name(lease.mode)}});
    if (lease.mode == ShareMode::kTurns) entry.turns.Grant(lease.attempt, granted[i]);
  }
}

void Yard::Free(Live& live) {
  Attempt& attempt = live.attempt;
  LeaveTurns(live);
  const std::vector<std::string> devices = live.leased ? attempt.devices : std::vector<std::string>{};
  live.leased = false;
  live.locks.clear();
  for (const std::string& id : devices) {
    Entry& entry = *ledger_.Find(id);
    std::erase_if(entry.leases, [&](const auto& tenancy) { return tenancy.lease.attempt == attempt.uid; });
    journal_.Write(LeaseReleased{attempt.uid, id});
    Emit("lease.released", attempt.task, attempt.number, {{"device", id}, {"label", entry.device.label}});
    Regrant(entry, /*shrink=*/false);
    if (entry.leases.empty() && host_ != nullptr && IsGpu(entry.device)) entry.noted = !host_->Leave(id);
    if (entry.out && entry.out->why == OutOfService::Why::kUnkillable) Restore(entry);  // it is gone now
    if (IsGpu(entry.device) && watch_ != nullptr && live.launched) {
      entry.settling = {Wall(), now_ + kSettlePatience};
      device_due_.emplace(now_ + kSettlePatience, id);
      watch_->LookNow();
    }
    if (entry.retired && entry.leases.empty()) {
      ledger_.Drop(id);
      continue;
    }
    Refresh(entry);
  }
  cores_used_ -= live.cores;
  live.cores = 0;
  decide_ = true;
}

// ---- Turns.

void Yard::JoinTurns(const Live& live) {
  if (!live.leased) return;
  for (const std::string& id : live.attempt.devices) {
    Entry& entry = *ledger_.Find(id);
    const Entry::Tenancy* tenancy = entry.Of(live.attempt.uid);
    if (tenancy == nullptr || tenancy->lease.mode != ShareMode::kTurns) continue;
    const size_t before = entry.turns.size();
    entry.turns.Join(live.attempt.uid, tenancy->lease.share_milli, tenancy->lease.slice, live.frozen, now_);
    turning_ += static_cast<int>(entry.turns.size() - before);
    if (live.attempt.state == AttemptState::kStopping) entry.turns.Stopping(live.attempt.uid, now_);
  }
}

// Its processes are gone: the next has the floor, whatever is still to be read of this one.
void Yard::LeaveTurns(const Live& live) {
  if (!live.leased || turning_ == 0) return;
  for (const std::string& id : live.attempt.devices) {
    Entry& entry = *ledger_.Find(id);
    const size_t before = entry.turns.size();
    entry.turns.Leave(live.attempt.uid, now_);
    turning_ -= static_cast<int>(before - entry.turns.size());
  }
}

void Yard::StopTurns(const Live& live) {
  if (!live.leased || turning_ == 0) return;
  for (const std::string& id : live.attempt.devices) ledger_.Find(id)->turns.Stopping(live.attempt.uid, now_);
}

// What is frozen is no fact to be kept: a supervisor thaws by itself, and is asked after a restart.
void Yard::TakeTurns() {
  if (turning_ == 0) return;
  for (Entry& entry : ledger_.entries()) {
    if (entry.turns.empty()) continue;
    for (const Turns::Order& order : entry.turns.Due(now_)) {
      if (order.freeze) {
        engine_.Freeze(order.attempt, order.deadline);
      } else {
        engine_.Thaw(order.attempt);
      }
    }
  }
}

std::optional<Time> Yard::NextTurn() const {
  std::optional<Time> next;
  if (turning_ == 0) return next;
  for (const Entry& entry : ledger_.entries()) {
    const std::optional<Time> turn = entry.turns.empty() ? std::nullopt : entry.turns.next();
    if (turn && (!next || *turn < *next)) next = turn;
  }
  return next;
}

void Yard::Apply(Live& live, const AttemptFrozen&) {
  for (const std::string& id : live.attempt.devices) {
    if (Entry* entry = ledger_.Find(id)) entry->turns.Frozen(live.attempt.uid, now_);
  }
  // Nobody's turn any more: an order that came late must not leave it frozen.
  if (!TakesTurns(live)) engine_.Thaw(live.attempt.uid);
  if (live.frozen) return;
  live.frozen = true;
  Journal::Patience patience(journal_);
  Emit("attempt.frozen", live.attempt.task, live.attempt.number);
}

void Yard::Apply(Live& live, const AttemptThawed&) {
  for (const std::string& id : live.attempt.devices) {
    if (Entry* entry = ledger_.Find(id)) entry->turns.Thawed(live.attempt.uid, now_);
  }
  if (!live.frozen) return;
  live.frozen = false;
  Journal::Patience patience(journal_);
  Emit("attempt.thawed", live.attempt.task, live.attempt.number);
}

void Yard::Apply(Live& live, const AttemptFreezeRefused&) {
  for (const std::string& id : live.attempt.devices) {
    if (Entry* entry = ledger_.Find(id)) entry->turns.Refused(live.attempt.uid, now_);
  }
}

bool Yard::TakesTurns(const Live& live) const {
  if (!live.leased) return false;
  return std::any_of(live.attempt.devices.begin(), live.attempt.devices.end(), [&](const std::string& id) {
    const Entry::Tenancy* tenancy = ledger_.Find(id)->Of(live.attempt.uid);
    return tenancy != nullptr && tenancy->lease.mode == ShareMode::kTurns;
  });
}

// ---- Stopped by us, to run again.

bool Yard::Shares(const Live& live) const {
  return live.leased &&
         std::any_of(live.attempt.devices.begin(), live.attempt.devices.end(), [this](const std::string& id) {
           const Entry* entry = ledger_.Find(id);
           return entry != nullptr && entry->leases.size() > 1;
         });
}

void Yard::Displace(Live& live, Message reason) {
  Task& task = *FindTask(live.attempt.task);
  if (live.exit || live.attempt.state == AttemptState::kStopping) return;
  live.displaced = true;
  Change(task, [](Task& t) { t.state = Stopping{}; });
  Change(live.attempt, [&](Attempt& a) {
    a.state = AttemptState::kStopping;
    a.stop_reason = std::move(reason);
    a.stop_kind = OutcomeKind::kPreempted;
  });
  Emit("attempt.stopping", task.id, live.attempt.number, {{"reason", ToJson(*live.attempt.stop_reason)}});
  StopTurns(live);
  journal_.WantSpec(task.id);
  journal_.Then([this, id = task.id, uid = live.attempt.uid](const Receipt& receipt) {
    SendStop(uid, SpecIn(receipt, id), false);
  });
}

}  // namespace ty
