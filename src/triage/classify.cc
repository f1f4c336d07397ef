// How an attempt ended, first by what the kernel and the shim say, then by what the log says of it.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "model/signals.h"
#include "msg/outcome.h"
#include "triage/signs.h"
#include "triage/triage.h"

namespace ty {

namespace {

std::string Named(int signal) {
  const std::string name = SignalName(signal);
  return std::isdigit(static_cast<unsigned char>(name[0])) ? name : "SIG" + name;
}

// What the program's own native code raises when it is broken; the others come from outside.
bool IsCrash(int signal) {
  constexpr int kCrashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  return std::find(std::begin(kCrashes), std::end(kCrashes), signal) != std::end(kCrashes);
}

Outcome Failed(const Evidence& evidence, FailureClass failure, Message reason, std::string line = {}) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kFailed;
  outcome.failure = failure;
  outcome.signal = evidence.signal;
  if (!evidence.signal) outcome.exit_code = evidence.exit_code;
  outcome.failed_rank = evidence.failed_rank;
  outcome.reason = std::move(reason);
  outcome.evidence = std::move(line);
  outcome.core_dumped = evidence.core_dumped;
  outcome.core_file = evidence.core_file;
  return outcome;
}

Message Crashed(const Evidence& evidence) {
  const int signal = *evidence.signal;
  if (!evidence.core_dumped) return msg::OutcomeCrashed{.number = signal, .name = Named(signal)};
  if (evidence.core_file.empty()) return msg::OutcomeCrashedCore{.number = signal, .name = Named(signal)};
  return msg::OutcomeCrashedCoreFile{.number = signal, .name = Named(signal), .file = evidence.core_file};
}

struct Shown {
  FailureClass failure = FailureClass::kNone;
  std::string line;
};

// Somebody was killed for want of memory in what the task shares with others; who, the counter does not say.
// Where the program itself names another cause, that is believed; that one of its processes was killed is
// none.
bool MayHaveRunOut(const Evidence& evidence, const Shown& shown) {
  if (evidence.oom_kills_nearby <= 0) return false;
  if (shown.failure == FailureClass::kNone) return true;
  for (const char* killed : {"SIGKILL", "killed by signal", "signal: Killed"})
    if (shown.line.find(killed) != std::string::npos) return true;
  return false;
}

Message WhyNotStarted(const Evidence& evidence) {
  const char* described = strerrordesc_np(evidence.exec_errno);
  const std::string error = described != nullptr ? described : "error " + std::to_string(evidence.exec_errno);
  switch (evidence.exec_errno) {
    case ENOSPC:
    case EDQUOT:
      return msg::OutcomeExecDiskFull{};
    case ENOMEM:
    case EAGAIN:
      return msg::OutcomeNoProcesses{.error = error};
    default:
      break;
  }
  if (evidence.exec_step == "chdir") {
    if (evidence.exec_errno == ENOENT || evidence.exec_errno == ENOTDIR) {
      return msg::OutcomeWorkdirMissing{.folder = evidence.workdir};
    }
    if (evidence.exec_errno == EACCES) return msg::OutcomeWorkdirDenied{.folder = evidence.workdir};
  }
  if (evidence.exec_step == "exec") {
    switch (evidence.exec_errno) {
      case ENOENT:
      case ENOTDIR:
        return msg::OutcomeProgramMissing{.program = evidence.program};
      case EACCES:
      case EPERM:
      case EISDIR:
        return msg::OutcomeProgramDenied{.program = evidence.program};
      case ENOEXEC:
      case EINVAL:
      case ELIBBAD:
        return msg::OutcomeProgramUnfit{.program = evidence.program};
      case E2BIG:
        return msg::OutcomeCommandTooLong{};
      default:
        break;
    }
  }
  return msg::OutcomeExecFailed{.program = evidence.program, .step = evidence.exec_step, .error = error};
}

// What the log says: the exception speaks if there is one, unless it only reports another process's end.
Shown ReadLog(const Evidence& evidence) {
  if (!evidence.exception.empty()) {
    if (FailureClass found = ReadException(evidence.exception); found != FailureClass::kNone) {
      return {found, evidence.exception};
    }
    if (!IsSecondHand(evidence.exception)) return {FailureClass::kScript, evidence.exception};
  }
  for (const std::string& line : evidence.errors) {
    if (FailureClass found = ReadSign(line); found != FailureClass::kNone) return {found, line};
  }
  return {evidence.exception.empty() ? FailureClass::kNone : FailureClass::kScript, evidence.exception};
}

Message WhatToDo(FailureClass failure, int code) {
  switch (failure) {
    case FailureClass::kDeviceOom:
      return msg::OutcomeDeviceOom{};
    case FailureClass::kHostOom:
      return msg::OutcomeHostOom{};
    case FailureClass::kDivergence:
      return msg::OutcomeDivergence{};
    case FailureClass::kImportError:
      return msg::OutcomeImportError{};
    case FailureClass::kBadArgument:
      return msg::OutcomeBadArgument{};
    case FailureClass::kFileMissing:
      if (code == 127) return msg::OutcomeCommandNotFound{.code = code};
      return msg::OutcomeFileMissing{};
    case FailureClass::kDiskFull:
      return msg::OutcomeDiskFull{};
    case FailureClass::kCudaFault:
      return msg::OutcomeCudaFault{};
    case FailureClass::kNccl:
      return msg::OutcomeNccl{};
    case FailureClass::kDataLoading:
      return msg::OutcomeDataLoading{};
    default:
      return msg::OutcomeScriptException{.code = code};
  }
}

// What the driver said of the device, where the program has said nothing.
Outcome FaultOfDevice(const Evidence& evidence) {
  return Failed(evidence, FailureClass::kCudaFault,
                msg::OutcomeXid{.xid = evidence.xid->number, .device = evidence.xid->device});
}

Outcome EndedBySignal(const Evidence& evidence) {
  const int signal = *evidence.signal;
  if (signal == SIGKILL && evidence.oom_kills > 0) {
    return Failed(evidence, FailureClass::kHostOom, msg::OutcomeKilledOom{});
  }
  if (signal == SIGKILL && evidence.oom_kills_nearby > 0) {
    return Failed(evidence, FailureClass::kHostOom,
                  msg::OutcomeKilledOomNearby{.count = evidence.oom_kills_nearby});
  }
  if (signal == SIGKILL) return Failed(evidence, FailureClass::kKilledFromOutside, msg::OutcomeKilled9{});
  if (!IsCrash(signal)) {
    return Failed(evidence, FailureClass::kKilledFromOutside,
                  msg::OutcomeKilledSignal{.number = signal, .name = Named(signal)});
  }
  Shown shown = ReadLog(evidence);
  switch (shown.failure) {
    case FailureClass::kDeviceOom:
    case FailureClass::kHostOom:
    case FailureClass::kCudaFault:
    case FailureClass::kNccl:
    case FailureClass::kDataLoading:
      return Failed(evidence, shown.failure, WhatToDo(shown.failure, 0), std::move(shown.line));
    default:
      if (evidence.xid && shown.line.empty()) return FaultOfDevice(evidence);
      return Failed(evidence, FailureClass::kScript, Crashed(evidence), std::move(shown.line));
  }
}

Outcome EndedWithCode(const Evidence& evidence) {
  const int code = evidence.exit_code.value_or(1);
  if (code == 0) {
    Outcome outcome;
    outcome.exit_code = 0;
    outcome.reason = msg::OutcomeSucceeded{};
    if (evidence.oom_kills > 0)
      outcome.reason = msg::OutcomeSucceededOom{.count = evidence.oom_kills};
    else if (evidence.oom_kills_nearby > 0)
      outcome.reason = msg::OutcomeSucceededOomNearby{.count = evidence.oom_kills_nearby};
    return outcome;
  }
  Shown shown = ReadLog(evidence);
  if (evidence.oom_kills > 0) {
    return Failed(evidence, FailureClass::kHostOom, msg::OutcomeChildOom{}, std::move(shown.line));
  }
  if (MayHaveRunOut(evidence, shown)) {
    return Failed(evidence, FailureClass::kHostOom,
                  msg::OutcomeExitOomNearby{.code = code, .count = evidence.oom_kills_nearby},
                  std::move(shown.line));
  }
  if (shown.failure != FailureClass::kNone) {
    return Failed(evidence, shown.failure, WhatToDo(shown.failure, code), std::move(shown.line));
  }
  if (code == 128 + SIGKILL) {
    return Failed(
        evidence, FailureClass::kKilledFromOutside,
        evidence.oom_counted ? Message(msg::OutcomeExit137{}) : Message(msg::OutcomeExit137Uncounted{}));
  }
  if (code > 128 && code <= 128 + SIGSYS) {
    const int signal = code - 128;
    if (evidence.xid && IsCrash(signal)) return FaultOfDevice(evidence);
    return Failed(evidence, IsCrash(signal) ? FailureClass::kScript : FailureClass::kKilledFromOutside,
                  msg::OutcomeExitSignal{.code = code, .number = signal, .name = Named(signal)});
  }
  if (code == 127)
    return Failed(evidence, FailureClass::kFileMissing, msg::OutcomeCommandNotFound{.code = code});
  if (evidence.xid) return FaultOfDevice(evidence);
  Message reason = msg::OutcomeExitCode{.code = code};
  if (evidence.failed_rank) reason = msg::OutcomeRankExitCode{.rank = *evidence.failed_rank, .code = code};
  return Failed(evidence, FailureClass::kScript, std::move(reason));
}

}  // namespace

