#include "ingest/follower.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "wire/metric_line.h"
#include "wire/progress_line.h"

namespace ty {

namespace {

// More unread log than this comes from a flood, or from before this daemon's start: its end says all that is
// shown.
constexpr int64_t kMostBacklog = 64 << 20;
constexpr int64_t kBacklogKept = 4 << 20;
constexpr int64_t kMostAtEnd = 16 << 20;
constexpr size_t kMostMetrics = 1000;
constexpr auto kJustStarted = seconds(5);
constexpr double kLatestSecond = 1e11;  // the year 5138: what is later is no time

int64_t NowMillis() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// What a script says of the time is taken as far as it can be true.
Time TimeOf(double second, Time now) {
  if (second < 0 || second > std::chrono::duration<double>(now.time_since_epoch()).count()) return now;
  return FromNanos(std::llround(second * 1e9));
}

}  // namespace

Follower::Follower(Followed followed, SeriesSink* sink)
    : followed_(std::move(followed)),
      log_(followed_.log),
      metrics_file_(followed_.out_folder + "/metrics.jsonl"),
      checkpoints_file_(followed_.out_folder + "/checkpoints.jsonl"),
      terminal_([this](std::string_view line) { LogLine(line); }),
      sink_(sink) {
  if (sink_ != nullptr) known_ = sink_->Begin(key(), followed_.started);
}

// A daemon that comes back finds minutes or days of work in the files and reads them in a moment.
void Follower::FirstLook() {
  looked_ = true;
  if (read_ - followed_.started < kJustStarted) return;
  old_log_ = WaitingInLog();
  old_log_ += log_.offset();  // which a look may set
  old_records_ = WaitingInMetrics();
  old_records_ += metrics_file_.offset();
  if (old_log_ > 0) log_times_.Load(followed_.log.substr(0, followed_.log.rfind('/')) + "/log.idx");
}

bool Follower::HasCaughtUp() const {
  return log_.offset() >= old_log_ && metrics_file_.offset() >= old_records_;
}

bool Follower::Read(std::string& buffer) {
  bool more = false;
  read_ = clock_.Now();
  if (!looked_) FirstLook();
  if (const int64_t waiting = WaitingInLog(); waiting > 0) {
    if (waiting > kMostBacklog) SkipFlood(kMostBacklog);
    const std::string_view bytes = log_.Read(buffer);
    FeedLog(bytes);
    more |= waiting > static_cast<int64_t>(bytes.size()) && !bytes.empty();
  }
  if (const int64_t waiting = WaitingInMetrics(); waiting > 0) {
    const std::string_view bytes = metrics_file_.Read(buffer);
    const int64_t begin = metrics_file_.offset() - static_cast<int64_t>(bytes.size());
    metric_lines_.Feed(bytes, [&](auto line) {
      place_.records = begin + static_cast<int64_t>(metric_lines_.behind());
      RecordLine(line);
    });
    more |= waiting > static_cast<int64_t>(bytes.size()) && !bytes.empty();
  }
  GivePoints();
  const int64_t waiting = checkpoints_file_.Waiting();
  if (waiting > 0) {
    const std::string_view bytes = checkpoints_file_.Read(buffer);
    checkpoint_lines_.Feed(bytes, [this](auto line) { RecordLine(line); });
    if (waiting > static_cast<int64_t>(bytes.size()) && !bytes.empty()) return true;
  }
  ReleaseCheckpoints();
  return more;
}

// A file that shrank was begun anew: all in it is new.
int64_t Follower::WaitingInLog() {
  const int64_t before = log_.offset(), waiting = log_.Waiting();
  if (log_.offset() < before) old_log_ = place_.log = place_.pauses = known_.log = known_.pauses = 0;
  return waiting;
}
int64_t Follower::WaitingInMetrics() {
  const int64_t before = metrics_file_.offset(), waiting = metrics_file_.Waiting();
  if (metrics_file_.offset() < before) {
    old_records_ = place_.records = known_.records = 0;
    metric_lines_ = {};
  }
  return waiting;
}

void Follower::ReadRest(std::string& buffer) {
  if (WaitingInLog() > kMostAtEnd) SkipFlood(kMostAtEnd);
  while (Read(buffer)) {
  }
  terminal_.Close();
  GivePoints();
}

// What the sink has not seen yet is kept when it is not itself a flood, with some of what comes before it.
void Follower::SkipFlood(int64_t most) {
  const int64_t fresh = log_.offset() + log_.Waiting() - known_.log;
  log_.SkipTo(fresh > 0 && fresh <= most ? fresh + kBacklogKept : kBacklogKept);
}

// The terminal offers the same states for the same bytes, so that the bytes tell which points are in already.
void Follower::FeedLog(std::string_view bytes) {
  const int64_t begin = log_.offset() - static_cast<int64_t>(bytes.size());
  place_.pauses = 0;
  if (begin < known_.log) {
    const std::string_view known = bytes.substr(0, static_cast<size_t>(known_.log - begin));
    replaying_ = true;
    FeedTimed(known, begin);
    for (int i = 0; begin + static_cast<int64_t>(known.size()) == known_.log && i < known_.pauses; ++i)
      terminal_.OfferIdle();
    replaying_ = false;
    bytes.remove_prefix(known.size());
    if (bytes.empty()) place_.pauses = known_.pauses;
  }
  FeedTimed(bytes, log_.offset() - static_cast<int64_t>(bytes.size()));
  place_.log = log_.offset();
}

void Follower::FeedTimed(std::string_view bytes, int64_t begin) {
  while (!bytes.empty()) {
    size_t size = bytes.size();
    at_ = read_;
    if (begin < old_log_) {
      const LogTimes::Piece* piece = log_times_.Find(begin);
      at_.reset();
      if (piece != nullptr) at_ = std::min(piece->at, read_);
      size = std::min(size, static_cast<size_t>((piece != nullptr ? piece->end : old_log_) - begin));
    }
    terminal_.Feed(bytes.substr(0, size));
    begin += static_cast<int64_t>(size);
    bytes.remove_prefix(size);
  }
}

void Follower::Idle() {
  terminal_.OfferIdle();
  place_.pauses = std::min(place_.pauses + 1, 2);
  GivePoints();
}

void Follower::LogLine(std::string_view line) {
  const std::optional<ProgressReading> reading = ReadProgress(line);
  if (reading && reading->side) return;
  if (!reading && metrics_from_helper_) return;
  const std::vector<Metric> metrics = ReadMetrics(line, reading.has_value());
  if (reading) {
    progress_.See(*reading, !metrics.empty());
    if (at_ && progress_.now()) track_.See(*at_, *progress_.now());
  }
  // What the helper reports by name needs no guess from what is printed.
  if (metrics_from_helper_) return;
  for (const auto& [name, value] : metrics) {
    SetMetric(name, value);
    KeepLogPoint(name, value);
  }
}

void Follower::RecordLine(std::optional<std::string_view> line) {
  if (line && line->find_first_not_of(" \t\r") == std::string_view::npos) return;
  Record record;
  if (!line || ReadRecord(*line, followed_.number, record) == ReadRecordResult::kUnreadable) {
    ++unreadable_;
    return;
  }
  if (!record.metrics.empty() && !metrics_from_helper_) {
    metrics_from_helper_ = true;
    metrics_.clear();
  }
  for (const auto& [name, value] : record.metrics) SetMetric(name, value);
  KeepPoints(record);
  if (record.progress) {
    progress_.SeeHelper(std::move(*record.progress));
    const bool old = place_.records <= old_records_;
    if (!old || record.time) track_.See(old ? TimeOf(*record.time, read_) : read_, *progress_.now());
  }
  if (record.checkpoint) early_.push_back(std::move(*record.checkpoint));
}

// ---- Points

// A bar is drawn many times without a step forward: that is one point.
void Follower::KeepLogPoint(const std::string& tag, double value) {
  if (sink_ == nullptr) return;
  LogSeries& series = log_series_[tag];
  const std::optional<Progress>& progress = progress_.now();
  const double step = progress ? progress->done : static_cast<double>(series.count);
  const bool same = series.value == value || (std::isnan(series.value) && std::isnan(value));
  if (progress && series.count > 0 && series.step == step && same) return;
  series = {series.count + 1, step, value};
  if (!replaying_) points_.push_back({tag, step, NowMillis(), value, false});
}

void Follower::KeepPoints(const Record& record) {
  if (sink_ == nullptr) return;
  const int64_t time =
      record.time && std::abs(*record.time) < kLatestSecond ? std::llround(*record.time * 1000) : NowMillis();
  for (const auto& [tag, value] : record.metrics) {
    const double step = record.step ? *record.step : static_cast<double>(unnumbered_[tag]++);
    if (place_.records > known_.records) points_.push_back({tag, step, time, value, true});
  }
}

void Follower::GivePoints() {
  if (points_.empty()) return;
  // One file may have been read further than before while the other is still being caught up with.
  SourcePlace upto = place_;
  upto.records = std::max(upto.records, known_.records);
  if (upto.log < known_.log) {
    upto.log = known_.log;
    upto.pauses = known_.pauses;
  }
  sink_->Append(key(), std::exchange(points_, {}), upto);
}

void Follower::SetMetric(const std::string& name, double value) {
  auto found = metrics_.find(name);
  if (found != metrics_.end()) {
    found->second = value;
  } else if (metrics_.size() < kMostMetrics) {
    metrics_.emplace(name, value);
  } else {
    return;
  }
  metrics_new_ = true;
}

// The file has been read to its end once: only now it is sure whether the known checkpoint is in it.
void Follower::ReleaseCheckpoints() {
  if (early_.empty()) return;
  auto first = early_.begin();
  if (!caught_up_ && followed_.known) {
    auto known = std::find(early_.rbegin(), early_.rend(), *followed_.known);
    if (known != early_.rend()) first = known.base();
  }
  caught_up_ = true;
  checkpoints_.insert(checkpoints_.end(), std::make_move_iterator(first),
                      std::make_move_iterator(early_.end()));
  early_.clear();
}

std::optional<Observation> Follower::Take() {
  Observation seen;
  seen.attempt = followed_.attempt;
  seen.unreadable = unreadable_;
  bool news = unreadable_ != unreadable_reported_ || !checkpoints_.empty();
  unreadable_reported_ = unreadable_;
  if (progress_.now() && progress_.now() != reported_) {
    seen.progress = reported_ = progress_.now();
    news = true;
  }
  if (metrics_new_) {
    seen.metrics.assign(metrics_.begin(), metrics_.end());
    metrics_new_ = false;
    news = true;
  }
  seen.checkpoints = std::move(checkpoints_);
  checkpoints_.clear();
  // In the middle of old times nothing is told of the present.
  if (HasCaughtUp() && (seen.progress || !paced_)) {
    seen.pace = track_.Tell(clock_.Now());
    paced_ = true;
    news |= seen.pace.has_value();
  }
  if (!news) return std::nullopt;
  return seen;
}

}  // namespace ty
