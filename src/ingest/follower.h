// Follower reads one attempt's files as they grow and gathers what they say into Observations. Private to
// ingest; used on its thread alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/file_tail.h"
#include "ingest/ingest.h"
#include "ingest/progress_rule.h"
#include "ingest/record_lines.h"
#include "wire/terminal.h"

namespace ty {

class Follower {
 public:
  explicit Follower(Followed followed);

  // Reads at most `buffer` of each file. Returns whether more waits already.
  bool Read(std::string& buffer);
  // Between reads: offers what stands unfinished in the log.
  void Idle() { terminal_.OfferIdle(); }
  // Reads all that is left. The log may be very long by now: then its end alone.
  void ReadRest(std::string& buffer);
  // What is new since the last one; nothing when nothing is.
  std::optional<Observation> Take();

  const Followed& followed() const { return followed_; }
  int64_t unreadable() const { return unreadable_; }

 private:
  void LogLine(std::string_view line);
  void RecordLine(std::optional<std::string_view> line);
  void SetMetric(const std::string& name, double value);
  void ReadCheckpoints(std::string& buffer, bool all);
  void ReleaseCheckpoints();

  Followed followed_;
  FileTail log_, metrics_file_, checkpoints_file_;
  Terminal terminal_;
  LineCutter metric_lines_, checkpoint_lines_;

  ProgressRule progress_;
  std::optional<Progress> reported_;
  std::map<std::string, double> metrics_;
  bool metrics_from_helper_ = false;
  bool metrics_new_ = false;
  std::vector<Checkpoint> checkpoints_;  // to report
  std::vector<Checkpoint> early_;        // held back until the known one is passed
  bool caught_up_ = false;
  int64_t unreadable_ = 0, unreadable_reported_ = 0;
};

}  // namespace ty