Outcome Classify(const Evidence& evidence) {
  if (evidence.end == Evidence::End::kExecFailed) {
    return Failed(evidence, FailureClass::kExecFailed, WhyNotStarted(evidence));
  }
  Outcome outcome;
  outcome.signal = evidence.signal;
  outcome.core_dumped = evidence.core_dumped;
  outcome.core_file = evidence.core_file;
  if (!evidence.signal) outcome.exit_code = evidence.exit_code;
  if (evidence.stop_reason) {
    outcome.kind = evidence.stop_kind;
    outcome.reason = *evidence.stop_reason;
    return outcome;
  }
  if (evidence.end != Evidence::End::kExited) {
    outcome.kind = OutcomeKind::kLost;
    outcome.reason = evidence.end == Evidence::End::kLostReboot ? Message(msg::OutcomeLostReboot{})
                     : evidence.sees_all                        ? Message(msg::OutcomeLostShim{})
                                                                : Message(msg::OutcomeLostShimSeen{});
    return outcome;
  }
  if (evidence.hit_time_limit) {
    outcome.kind = OutcomeKind::kTimeout;
    outcome.reason = msg::OutcomeTimeLimit{.limit = evidence.limit};
    return outcome;
  }
  if (evidence.hit_idle_limit) {
    outcome.kind = OutcomeKind::kTimeout;
    outcome.failure = FailureClass::kHang;
    outcome.reason = msg::OutcomeIdleLimit{.limit = evidence.limit};
    return outcome;
  }
  return evidence.signal ? EndedBySignal(evidence) : EndedWithCode(evidence);
}

}  // namespace ty
