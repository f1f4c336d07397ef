#include "wire/spec.h"

#include "wire/crc32c.h"
#include "wire/json.h"

namespace ty::wire {

namespace {

constexpr std::string_view kTargets[] = {"leader", "group", "all"};

Json WordsToJson(const std::vector<std::string>& words) {
  JsonArray array;
  array.reserve(words.size());
  for (const std::string& word : words) array.push_back(FromBytes(word));
  return array;
}

bool WordsFrom(const Json& json, std::string_view key, std::vector<std::string>& to) {
  const Json* member = json.Find(key);
  const JsonArray* array = member == nullptr ? nullptr : member->AsArray();
  if (array == nullptr) return false;
  to.reserve(array->size());
  for (const Json& item : *array) {
    std::optional<std::string> word = ToBytes(item);
    if (!word || word->find('\0') != std::string::npos) return false;
    to.push_back(std::move(*word));
  }
  return true;
}

bool NumbersFrom(const Json& json, std::string_view key, std::vector<int>& to) {
  const Json* member = json.Find(key);
  if (member == nullptr) return true;
  const JsonArray* array = member->AsArray();
  if (array == nullptr) return false;
  for (const Json& item : *array) {
    const int64_t* number = item.AsInt();
    if (number == nullptr || *number < 0 || *number >= 1 << 20) return false;
    to.push_back(static_cast<int>(*number));
  }
  return true;
}

JsonArray NumbersToJson(const std::vector<int>& numbers) {
  JsonArray array;
  array.reserve(numbers.size());
  for (const int number : numbers) array.emplace_back(number);
  return array;
}

bool RanksFrom(const Json& json, std::vector<ShimSpec::Rank>& to) {
  const Json* member = json.Find("ranks");
  if (member == nullptr) return true;
  const JsonArray* array = member->AsArray();
  if (array == nullptr || array->size() > kMostRanks) return false;
  for (const Json& item : *array) {
    ShimSpec::Rank& rank = to.emplace_back();
    if (!WordsFrom(item, "environment", rank.environment) || !NumbersFrom(item, "cpus", rank.cpus))
      return false;
  }
  return true;
}

}  // namespace

std::string_view Name(Target target) {
  return kTargets[static_cast<size_t>(target)];
}

std::optional<Target> ParseTarget(std::string_view name) {
  for (size_t i = 0; i < std::size(kTargets); ++i) {
    if (kTargets[i] == name) return static_cast<Target>(i);
  }
  return std::nullopt;
}

std::string EncodeSpec(const ShimSpec& spec) {
  JsonObject json;
  json.emplace_back("format", kSpecFormat);
  json.emplace_back("attempt", spec.attempt);
  json.emplace_back("task", spec.task);
  json.emplace_back("number", spec.number);
  json.emplace_back("uid", spec.uid);
  json.emplace_back("boot", spec.boot);
  json.emplace_back("argv", WordsToJson(spec.argv));
  json.emplace_back("workdir", FromBytes(spec.workdir));
  json.emplace_back("environment", WordsToJson(spec.environment));
  json.emplace_back("cpus", NumbersToJson(spec.cpus));
  if (spec.devices) json.emplace_back("devices", WordsToJson(*spec.devices));
  if (!spec.ranks.empty()) {
    JsonArray ranks;
    for (const ShimSpec::Rank& rank : spec.ranks) {
      JsonObject one;
      one.emplace_back("environment", WordsToJson(rank.environment));
      one.emplace_back("cpus", NumbersToJson(rank.cpus));
      ranks.emplace_back(std::move(one));
    }
    json.emplace_back("ranks", std::move(ranks));
  }
  json.emplace_back("umask", spec.umask);
  if (spec.time_limit_ms) json.emplace_back("time_limit_ms", *spec.time_limit_ms);
  if (spec.idle_limit_ms) json.emplace_back("idle_limit_ms", *spec.idle_limit_ms);
  if (spec.log_limit) json.emplace_back("log_limit", *spec.log_limit);
  json.emplace_back("stop_signal", spec.stop_signal);
  if (spec.stop_target != Target::kGroup) json.emplace_back("stop_target", Name(spec.stop_target));
  json.emplace_back("grace_ms", spec.grace_ms);
  if (spec.unkillable_ms != ShimSpec().unkillable_ms) json.emplace_back("unkillable_ms", spec.unkillable_ms);
  json.emplace_back("containment", spec.containment);
  json.emplace_back("cgroup", FromBytes(spec.cgroup));
  if (!spec.oom_counter.empty()) {
    json.emplace_back("oom_counter", spec.oom_counter);
    json.emplace_back("oom_kills_before", spec.oom_kills_before);
  }
  std::string text = Write(json);
  text += '\n';
  text += Crc32cText(text);
  text += '\n';
  return text;
}

std::optional<ShimSpec> DecodeSpec(std::string_view text) {
  constexpr size_t kTail = 9;  // eight digits and the newline
  if (text.size() <= kTail || text.back() != '\n') return std::nullopt;
  const std::string_view body = text.substr(0, text.size() - kTail);
  if (body.back() != '\n' || text.substr(body.size(), 8) != Crc32cText(body)) return std::nullopt;
  const std::optional<Json> json = Parse(body);
  if (!json) return std::nullopt;

  ShimSpec spec;
  int64_t format = 0;
  Fields fields(*json);
  fields.Need("format", format).Need("attempt", spec.attempt).Need("task", spec.task).Need("uid", spec.uid);
  fields.Need("boot", spec.boot).Need("workdir", spec.workdir).Need("containment", spec.containment);
  fields.May("number", spec.number).May("umask", spec.umask).May("stop_signal", spec.stop_signal);
  fields.May("time_limit_ms", spec.time_limit_ms).May("idle_limit_ms", spec.idle_limit_ms);
  fields.May("grace_ms", spec.grace_ms).May("cgroup", spec.cgroup);
  std::string target(Name(spec.stop_target));
  fields.May("log_limit", spec.log_limit).May("stop_target", target);
  fields.May("unkillable_ms", spec.unkillable_ms);
  fields.May("oom_counter", spec.oom_counter).May("oom_kills_before", spec.oom_kills_before);
  if (!fields.ok() || format != kSpecFormat) return std::nullopt;
  if (!WordsFrom(*json, "argv", spec.argv) || !WordsFrom(*json, "environment", spec.environment))
    return std::nullopt;
  if (!NumbersFrom(*json, "cpus", spec.cpus) || spec.argv.empty()) return std::nullopt;
  if (!RanksFrom(*json, spec.ranks)) return std::nullopt;
  if (json->Find("devices") != nullptr && !WordsFrom(*json, "devices", spec.devices.emplace()))
    return std::nullopt;
  spec.stop_target = ParseTarget(target).value_or(Target::kGroup);
  return spec;
}

}  // namespace ty::wire
