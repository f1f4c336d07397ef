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
  if (record.state != SlotState::kExited) return json;
  json.emplace_back("ended_ns", record.ended_ns);
  if (record.exit_code) json.emplace_back("exit_code", *record.exit_code);
  if (record.signal) json.emplace_back("signal", *record.signal);
  if (record.core_dumped) json.emplace_back("core_dumped", true);
  if (record.exec_errno != 0) {
    json.emplace_back("exec_errno", record.exec_errno);
    json.emplace_back("exec_step", record.exec_step);
  }
  json.emplace_back("stopped_by", kStoppers[static_cast<size_t>(record.stopped_by)]);
  if (record.killed) json.emplace_back("killed", true);
  json.emplace_back("oom_kills", record.oom_kills);
  json.emplace_back("cpu_ms", record.cpu_ms);
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
  if (!fields.ok() || format != kSlotFormat) return std::nullopt;
  if (!FromName(kStates, state, record.state) || !FromName(kStoppers, stopper, record.stopped_by)) {
    return std::nullopt;
  }
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
