// Follower reads one attempt's files as they grow, gathers what they say into Observations and hands each
// point of a metric to the sink. It reads from the start even when another daemon has read before, to know
// the newest values; points found up to where that one came are in already. Private to ingest; used on its
// thread alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingest/file_tail.h"
#include "ingest/ingest.h"
#include "ingest/log_times.h"
#include "ingest/progress_rule.h"
#include "ingest/record_lines.h"
#include "ingest/track.h"
#include "os/clock.h"
#include "wire/terminal.h"

namespace ty {

class Follower {
 public:
  Follower(Followed followed, SeriesSink* sink);

  // Reads at most `buffer` of each file. Returns whether more waits already.
  bool Read(std::string& buffer);
  // Between reads: offers what stands unfinished in the log.
  void Idle();
  // Reads all that is left. The log may be very long by now: then its end alone.
  void ReadRest(std::string& buffer);
  // What is new since the last one; nothing when nothing is.
  std::optional<Observation> Take();

  const Followed& followed() const { return followed_; }
  AttemptKey key() const { return {followed_.task, followed_.number}; }
  int64_t unreadable() const { return unreadable_; }

 private:
  int64_t WaitingInLog();
  int64_t WaitingInMetrics();
  void FirstLook();
  void FeedLog(std::string_view bytes);
  void FeedTimed(std::string_view bytes, int64_t begin);
  bool HasCaughtUp() const;
  void SkipFlood(int64_t most);
  void KeepLogPoint(const std::string& tag, double value);
  void KeepPoints(const Record& record);
  void GivePoints();
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

  // What stood in the files when they were first looked at was written before, some of it long ago.
  SystemClock clock_;
  bool looked_ = false;
  int64_t old_log_ = 0, old_records_ = 0;
  LogTimes log_times_;
  Time read_;               // when the piece at hand was
  std::optional<Time> at_;  // when the log's piece at hand was written, as far as is known
  Track track_;
  bool paced_ = false;  // the pace was told
  std::map<std::string, double> metrics_;
  bool metrics_from_helper_ = false;
  bool metrics_new_ = false;
  std::vector<Checkpoint> checkpoints_;  // to report
  std::vector<Checkpoint> early_;        // held back until the known one is passed
  bool caught_up_ = false;

  SeriesSink* sink_;
  SourcePlace known_, place_;  // what the sink has, what has been read
  bool replaying_ = false;     // the log's bytes at hand are known to the sink
  std::vector<FoundPoint> points_;
  struct LogSeries {
    int64_t count = 0;
    double step = 0, value = 0;  // of the newest
  };
  std::unordered_map<std::string, LogSeries> log_series_;
  std::unordered_map<std::string, int64_t> unnumbered_;  // points without a step, by tag
  int64_t unreadable_ = 0, unreadable_reported_ = 0;
};

}  // namespace ty
