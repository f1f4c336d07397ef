// Outcome is how an attempt, and with its last attempt a task, ended.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "base/message.h"
#include "base/result.h"
#include "base/time.h"

namespace ty {

enum class OutcomeKind : uint8_t { kSucceeded, kFailed, kCancelled, kTimeout, kPreempted, kLost };

enum class FailureClass : uint8_t {
  kNone,
  kExecFailed,
  kDeviceOom,
  kHostOom,
  kDivergence,
  kImportError,
  kBadArgument,
  kFileMissing,
  kDiskFull,
  kCudaFault,
  kNccl,
  kHang,
  kKilledFromOutside,
  kDataLoading,
  kDependency,  // never ran: what it was to follow ended otherwise
  kScript,
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::kSucceeded;
  FailureClass failure = FailureClass::kNone;
  std::optional<int> exit_code;  // absent when a signal ended it, or nothing ran
  std::optional<int> signal;
  Message reason;                  // why, for people
  std::string evidence;            // the line of the log that shows it, or empty
  std::optional<int> failed_rank;  // of ranks, the one that failed first by itself: its end is that of all
  bool core_dumped = false;        // the system made a core dump of it; in `core_file` where that is known
  std::string core_file = {};
  bool operator==(const Outcome&) const = default;
};

std::string_view Name(OutcomeKind kind);      // "succeeded", "failed", …
std::string_view Name(FailureClass failure);  // "script", "data_loading", …; "" for none
std::optional<OutcomeKind> ParseOutcomeKind(std::string_view name);
std::optional<FailureClass> ParseFailureClass(std::string_view name);

// How `run --wait` ends for it (contracts C14).
int ExitCodeOf(const Outcome& outcome);

// Stored form: reasons as {"id":…,"args":{…}}, no words.
boost::json::value ToJson(const Outcome& outcome);
Result<Outcome> ParseOutcome(const boost::json::value& json);
boost::json::value ToJson(const Message& message);
Result<Message> ParseMessage(const boost::json::value& json);

}  // namespace ty
