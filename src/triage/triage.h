// Triage says how an attempt ended and whether trying again can help. Table-driven and pure (contracts C10).
// Exit code and signal are the truth; the log only explains them: a run that exited 0 succeeded whatever it
// wrote.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/task.h"

namespace ty {

// What is known when an attempt is over.
struct Evidence {
  enum class End : uint8_t { kExited, kExecFailed, kLostShim, kLostReboot };
  End end = End::kExited;
  std::optional<int> exit_code, signal;
  int exec_errno = 0;
  std::string exec_step;  // kExecFailed: "exec", "chdir", …
  std::string program;    // argv[0], for exec_failed
  std::string workdir;
  bool hit_time_limit = false, hit_idle_limit = false;
  Duration limit{};                    // the limit it hit
  std::optional<Message> stop_reason;  // we asked it to stop
  OutcomeKind stop_kind = OutcomeKind::kCancelled;
  int oom_kills = 0;
  int oom_kills_nearby = 0;  // in the memory cgroup it shared with others, where only that is counted
  bool oom_counted = false;  // one of the two could be read
  bool core_dumped = false;
  std::string core_file;            // where that lies, if known
  std::string exception;            // last line of the last traceback
  std::vector<std::string> errors;  // other telling lines, newest first
  // A fault the driver reported of a device of its while it ran, where the log says nothing better.
  struct Xid {
    int64_t number = 0;
    std::string device;  // "GPU0"
  };
  std::optional<Xid> xid;
  std::optional<int> failed_rank;  // of ranks, the one whose end this is
  bool sees_all = true;            // kLost: nothing of it can have been missed, whatever it did to hide
};
Outcome Classify(const Evidence& evidence);

struct History {
  Duration ran{};              // this attempt
  bool made_progress = false;  // a progress mark or checkpoint was seen in this attempt
  bool has_checkpoint = false;
  int retries = 0;                              // counted so far
  FailureClass previous = FailureClass::kNone;  // class of the attempt before
};
struct RetryAdvice {
  enum class Act : uint8_t { kEnd, kRetry, kRequeue, kHold } act = Act::kEnd;  // kRequeue: not counted
  Duration delay{};
  Message reason;  // the rule that applied
};
RetryAdvice Advise(const Outcome& outcome, const RetryPolicy& policy, const History& history);

// The policy in one sentence, for the receipt.
Message DescribeRetry(const RetryPolicy& policy);

// The class that one line of a log speaks for; kNone for most lines. Quick: ingest asks for every line of a
// tail.
FailureClass ReadSign(std::string_view line);

}  // namespace ty
