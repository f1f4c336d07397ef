// An attempt is over: its outcome is classified, its leases freed, the task retried, requeued or ended.
#include <errno.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/fail_point.h"
#include "msg/retry.h"
#include "yard/yard.h"

namespace ty {

namespace {
constexpr Duration kBreath = seconds(5);          // before a launch is tried again
constexpr Duration kDriverPatience = seconds(2);  // with a driver that is asked what it saw

// Of several faults a broken card's explains the others; else the first one does.
std::optional<Evidence::Xid> TellingXid(const std::vector<Evidence::Xid>& xids) {
  if (xids.empty()) return std::nullopt;
  const auto hardware = std::find_if(xids.begin(), xids.end(), [](const Evidence::Xid& xid) {
    return ClassOfXid(xid.number) == XidClass::kHardware;
  });
  return hardware == xids.end() ? xids.front() : *hardware;
}

}  // namespace

void Yard::Apply(TailRead& tail) {
  if (Live* live = FindLive(tail.attempt)) ConcludeExit(*live, tail.tail);
}

// Some ends are explained by what was asked for, which lies in the store.
void Yard::ConcludeExit(Live& live, const LogTail& tail) {
  const ExitRecord& exit = *live.exit;
  const bool limit = exit.stopped_by == ExitRecord::StoppedBy::kTimeLimit ||
                     exit.stopped_by == ExitRecord::StoppedBy::kIdleLimit;
  if (exit.kind != ExitRecord::Kind::kExecFailed && !limit) return ConcludeExit(live, tail, TaskSpec{});
  const TaskId id = live.attempt.task;
  journal_.WantSpec(id);
  journal_.Then([this, id, uid = live.attempt.uid, tail](const Receipt& receipt) {
    Live* still = FindLive(uid);
    if (still == nullptr || !receipt.committed) return;
    const auto spec = SpecIn(receipt, id);
    ConcludeExit(*still, tail, spec ? *spec : TaskSpec{});
  });
}

void Yard::ConcludeExit(Live& live, const LogTail& tail, const TaskSpec& spec) {
  const ExitRecord& exit = *live.exit;
  const Attempt& attempt = live.attempt;
  Evidence evidence;
  evidence.end =
      exit.kind == ExitRecord::Kind::kExecFailed ? Evidence::End::kExecFailed : Evidence::End::kExited;
  evidence.exit_code = exit.exit_code;
  evidence.signal = exit.signal;
  evidence.exec_errno = exit.exec_errno;
  evidence.exec_step = exit.exec_step;
  if (!spec.argv.empty()) evidence.program = spec.argv.front();
  evidence.workdir = spec.workdir;
  evidence.hit_time_limit = exit.stopped_by == ExitRecord::StoppedBy::kTimeLimit;
  evidence.hit_idle_limit = exit.stopped_by == ExitRecord::StoppedBy::kIdleLimit;
  evidence.limit = (evidence.hit_idle_limit ? spec.idle_limit : spec.time_limit).value_or(Duration{});
  evidence.oom_kills = exit.oom_kills;
  evidence.oom_kills_nearby = exit.oom_kills_nearby;
  evidence.failed_rank = exit.failed_rank;
  evidence.xid = TellingXid(live.xids);
  evidence.oom_counted = exit.oom_counted;
  evidence.core_dumped = exit.core_dumped;
  evidence.core_file = exit.core_file;
  evidence.exception = tail.exception;
  evidence.errors = tail.errors;
  // A stop that came after the end changes nothing: only one the shim has acted on counts.
  if (exit.stopped_by == ExitRecord::StoppedBy::kOrder) {
    evidence.stop_reason = attempt.stop_reason;
    evidence.stop_kind = attempt.stop_kind;
  }
  const Task& task = *FindTask(attempt.task);
  History history;
  history.ran = exit.ended - exit.started;
  history.made_progress = task.began_progress;
  history.has_checkpoint = !task.checkpoint.path.empty();
  history.retries = task.retries;
  history.previous = live.previous;
  const Outcome outcome = Classify(evidence);
  if (DriverMayKnow(live, outcome)) return AskDriver(live, tail);
  RetryAdvice advice = Advise(outcome, task.retry, history);
  const bool failed = outcome.kind == OutcomeKind::kFailed;
  if (failed && outcome.failure == FailureClass::kDeviceOom && Shares(live)) {
    // Beside others it was not the script's fault: alone it may have what it needs.
    Change(*FindTask(attempt.task), [](Task& t) { t.alone = true; });
    advice = RetryAdvice{RetryAdvice::Act::kRequeue, {}, msg::RetryShareMemory{}};
  } else if (exit.kind == ExitRecord::Kind::kExecFailed && exit.exec_step == "fork" &&
             (exit.exec_errno == EAGAIN || exit.exec_errno == ENOMEM)) {
    // The supervisor could make no process: the command has not run.
    advice = RetryAdvice{RetryAdvice::Act::kRequeue, kBreath, {}};
  } else if (failed && live.device_broke) {
    advice = RetryAdvice{RetryAdvice::Act::kRequeue, {}, msg::RetryDeviceBroken{}};
  }
  Conclude(live, outcome, advice);
}

// Nothing says why it failed. A fault of its GPU that ended it is in the driver's next report at the latest.
bool Yard::DriverMayKnow(const Live& live, const Outcome& outcome) const {
  if (watch_ == nullptr || probe_ != ProbeState::kGood || live.mute || !live.xids.empty()) return false;
  if (outcome.failure != FailureClass::kScript || !outcome.evidence.empty()) return false;
  return live.leased &&
         std::any_of(live.attempt.devices.begin(), live.attempt.devices.end(),
                     [this](const std::string& id) { return IsGpu(ledger_.Find(id)->device); });
}

void Yard::AskDriver(Live& live, const LogTail& tail) {
  live.mute = tail;
  live.asked = Wall();
  mute_.emplace(now_ + kDriverPatience, live.attempt.uid);
  watch_->LookNow();
}

// Those the driver was asked about before a report of `seen`, and those it was asked about for too long.
void Yard::ConcludeMute(std::optional<Time> seen) {
  std::vector<Ulid> told;
  for (auto at = mute_.begin(); at != mute_.end();) {
    const Live* live = FindLive(at->second);
    const bool told_yet = seen && live != nullptr && *seen > live->asked;
    if (at->first > now_ && !told_yet) {
      ++at;
      continue;
    }
    told.push_back(at->second);
    at = mute_.erase(at);
  }
  for (const Ulid& uid : told) {
    if (Live* live = FindLive(uid)) ConcludeExit(*live, LogTail(*live->mute));
  }
}

void Yard::ConcludeLost(Live& live, AttemptLost::Why why) {
  Evidence evidence;
  evidence.end = why == AttemptLost::Why::kReboot ? Evidence::End::kLostReboot : Evidence::End::kLostShim;
  evidence.stop_reason = live.attempt.stop_reason;
  evidence.stop_kind = live.attempt.stop_kind;
  const Task& task = *FindTask(live.attempt.task);
  History history;
  if (live.attempt.started) history.ran = std::max(Duration{}, Wall() - *live.attempt.started);
  history.made_progress = task.began_progress;
  history.has_checkpoint = !task.checkpoint.path.empty();
  history.retries = task.retries;
  history.previous = live.previous;
  evidence.sees_all = engine_.Containment() != "subreaper";
  const Outcome outcome = Classify(evidence);
  Follow(live);
  ingest_.Finish(live.attempt.uid, {}, [](LogTail) {});
  Conclude(live, outcome, Advise(outcome, task.retry, history));
}

void Yard::Conclude(Live& live, const Outcome& outcome, const RetryAdvice& advice) {
  const Ulid uid = live.attempt.uid;
  const bool launched = live.launched;
  // Nothing ends before it began, not even when the wall clock was set back meanwhile.
  const std::optional<Time> started = live.exit ? live.exit->started : live.attempt.started;
  const Time ended = std::max(live.exit ? live.exit->ended : Wall(), started.value_or(Time::min()));
  Task& task = *FindTask(live.attempt.task);
  if (live.progress) Mark(live, true);
  Change(live.attempt, [&](Attempt& a) {
    a.state = AttemptState::kEnded;
    if (live.exit) a.started = live.exit->started;
    a.ended = ended;
    a.outcome = outcome;
    a.progress = live.progress;
    a.metrics = live.metrics;
    if (live.exit) a.ranks = live.exit->ranks;
    if (outcome.kind != OutcomeKind::kSucceeded) a.rule = advice.reason;
  });
  boost::json::object data{{"outcome", ToJson(outcome)}};
  if (advice.act == RetryAdvice::Act::kRetry) data["retry_in_ms"] = ToMillis(advice.delay);
  if (!advice.reason.empty()) data["rule"] = ToJson(advice.reason);
  boost::json::array xids;
  for (const Evidence::Xid& xid : live.xids) xids.emplace_back(xid.number);
  if (!xids.empty()) data["xids"] = std::move(xids);
  if (live.exit && live.exit->failed_rank) data["failed_rank"] = *live.exit->failed_rank;
  Emit(outcome.kind == OutcomeKind::kLost ? "attempt.lost" : "attempt.ended", task.id, live.attempt.number,
       data);
  FAIL_POINT("exit.written");
  Free(live);
  current_.erase(task.id);
  lives_.erase(uid);  // `live` is gone from here on
  if (launched) {
    journal_.Then([this, uid](const Receipt& receipt) {
      FAIL_POINT("acknowledge.durable");
      if (receipt.committed) engine_.Acknowledge(uid);
    });
  }

  if (advice.act == RetryAdvice::Act::kEnd) return End(task, outcome, ended);
  Change(task, [&](Task& t) {
    t.state = Waiting{};
    t.outcome = outcome;  // of the attempt before; the next launch clears it
    if (advice.act == RetryAdvice::Act::kRetry) {
      t.retries++;
      t.not_before = Wall() + advice.delay;
    }
    if (advice.act == RetryAdvice::Act::kRequeue && advice.delay > Duration{})
      t.not_before = Wall() + advice.delay;
    if (advice.act == RetryAdvice::Act::kHold) {
      t.held = true;
      t.held_reason = advice.reason;
    }
  });
  if (task.held) Emit("task.held", task.id, task.attempts, {{"reason", ToJson(advice.reason)}});
  Place(task);
}

// Nothing has run for want of descriptors, processes or room: others use them up now, and a pause lets them
// end.
void Yard::ComeAgain(Live& live, Message reason) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kPreempted;
  outcome.reason = reason;
  Conclude(live, outcome, RetryAdvice{RetryAdvice::Act::kRequeue, kBreath, std::move(reason)});
}

// Nothing has run: the task goes back to its place, not counted as a retry.
void Yard::GoBack(Live& live, Message reason, bool hold) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kPreempted;
  outcome.reason = reason;
  RetryAdvice advice;
  advice.act = hold ? RetryAdvice::Act::kHold : RetryAdvice::Act::kRequeue;
  advice.reason = std::move(reason);
  Conclude(live, outcome, advice);
}

}  // namespace ty
