#include "ingest/follower.h"

#include <algorithm>

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

}  // namespace

Follower::Follower(Followed followed)
    : followed_(std::move(followed)),
      log_(followed_.log),
      metrics_file_(followed_.out_folder + "/metrics.jsonl"),
      checkpoints_file_(followed_.out_folder + "/checkpoints.jsonl"),
      terminal_([this](std::string_view line) { LogLine(line); }) {}

bool Follower::Read(std::string& buffer) {
  bool more = false;
  if (const int64_t waiting = log_.Waiting(); waiting > 0) {
    if (waiting > kMostBacklog) log_.SkipTo(kBacklogKept);
    const std::string_view bytes = log_.Read(buffer);
    terminal_.Feed(bytes);
    more |= waiting > static_cast<int64_t>(bytes.size()) && !bytes.empty();
  }
  if (const int64_t waiting = metrics_file_.Waiting(); waiting > 0) {
    const std::string_view bytes = metrics_file_.Read(buffer);
    metric_lines_.Feed(bytes, [this](auto line) { RecordLine(line); });
    more |= waiting > static_cast<int64_t>(bytes.size()) && !bytes.empty();
  }
  const int64_t waiting = checkpoints_file_.Waiting();
  if (waiting > 0) {
    const std::string_view bytes = checkpoints_file_.Read(buffer);
    checkpoint_lines_.Feed(bytes, [this](auto line) { RecordLine(line); });
    if (waiting > static_cast<int64_t>(bytes.size()) && !bytes.empty()) return true;
  }
  ReleaseCheckpoints();
  return more;
}

void Follower::ReadRest(std::string& buffer) {
  if (log_.Waiting() > kMostAtEnd) log_.SkipTo(kBacklogKept);
  while (Read(buffer)) {
  }
  terminal_.Close();
}

void Follower::LogLine(std::string_view line) {
  const std::optional<ProgressReading> reading = ReadProgress(line);
  if (reading && reading->side) return;
  if (!reading && metrics_from_helper_) return;
  const std::vector<Metric> metrics = ReadMetrics(line, reading.has_value());
  if (reading) progress_.See(*reading, !metrics.empty());
  // What the helper reports by name needs no guess from what is printed.
  if (metrics_from_helper_) return;
  for (const auto& [name, value] : metrics) SetMetric(name, value);
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
  if (record.progress) progress_.SeeHelper(std::move(*record.progress));
  if (record.checkpoint) early_.push_back(std::move(*record.checkpoint));
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
  if (!news) return std::nullopt;
  return seen;
}

}  // namespace ty
