// The helper library's files, metrics.jsonl and checkpoints.jsonl (contracts C3): one JSON object a line, of
// all attempts of a task. A last line without its newline waits; lines that cannot be read are counted.
// Private to ingest.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/task.h"

namespace ty {

// Cuts bytes into lines; a line over the limit is dropped whole.
class LineCutter {
 public:
  static constexpr size_t kLongest = 1 << 20;
  // `line` gets each complete line; nothing for one that was too long. `behind()` is then how many of these
  // bytes end with it.
  void Feed(std::string_view bytes, const std::function<void(std::optional<std::string_view>)>& line);

  size_t behind() const { return behind_; }

 private:
  size_t behind_ = 0;
  std::string started_;
  bool too_long_ = false;
};

struct Record {
  std::optional<double> step, time;  // finite; seconds since 1970
  std::vector<std::pair<std::string, double>> metrics;
  std::optional<Progress> progress;
  std::optional<Checkpoint> checkpoint;
};
enum class ReadRecordResult { kRead, kOtherAttempt, kUnreadable };
ReadRecordResult ReadRecord(std::string_view line, int attempt, Record& record);

}  // namespace ty
