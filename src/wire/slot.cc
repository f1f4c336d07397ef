#include "wire/slot.h"

#include <array>

#include "base/assert.h"
#include "wire/crc32c.h"

namespace ty::wire {

namespace {

constexpr size_t kCrcAt = kSlotHalf - 9;
constexpr std::array<std::string_view, 3> kStates = {"running", "exited", "lost"};
constexpr std::array<std::string_view, 4> kStoppers = {"nobody", "order", "time_limit", "idle_limit"};

template <class Enum, size_t N>
bool FromName(const std::array<std::string_view, N>& names, std::string_view name, Enum& to) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] != name) continue;
    to = static_cast<Enum>(i);
    return true;
  }
  return false;
}

// Compact, as a half has little room. Numbers and distances of the start times: [4244,1,4245,3].
JsonArray OthersToJson(const SlotRecord& record) {
  JsonArray array;
  for (const RankProcess& other : record.others) {
    array.emplace_back(other.pid);
    array.emplace_back(other.start - record.start);
  }
  return array;
}

bool OthersFrom(const Json& json, SlotRecord& record) {
  const Json* member = json.Find("others");
  if (member == nullptr) return true;
  const JsonArray* array = member->AsArray();
  if (array == nullptr || array->size() % 2 != 0) return false;
  for (size_t i = 0; i < array->size(); i += 2) {
    const int64_t *pid = (*array)[i].AsInt(), *distance = (*array)[i + 1].AsInt();
    if (pid == nullptr || distance == nullptr) return false;
    record.others.push_back({*pid, record.start + *distance});
  }
  return true;
}

// An exit code as it is, a signal as its negative, null for one that never started: [0,-15,null].
JsonArray EndsToJson(const std::vector<RankEnd>& ends) {
  JsonArray array;
  for (const RankEnd& end : ends) {
    if (end.signal) {
      array.emplace_back(-*end.signal);
    } else if (end.exit_code) {
      array.emplace_back(*end.exit_code);
    } else {
      array.emplace_back();
    }
  }
  return array;
}

bool EndsFrom(const Json& json, std::vector<RankEnd>& ends) {
  const Json* member = json.Find("ranks");
  if (member == nullptr) return true;
  const JsonArray* array = member->AsArray();
  if (array == nullptr) return false;
  for (const Json& item : *array) {
    RankEnd& end = ends.emplace_back();
    if (std::holds_alternative<std::nullptr_t>(item.value)) continue;
    const int64_t* number = item.AsInt();
    if (number == nullptr || *number < -1000 || *number > 1000) return false;
    (*number < 0 ? end.signal : end.exit_code) = static_cast<int>(*number < 0 ? -*number : *number);
  }
  return true;
}

}  // namespace

Json ToJson(const SlotRecord& record) {
  JsonObject json;
  json.emplace_back("format", kSlotFormat);
  json.emplace_back("seq", record.sequence);
  json.emplace_back("attempt", record.attempt);
  json.emplace_back("state", kStates[static_cast<size_t>(record.state)]);
  json.emplace_back("pid", record.pid);
  json.emplace_back("start", record.start);
  json.emplace_back("began_ns", record.began_ns);
  if (record.state != SlotState::kExited) {
    if (!record.others.empty()) json.emplace_back("others", OthersToJson(record));
    return json;
  }
  json.emplace_back("ended_ns", record.ended_ns);
  if (record.exit_code) json.emplace_back("exit_code", *record.exit_code);
  if (record.signal) json.emplace_back("signal", *record.signal);
  if (record.core_dumped) json.emplace_back("core_dumped", true);
  if (!record.core_file.empty()) json.emplace_back("core_file", record.core_file);
  if (record.exec_errno != 0) {
    json.emplace_back("exec_errno", record.exec_errno);
    json.emplace_back("exec_step", record.exec_step);
  }
  json.emplace_back("stopped_by", kStoppers[static_cast<size_t>(record.stopped_by)]);
  if (record.killed) json.emplace_back("killed", true);
  json.emplace_back("oom_kills", record.oom_kills);
  if (record.oom_kills_nearby != 0) json.emplace_back("oom_kills_nearby", record.oom_kills_nearby);
  if (record.oom_counted) json.emplace_back("oom_counted", true);
  json.emplace_back("cpu_ms", record.cpu_ms);
  if (!record.ranks.empty()) json.emplace_back("ranks", EndsToJson(record.ranks));
  if (record.failed_rank) json.emplace_back("failed_rank", *record.failed_rank);
  return json;
}

std::optional<SlotRecord> SlotRecordFrom(const Json& json) {
  SlotRecord record;
  int64_t format = 0;
  std::string state, stopper = "nobody";
  Fields fields(json);
  fields.Need("format", format)
      .Need("seq", record.sequence)
      .Need("attempt", record.attempt)
      .Need("state", state);
  fields.May("pid", record.pid).May("start", record.start).May("began_ns", record.began_ns);
  fields.May("ended_ns", record.ended_ns).May("exit_code", record.exit_code).May("signal", record.signal);
  fields.May("core_dumped", record.core_dumped).May("exec_errno", record.exec_errno);
  fields.May("exec_step", record.exec_step).May("stopped_by", stopper).May("killed", record.killed);
  fields.May("oom_kills", record.oom_kills).May("cpu_ms", record.cpu_ms);
  fields.May("oom_kills_nearby", record.oom_kills_nearby).May("oom_counted", record.oom_counted);
  fields.May("core_file", record.core_file);
  fields.May("failed_rank", record.failed_rank);
  if (!fields.ok() || format != kSlotFormat) return std::nullopt;
  if (!FromName(kStates, state, record.state) || !FromName(kStoppers, stopper, record.stopped_by)) {
    return std::nullopt;
  }
  if (!OthersFrom(json, record) || !EndsFrom(json, record.ranks)) return std::nullopt;
  return record;
}

std::string EncodeSlotHalf(const SlotRecord& record) {
  std::string half = Write(ToJson(record));
  TY_ASSERT(half.size() <= kCrcAt);
  half.resize(kCrcAt, ' ');
  half += Crc32cText(half);
  half += '\n';
  return half;
}

std::optional<SlotRecord> DecodeSlotHalf(std::string_view half) {
  if (half.size() != kSlotHalf || half.back() != '\n') return std::nullopt;
  const std::string_view body = half.substr(0, kCrcAt);
  if (half.substr(kCrcAt, 8) != Crc32cText(body)) return std::nullopt;
  const std::optional<Json> json = Parse(body);
  if (!json) return std::nullopt;
  return SlotRecordFrom(*json);
}

SlotReading ReadSlot(std::string_view content) {
  SlotReading reading;
  reading.damaged = content.size() != kSlotSize;
  for (size_t at = 0; at + kSlotHalf <= content.size() && at < kSlotSize; at += kSlotHalf) {
    const std::string_view half = content.substr(at, kSlotHalf);
    std::optional<SlotRecord> record = DecodeSlotHalf(half);
    if (!record) {
      reading.damaged = reading.damaged || half.find_first_not_of('\0') != std::string_view::npos;
    } else if (!reading.newest || record->sequence > reading.newest->sequence) {
      reading.newest = std::move(record);
    }
  }
  return reading;
}

}  // namespace ty::wire
