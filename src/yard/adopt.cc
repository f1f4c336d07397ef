// After a restart: what the store holds is taken over, running attempts are adopted, and only then is
// scheduled.
#include <algorithm>
#include <boost/json.hpp>

#include "base/fail_point.h"
#include "base/log.h"
#include "yard/yard.h"

namespace ty {

void Yard::Open(OpenState state, Time now) {
  now_ = now;
  last_task_ = TaskId{state.last_task};
  last_event_ = durable_event_ = state.last_event;
  for (const auto& [key, value] : state.settings) {
    if (key == "queue.paused") paused_ = value == "1";
  }
  for (Task& task : state.tasks) {
    const TaskId id = task.id;
    tasks_.emplace(id, std::move(task));
  }
  LoadDevices(state);
  for (const Attempt& attempt : state.attempts) {
    Live live;
    live.attempt = attempt;
    live.launched = true;
    for (const Lease& lease : state.leases) {
      if (lease.attempt != attempt.uid) continue;
      Entry* entry = ledger_.Find(lease.device);
      if (entry == nullptr) {
        // A GPU that was not seen yet, or one more than the yard was started with now: in view until it ends.
        Device gone;
        gone.id = gone.label = gone.name = lease.device;
        if (!lease.device.starts_with("cpu:")) gone.kind = Device::Kind::kGpu;
        entry = &ledger_.Put(gone);
        entry->retired = true;
      }
      entry->leases.push_back({lease, attempt.task, std::nullopt});
      live.leased = true;
      ledger_.Refresh(*entry);
    }
    const Task& task = tasks_.at(attempt.task);
    if (!live.leased) {
      live.cores = task.cpus;
      cores_used_ += live.cores;
    }
    current_[attempt.task] = attempt.uid;
    lives_.emplace(attempt.uid, std::move(live));
  }
  for (const auto& [id, task] : tasks_) {
    if (!task.after.empty()) Watch(task);
  }
  for (const auto& [id, task] : tasks_) Place(task);
  FAIL_POINT("adopt.loaded");
  Emit("daemon.started");
  adopting_ = true;
  decide_ = true;
  engine_.Adopt(state.attempts,
                [this](std::vector<std::string> strays) { inbox_.Post(Adopted{std::move(strays)}); });
  Commit();
}

void Yard::Apply(Adopted& adopted) {
  FAIL_POINT("adopt.done");
  adopting_ = false;
  decide_ = true;
  for (std::string& stray : adopted.strays) {
    const std::optional<Ulid> uid = Ulid::Parse(stray);
    if (uid && strays_.count(*uid) != 0) continue;
    Log("attempt folder without a row, put aside: " + stray);
    put_aside_.push_back(stray);
  }
  Emit("daemon.adopted", std::nullopt, 0,
       {{"running", static_cast<int64_t>(current_.size())},
        {"strays", static_cast<int64_t>(adopted.strays.size())}});
}

// ---- Runs that live and that no row tells of: after an older copy of the state was put back, mostly.

void Yard::Apply(const Ulid& attempt, StrayFound& stray) {
  Log("a run without a row, left alone: " + attempt.Text());
  strays_[attempt] = std::move(stray);
  KeepFromStrays();
}

void Yard::Forget(const Ulid& stray) {
  strays_.erase(stray);
  KeepFromStrays();
}

// What one of them was given is given to nobody else as long as it lives. Where its folder does not say what
// that was, a CPU slot counts as its when it may run there.
void Yard::KeepFromStrays() {
  const auto has = [](const StrayFound& stray, const Device& device) {
    if (stray.devices)
      return std::find(stray.devices->begin(), stray.devices->end(), device.id) != stray.devices->end();
    return std::any_of(device.cpus.begin(), device.cpus.end(), [&](int cpu) {
      return std::find(stray.cpus.begin(), stray.cpus.end(), cpu) != stray.cpus.end();
    });
  };
  for (Entry& entry : ledger_.entries()) {
    std::erase_if(entry.let_pass, [&](const Ulid& uid) { return strays_.count(uid) == 0; });
    const std::optional<Ulid> before = std::exchange(entry.stray, std::nullopt);
    for (const auto& [uid, stray] : strays_)
      if (!entry.stray && entry.let_pass.count(uid) == 0 && has(stray, entry.device)) entry.stray = uid;
    if (entry.stray != before) Refresh(entry);
  }
}

}  // namespace ty
