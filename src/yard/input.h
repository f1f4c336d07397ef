// Input is what the Yard's inbox takes: a request of a person or news from an engine, the store, ingest.
// Replies are called on the Yard's thread, after the commit that made them true; they must only hand over.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "ingest/ingest.h"
#include "model/device.h"
#include "os/device_watch.h"
#include "store/store.h"

namespace ty {

class Yard;

// What a submit is answered with; words are made at the edge.
struct SubmitReceipt {
  TaskId id;
  Ulid uid;
  std::string name;
  std::string state;  // "starting", "waiting"
  bool held = false;
  bool repeated = false;             // the idempotency key was known: nothing new was queued
  std::vector<std::string> devices;  // leased already
  Message devices_message;           // "1 process, sees cpu:0"; what it asked for when it waits
  Message environment_message;       // whose interpreter and variables
  Message reason;                    // why it waits; empty when it starts
  Message retry_message;             // whether a crash loses work
  Message survival_message;          // whether closing the terminal or a reboot is safe
};

struct SubmitItem {
  TaskSpec spec;
  std::string idempotency_key, request_hash;
  // What it follows among the other items of the same submit: index and condition.
  std::vector<std::pair<size_t, Dependency::On>> after_items;
};
struct Submit {
  std::vector<SubmitItem> items;  // all or nothing
  // What `after` names and the store knows as ended, looked up before.
  std::unordered_map<TaskId, OutcomeKind> ended;
  // Idempotency keys the store knows, looked up before.
  std::unordered_map<std::string, KeptKey> kept;
  std::function<void(Result<std::vector<SubmitReceipt>>)> reply;
};

// What a submit of this would be answered with; nothing is queued.
struct PreviewAnswer {
  std::vector<Error> faults;  // why it would be refused, all of them: then nothing else is said
  SubmitReceipt receipt;      // without a number
  bool starts_now = false;
};
struct Preview {
  TaskSpec spec;
  bool faults_only = false;  // something else is wrong with it: it need not even have a command
  std::unordered_map<TaskId, OutcomeKind> ended;  // as for a submit
  std::function<void(Result<PreviewAnswer>)> reply;
};

enum class Verb : uint8_t { kCancel, kHold, kRelease, kRetry, kPriority, kRemove };
struct ActAnswer {
  TaskId id;
  Status done;
};
struct Act {
  Verb verb = Verb::kCancel;
  std::vector<TaskId> tasks;
  bool all_open = false;          // `cancel --all`: every open task; the queue is paused first
  std::string tag;                // every open task with this tag, besides `tasks`
  int priority = 0;               // kPriority
  bool first = false;             // kPriority: before all that wait, whatever `priority` says
  std::optional<TaskId> beside;   // kPriority: instead, right before this one, with its priority …
  bool behind = false;            // … or right behind it
  std::vector<TaskRecord> ended;  // records of the named tasks that the store knows as ended (retry, rm)
  std::function<void(std::vector<ActAnswer>)> reply;
};
enum class DeviceVerb : uint8_t {
  kHold,     // nothing new starts on it until `until`, or until released
  kRelease,  // from a hold, from quarantine once a look at it finds it well, and from those who use it from
             // outside now: they are ignored until they end
};
struct ActOnDevices {
  DeviceVerb verb = DeviceVerb::kHold;
  std::vector<std::string> devices;  // "0", "GPU0", "cpu:1", a UUID or its beginning
  std::optional<Time> until;
  std::function<void(std::vector<std::pair<std::string, Status>>)> reply;  // by what was named
};
struct PauseQueue {
  bool paused = true;
  std::function<void(Status)> reply;
};

// A question reads the Yard on its own thread. It must be quick and keep no reference.
struct Ask {
  std::function<void(const Yard&)> question;
};
// Calls `wake` once, when the task has ended durably (at once when it is not open) or events past `after` are
// durable. Let the pointer die to stop waiting.
struct AwaitEnd {
  TaskId task;
  std::weak_ptr<std::function<void()>> wake;
};
struct AwaitEvents {
  int64_t after = 0;
  std::weak_ptr<std::function<void()>> wake;
};

struct Committed {
  Receipt receipt;
};
struct Adopted {
  std::vector<std::string> strays;
};
struct TailRead {
  Ulid attempt;
  LogTail tail;
};
// What the code of a task looks like now, against what the client saw at submit; read off-thread at launch.
struct CodeSeen {
  TaskId task;
  int attempt = 0;
  std::vector<std::string> changed;  // files that differ
};

// Somebody set the wall clock: it is this far ahead of the time that Turn is given.
struct ClockSet {
  Duration ahead{};
};

// What outlives a logout or a reboot of the host is told in receipts.
struct HostChanged {
  bool survives_logout = false, survives_reboot = false;
};

using Input = std::variant<Submit, Preview, Act, ActOnDevices, DeviceReport, PauseQueue, Ask, AwaitEnd,
                           AwaitEvents, Committed, Adopted, AttemptNews, Observation, TailRead, CodeSeen,
                           ClockSet, HostChanged, StoreHealth>;

}  // namespace ty
