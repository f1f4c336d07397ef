#include "ingest/record_lines.h"

#include <boost/json.hpp>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace ty {

namespace {

namespace json = boost::json;

constexpr size_t kLongestName = 200;
constexpr size_t kLongestPath = 4096;

std::optional<double> Number(const json::value& value) {
  if (value.is_double()) return value.get_double();
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  if (value.is_bool()) return value.get_bool() ? 1 : 0;
  if (!value.is_string()) return std::nullopt;
  const json::string& text = value.get_string();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<double> Finite(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  const std::optional<double> number = Number(*value);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<double> Amount(const json::value* value) {
  const std::optional<double> number = Finite(value);
  return number && *number >= 0 ? number : std::nullopt;
}

std::string Text(const json::object& object, std::string_view key, size_t longest) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return {};
  std::string_view text = value->get_string();
  return text.size() > longest ? std::string() : std::string(text);
}

std::optional<Progress> ReadProgressOf(const json::value& value) {
  const json::object* object = value.if_object();
  if (object == nullptr) return std::nullopt;
  const std::optional<double> done = Amount(object->if_contains("done"));
  if (!done) return std::nullopt;
  Progress progress;
  progress.done = *done;
  progress.total = Amount(object->if_contains("total"));
  progress.unit = Text(*object, "unit", kLongestName);
  progress.phase = Text(*object, "phase", kLongestName);
  if (progress.unit.empty()) progress.unit = "step";
  if (progress.phase.empty()) progress.phase = "training";
  return progress;
}

std::optional<Checkpoint> ReadCheckpoint(const json::object& object, int attempt) {
  Checkpoint checkpoint;
  checkpoint.path = Text(object, "path", kLongestPath);
  if (checkpoint.path.empty() || checkpoint.path[0] != '/') return std::nullopt;
  checkpoint.step = static_cast<int64_t>(std::min(Amount(object.if_contains("step")).value_or(0), 9e15));
  checkpoint.bytes = static_cast<int64_t>(std::min(Amount(object.if_contains("bytes")).value_or(0), 9e18));
  checkpoint.attempt = attempt;
  return checkpoint;
}

// Most lines begin with the attempt; those of others need not be parsed.
bool IsPlainlyOther(std::string_view line, int attempt) {
  constexpr std::string_view kStart = R"({"attempt":)";
  if (line.substr(0, kStart.size()) != kStart) return false;
  const std::string_view rest = line.substr(kStart.size());
  const std::optional<int64_t> number = ParseInt(rest.substr(0, rest.find(',')));
  return number && *number != attempt;
}

}  // namespace

void LineCutter::Feed(std::string_view bytes,
                      const std::function<void(std::optional<std::string_view>)>& line) {
  behind_ = 0;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (!too_long_ && started_.size() + piece.size() > kLongest) {
      too_long_ = true;
      started_ = {};
    }
    if (end == std::string_view::npos) {
      if (!too_long_) started_ += piece;
      return;
    }
    behind_ += end + 1;
    if (too_long_) {
      line(std::nullopt);
    } else if (started_.empty()) {
      line(piece);
    } else {
      started_ += piece;
      line(started_);
      started_.clear();
    }
    too_long_ = false;
    bytes.remove_prefix(end + 1);
  }
}

ReadRecordResult ReadRecord(std::string_view line, int attempt, Record& record) {
  record = {};
  if (IsPlainlyOther(line, attempt)) return ReadRecordResult::kOtherAttempt;
  json::error_code error;
  const json::value value = json::parse(json::string_view(line.data(), line.size()), error);
  if (error || !value.is_object()) return ReadRecordResult::kUnreadable;
  const json::object& object = value.get_object();
  const json::value* number = object.if_contains("attempt");
  if (number == nullptr || !number->is_int64()) return ReadRecordResult::kUnreadable;
  if (number->get_int64() != attempt) return ReadRecordResult::kOtherAttempt;
  bool understood = false;
  record.step = Finite(object.if_contains("step"));
  record.time = Finite(object.if_contains("time"));
  if (const json::value* metrics = object.if_contains("metrics");
      metrics != nullptr && metrics->is_object()) {
    understood = true;
    for (const auto& [name, one] : metrics->get_object()) {
      const std::optional<double> found = Number(one);
      if (found && !name.empty() && name.size() <= kLongestName)
        record.metrics.emplace_back(std::string(name), *found);
    }
  }
  if (const json::value* progress = object.if_contains("progress")) {
    record.progress = ReadProgressOf(*progress);
    understood |= record.progress.has_value();
  }
  if (object.if_contains("path") != nullptr) {
    record.checkpoint = ReadCheckpoint(object, attempt);
    understood |= record.checkpoint.has_value();
  }
  return understood ? ReadRecordResult::kRead : ReadRecordResult::kUnreadable;
}

}  // namespace ty
