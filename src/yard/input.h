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
  std::vector<TaskRecord> ended;  // records of the named tasks that the store knows as ended (retry, rm)
  std::function<void(std::vector<ActAnswer>)> reply;
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

using Input = std::variant<Submit, Act, PauseQueue, Ask, AwaitEnd, AwaitEvents, Committed, Adopted,
                           AttemptNews, Observation, TailRead, CodeSeen>;

}  // namespace ty
