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
  for (const std::string& stray : adopted.strays) Log("attempt folder without a row, put aside: " + stray);
  Emit("daemon.adopted", std::nullopt, 0,
       {{"running", static_cast<int64_t>(current_.size())},
        {"strays", static_cast<int64_t>(adopted.strays.size())}});
}

}  // namespace ty
