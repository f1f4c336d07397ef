// TaskSpec is what the user asked for. It never changes once submitted.
// One schema for the command line, YAML files and the API: ParseTaskSpec reads the JSON of api/openapi.yaml.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/lease.h"
#include "model/signals.h"

namespace ty {

// How many devices would do, ascending: `2` is {2}, `1-4` is {1,2,3,4}, `{1,2,4}` is itself, `0` is {0}.
// Empty: not said, which means one device.
struct DeviceCounts {
  std::vector<int> counts;

  int Least() const { return counts.empty() ? 1 : counts.front(); }
  int Most() const { return counts.empty() ? 1 : counts.back(); }
  bool operator==(const DeviceCounts&) const = default;

  static Result<DeviceCounts> Parse(std::string_view text);  // the -g grammar
  std::string Text() const;
};

struct Dependency {
  enum class On : uint8_t { kOk, kFail, kAny };
  TaskId task;
  On on = On::kOk;
  bool operator==(const Dependency&) const = default;
};

struct RetryPolicy {
  enum class On : uint8_t {
    kTable,
    kAny
  };                       // kTable: the classes of contracts C10; kAny: every failure but exec_failed
  std::optional<int> max;  // said by the user; else the table's own number
  On on = On::kTable;
  Duration delay = seconds(10);
  bool operator==(const RetryPolicy&) const = default;
};

using Variables = std::vector<std::pair<std::string, std::string>>;  // in order, names unique

struct TaskSpec {
  std::string name;               // empty: the Yard makes one from the command
  std::vector<std::string> argv;  // byte for byte; never empty
  std::string workdir;            // absolute
  std::string recipe;             // name of the recipe it came from, or empty
  DeviceCounts gpus;
  std::optional<int> cpus;        // cores counted for a task without a device; 1 if not said
  std::optional<int64_t> memory;  // bytes of RAM
  DeviceWish wish;
  // How CUDA_VISIBLE_DEVICES names GPUs: some libraries cannot read UUIDs.
  enum class GpuIds : uint8_t { kUuid, kIndex } gpu_ids = GpuIds::kUuid;
  int priority = 0;  // larger first; high/normal/low = 100/0/-100
  std::vector<Dependency> after;
  bool hold = false;
  std::optional<Time> begin;
  std::optional<Duration> time_limit, idle_limit;
  std::optional<int64_t> log_limit;  // bytes of each log kept on disk; not said: all of it
  int umask = 022;                   // of the submitter: what the task's files may be to others
  RetryPolicy retry;
  std::string resume_path;  // checkpoint to start from, or empty
  int stop_signal = 15;
  StopTarget stop_target = StopTarget::kGroup;
  Duration grace = seconds(60);  // between the stop signal and KILL
  std::vector<std::string> tags;
  Variables variables;    // on top of the environment
  Variables environment;  // the submitter's, scrubbed; or the yard's basic one
  // What the code looked like at submit, as the client saw it.
  struct Code {
    std::vector<std::pair<std::string, std::string>> files;  // absolute path, sha256 in hex
    std::string repository, commit;                          // empty when there is none
    bool operator==(const Code&) const = default;
  } code;
  bool operator==(const TaskSpec&) const = default;
};

// Strict: an unknown key is refused naming the nearest; errors carry JSON pointers ("/resources/gpus").
Result<TaskSpec> ParseTaskSpec(const boost::json::value& json);
// What `show` and the API print. `secrets` false masks the values of variables that look secret.
boost::json::object ToJson(const TaskSpec& spec, bool secrets);

// A word that is not UTF-8 stands in JSON as {"base64": "…"}.
boost::json::value WordToJson(std::string_view word);
Result<std::string> WordFromJson(const boost::json::value& json, std::string_view field);

bool LooksSecret(std::string_view variable);  // TOKEN, SECRET, PASSWORD, API_KEY, …
// TRAINYARD_* but HOME, RANK…, PET_*, SLURM_*, CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER: never taken from a
// recorded shell (contracts C3). NVIDIA_VISIBLE_DEVICES stays: it says what a container's runtime was given.
bool IsScrubbed(std::string_view variable);

Result<int> ParsePriority(std::string_view text);  // high, normal, low or a number
Status CheckName(std::string_view name);           // contracts C16

}  // namespace ty
