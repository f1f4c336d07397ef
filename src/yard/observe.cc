// News of a running attempt: it began, it said how far it is, its code is not what was submitted.
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "base/fail_point.h"
#include "base/log.h"
#include "base/paths.h"
#include "msg/device.h"
#include "msg/outcome.h"
#include "msg/why.h"
#include "yard/yard.h"

namespace ty {

void Yard::Apply(AttemptNews& news) {
  if (auto* stray = std::get_if<StrayFound>(&news.what)) return Apply(news.attempt, *stray);
  if (std::holds_alternative<StrayGone>(news.what)) return Forget(news.attempt);
  Live* live = FindLive(news.attempt);
  if (live == nullptr) return;  // concluded meanwhile
  if (auto* running = std::get_if<AttemptRunning>(&news.what)) return Began(*live, *running);
  if (auto* exited = std::get_if<AttemptExited>(&news.what)) return Exited(*live, *exited);
  if (std::holds_alternative<AttemptNotStarted>(news.what)) {
    if (!live->attempt.stop_reason) return GoBack(*live, msg::OutcomeNotStarted{}, false);
    Outcome outcome;
    outcome.kind = live->attempt.stop_kind;
    outcome.reason = *live->attempt.stop_reason;
    return Conclude(*live, outcome, RetryAdvice{});
  }
  if (auto* refused = std::get_if<AttemptRefused>(&news.what))
    return refused->error.code == Code::kUnavailable ? ComeAgain(*live, refused->error.message)
                                                     : GoBack(*live, refused->error.message, true);
  if (auto* lost = std::get_if<AttemptLost>(&news.what)) return ConcludeLost(*live, lost->why);
  if (std::holds_alternative<AttemptStuck>(news.what)) {
    live->stuck = true;
    Log("the shim of attempt " + news.attempt.Text() + " holds its lock and does not answer");
    return;
  }
  if (auto* frozen = std::get_if<AttemptFrozen>(&news.what)) return Apply(*live, *frozen);
  if (auto* thawed = std::get_if<AttemptThawed>(&news.what)) return Apply(*live, *thawed);
  if (auto* refused = std::get_if<AttemptFreezeRefused>(&news.what)) return Apply(*live, *refused);
  if (std::holds_alternative<AttemptUnkillable>(news.what)) return Unkillable(*live);
}

void Yard::Unkillable(Live& live) {
  if (live.unkillable) return;
  live.unkillable = true;
  Emit("attempt.stopping", live.attempt.task, live.attempt.number,
       {{"reason", ToJson(Message(msg::WhyUnkillable{}))}});
  for (const std::string& id : live.attempt.devices) {
    Entry* entry = ledger_.Find(id);
    if (entry == nullptr || !live.leased) continue;
    TakeOut(*entry, OutOfService::Why::kUnkillable,
            msg::DeviceUnkillable{.device = entry->device.label, .task = NameOf(live.attempt.task)});
  }
}

void Yard::Began(Live& live, const AttemptRunning& news) {
  Journal::Patience patience(journal_);
  live.stuck = false;
  if (news.pid > 0) live.pid = news.pid;
  live.frozen = news.frozen;
  Attempt& attempt = live.attempt;
  Task& task = *FindTask(attempt.task);
  if (attempt.state == AttemptState::kStarting) {
    Change(attempt, [&](Attempt& a) {
      a.state = AttemptState::kRunning;
      a.started = news.started;
    });
    if (std::holds_alternative<Starting>(task.state)) {
      Change(task, [](Task& t) { t.state = ty::Running{}; });
    }
    FAIL_POINT("run.written");
    boost::json::object data{{"pid", news.pid}};
    boost::json::array devices;
    for (const std::string& id : attempt.devices) devices.emplace_back(id);
    data["devices"] = std::move(devices);
    if (!attempt.resume.empty()) data["resume"] = attempt.resume;
    Emit("attempt.started", attempt.task, attempt.number, data);
  } else if (!attempt.started) {
    Change(attempt, [&](Attempt& a) { a.started = news.started; });
  }
  if (!live.exit) {
    JoinTurns(live);
    if (live.frozen && !TakesTurns(live)) engine_.Thaw(attempt.uid);
    Follow(live);
  }
  if (news.unkillable) Unkillable(live);
  if (news.adopted &&
      attempt.stop_reason) {  // the daemon that asked for the stop may have died before it was heard
    journal_.WantSpec(task.id);
    journal_.Then([this, id = task.id, uid = attempt.uid](const Receipt& receipt) {
      SendStop(uid, SpecIn(receipt, id), false);
    });
  }
}

void Yard::Follow(const Live& live) {
  const Attempt& attempt = live.attempt;
  const Task& task = *FindTask(attempt.task);
  const StatePaths paths{settings_.home};
  const AttemptPaths files{paths.Attempt(attempt.uid)};
  // A checkpoint taken in before a restart is not saved a second time.
  std::optional<Checkpoint> known;
  if (!task.checkpoint.path.empty()) known = task.checkpoint;
  ingest_.Follow(Followed{.attempt = attempt.uid,
                          .task = attempt.task,
                          .number = attempt.number,
                          .log = task.wish.ranks ? files.Log(0) : files.Log(),
                          .out_folder = paths.Out(attempt.task),
                          .started = attempt.started.value_or(attempt.created),
                          .known = known});
}

void Yard::Exited(Live& live, const AttemptExited& news) {
  if (live.exit) return;
  Attempt& attempt = live.attempt;
  FAIL_POINT("exit.taken_in");
  live.exit = news.record;
  LeaveTurns(live);
  if (news.record.kind == ExitRecord::Kind::kExecFailed) return ConcludeExit(live, LogTail{});
  if (attempt.state == AttemptState::kStarting) Began(live, AttemptRunning{news.record.started, 0, false});
  Follow(live);  // what it wrote while there was no daemon is read, too
  std::string tail_of;
  if (news.record.failed_rank)
    tail_of = AttemptPaths{StatePaths{settings_.home}.Attempt(attempt.uid)}.Log(*news.record.failed_rank);
  ingest_.Finish(attempt.uid, std::move(tail_of), [this, uid = attempt.uid](LogTail tail) {
    inbox_.Post(TailRead{uid, std::move(tail)});
  });
}

void Yard::Apply(Observation& seen) {
  Live* live = FindLive(seen.attempt);
  if (live == nullptr) return;
  Journal::Patience patience(journal_);
  Task& task = *FindTask(live->attempt.task);
  if (!seen.metrics.empty()) {
    for (auto& [tag, value] : seen.metrics) {
      auto found = std::find_if(live->metrics.begin(), live->metrics.end(),
                                [&](const auto& m) { return m.first == tag; });
      if (found != live->metrics.end()) {
        found->second = value;
      } else {
        live->metrics.emplace_back(std::move(tag), value);
      }
    }
  }
  for (Checkpoint& checkpoint : seen.checkpoints) {
    Emit("checkpoint.saved", task.id, live->attempt.number,
         {{"path", checkpoint.path}, {"step", checkpoint.step}, {"bytes", checkpoint.bytes}});
    Change(task, [&](Task& t) {
      t.checkpoint = std::move(checkpoint);
      t.began_progress = true;
    });
  }
  if (seen.progress) {
    live->progress = std::move(seen.progress);
    if (!task.began_progress) {
      Change(task, [](Task& t) { t.began_progress = true; });
    }
  }
  if (seen.progress || seen.pace) live->pace = seen.pace;
  if (seen.pace) live->paced = now_ - seen.pace->age;
  if (live->progress && (seen.progress || !seen.checkpoints.empty())) Mark(*live, !seen.checkpoints.empty());
}

// progress.mark: the first, each checkpoint, else at most one in two seconds (contracts C4).
void Yard::Mark(Live& live, bool always) {
  if (live.marked && !always && now_ - live.last_mark < seconds(2)) return;
  live.marked = true;
  live.last_mark = now_;
  boost::json::object data{{"done", live.progress->done}, {"unit", live.progress->unit}};
  if (live.progress->total) data["total"] = *live.progress->total;
  boost::json::object metrics;
  for (const auto& [tag, value] : live.metrics) {
    if (std::isfinite(value)) metrics[tag] = value;
  }
  if (!metrics.empty()) data["metrics"] = std::move(metrics);
  Emit("progress.mark", live.attempt.task, live.attempt.number, data);
}

std::optional<Duration> Yard::TimeLeft(const Live& live) const {
  if (!live.progress || !live.progress->total || !live.pace) return std::nullopt;
  return ty::TimeLeft(*live.pace, *live.progress->total - live.progress->done, now_ - live.paced);
}

void Yard::Apply(CodeSeen& seen) {
  Live* live = LiveOf(seen.task);
  if (live == nullptr || live->attempt.number != seen.attempt) return;
  boost::json::array files;
  for (const std::string& path : seen.changed) files.emplace_back(path);
  Change(live->attempt, [&](Attempt& a) { a.changed_code = std::move(seen.changed); });
  Emit("task.changed", seen.task, seen.attempt, {{"code", std::move(files)}});
}

}  // namespace ty
