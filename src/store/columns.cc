#include "store/columns.h"

#include <bit>
#include <boost/json.hpp>
#include <charconv>
#include <cstring>
#include <utility>

#include "msg/store.h"

namespace ty::columns {
namespace {

// Evidence lines and tags are whatever bytes a script printed or a person typed.
boost::json::parse_options Lenient() {
  boost::json::parse_options options;
  options.allow_invalid_utf8 = true;
  options.max_depth = 64;
  return options;
}

Result<boost::json::value> Parse(std::string_view text) {
  boost::json::error_code error;
  boost::json::value json = boost::json::parse(text, error, {}, Lenient());
  if (error)
    return Fail(Code::kInternal, msg::StoreRefused{.what = "a stored text is not JSON: " + error.message()});
  return json;
}

// Calls `take` with each piece between commas.
template <class Take>
void ForEachPiece(std::string_view text, Take take) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    take(text.substr(0, comma));
    if (comma == std::string_view::npos) return;
    text.remove_prefix(comma + 1);
  }
}

int64_t Number(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

constexpr std::pair<Dependency::On, std::string_view> kOnNames[] = {
    {Dependency::On::kOk, "ok"}, {Dependency::On::kFail, "fail"}, {Dependency::On::kAny, "any"}};

void AppendSized(std::string& out, std::string_view bytes) {
  const uint32_t size = static_cast<uint32_t>(bytes.size());
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(size >> shift));
  out.append(bytes);
}

std::optional<std::string_view> TakeSized(std::string_view& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  uint32_t size = 0;
  for (int i = 0; i < 4; ++i) size |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  bytes.remove_prefix(4);
  if (bytes.size() < size) return std::nullopt;
  const std::string_view taken = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return taken;
}

}  // namespace

std::string FromCounts(const DeviceCounts& counts) {
  std::string text;
  for (const int count : counts.counts) {
    if (!text.empty()) text += ',';
    text += std::to_string(count);
  }
  return text;
}

DeviceCounts ToCounts(std::string_view text) {
  DeviceCounts counts;
  ForEachPiece(text,
               [&](std::string_view piece) { counts.counts.push_back(static_cast<int>(Number(piece))); });
  return counts;
}

std::string FromDependencies(const std::vector<Dependency>& after) {
  std::string text;
  for (const Dependency& dependency : after) {
    if (!text.empty()) text += ',';
    text += std::to_string(dependency.task.value);
    for (const auto& [on, name] : kOnNames)
      if (on == dependency.on) text.append(" ").append(name);
  }
  return text;
}

std::vector<Dependency> ToDependencies(std::string_view text) {
  std::vector<Dependency> after;
  ForEachPiece(text, [&](std::string_view piece) {
    const size_t space = piece.find(' ');
    Dependency dependency{.task = TaskId{Number(piece.substr(0, space))}};
    for (const auto& [on, name] : kOnNames)
      if (space != std::string_view::npos && piece.substr(space + 1) == name) dependency.on = on;
    after.push_back(dependency);
  });
  return after;
}

std::string FromList(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  boost::json::array list;
  for (const std::string& word : words) list.emplace_back(word);
  return boost::json::serialize(list);
}

Result<std::vector<std::string>> ToList(std::string_view text) {
  std::vector<std::string> words;
  if (text.empty()) return words;
  const Result<boost::json::value> json = Parse(text);
  if (!json) return Forward(json.error());
  if (const auto* list = json->if_array())
    for (const boost::json::value& word : *list)
      if (const auto* string = word.if_string()) words.emplace_back(string->data(), string->size());
  return words;
}

std::string FromWish(const Task& task) {
  const DeviceWish& wish = task.wish;
  const Share usual;
  if (!task.alone && wish == DeviceWish{}) return {};
  boost::json::object told;
  if (wish.share != usual)
    told["share"] = boost::json::object{
        {"milli", wish.share.milli}, {"mode", Name(wish.share.mode)}, {"slice", wish.share.slice.count()}};
  if (wish.memory != 0) told["memory"] = wish.memory;
  if (wish.exclusive) told["exclusive"] = true;
  if (wish.ranks) told["ranks"] = true;
  if (task.alone) told["alone"] = true;
  return boost::json::serialize(told);
}

Status ToWish(std::string_view text, Task& task) {
  if (text.empty()) return {};
  const Result<boost::json::value> json = Parse(text);
  if (!json) return Forward(json.error());
  const auto* told = json->if_object();
  if (told == nullptr) return {};
  const auto number = [](const boost::json::object& object, const char* key, int64_t otherwise) {
    const boost::json::value* value = object.if_contains(key);
    const int64_t* whole = value == nullptr ? nullptr : value->if_int64();
    return whole == nullptr ? otherwise : *whole;
  };
  const auto flag = [told](const char* key) {
    const boost::json::value* value = told->if_contains(key);
    const bool* said = value == nullptr ? nullptr : value->if_bool();
    return said != nullptr && *said;
  };
  if (const boost::json::value* value = told->if_contains("share"); value != nullptr && value->is_object()) {
    const boost::json::object& share = value->get_object();
    const boost::json::value* name = share.if_contains("mode");
    const auto mode =
        name != nullptr && name->is_string() ? ParseShareMode(name->get_string()) : std::nullopt;
    if (!mode)
      return Fail(Code::kInternal, msg::StoreRefused{.what = "a stored share is of an unknown mode"});
    task.wish.share = {.milli = static_cast<int>(number(share, "milli", kWholeDevice)),
                       .mode = *mode,
                       .slice = Duration(number(share, "slice", Share().slice.count()))};
  }
  task.wish.memory = number(*told, "memory", 0);
  task.wish.exclusive = flag("exclusive");
  task.wish.ranks = flag("ranks");
  task.alone = flag("alone");
  return {};
}

std::string FromSeen(const Attempt& attempt) {
  if (!attempt.progress && attempt.metrics.empty() && attempt.changed_code.empty() &&
      attempt.processes == 1 && attempt.ranks.empty() && attempt.rule.empty())
    return {};
  boost::json::object seen;
  if (const auto& progress = attempt.progress) {
    boost::json::object told{{"done", progress->done}, {"unit", progress->unit}, {"phase", progress->phase}};
    if (progress->total) told["total"] = *progress->total;
    seen["progress"] = std::move(told);
  }
  boost::json::array metrics;
  // Bits, not digits: NaN and infinities are data, and JSON has no word for them.
  for (const auto& [tag, value] : attempt.metrics)
    metrics.push_back(boost::json::array{tag, std::bit_cast<int64_t>(value)});
  if (!metrics.empty()) seen["metrics"] = std::move(metrics);
  boost::json::array files;
  for (const std::string& file : attempt.changed_code) files.push_back(WordToJson(file));
  if (!files.empty()) seen["changed_code"] = std::move(files);
  if (attempt.processes != 1) seen["processes"] = attempt.processes;
  // Exit code and signal of each, in the order of their numbers.
  boost::json::array ranks;
  for (const RankEnd& rank : attempt.ranks) {
    boost::json::array end;
    for (const std::optional<int>& part : {rank.exit_code, rank.signal})
      end.push_back(part ? boost::json::value(*part) : boost::json::value(nullptr));
    ranks.push_back(std::move(end));
  }
  if (!ranks.empty()) seen["ranks"] = std::move(ranks);
  if (!attempt.rule.empty()) seen["rule"] = ToJson(attempt.rule);
  return boost::json::serialize(seen);
}

Status ToSeen(std::string_view text, Attempt& attempt) {
  if (text.empty()) return {};
  const Result<boost::json::value> json = Parse(text);
  if (!json) return Forward(json.error());
  const auto* seen = json->if_object();
  if (seen == nullptr) return {};
  auto number = [](const boost::json::value* value) {
    return value != nullptr && value->is_number() ? std::optional(value->to_number<double>()) : std::nullopt;
  };
  auto word = [](const boost::json::value* value) {
    const auto* string = value == nullptr ? nullptr : value->if_string();
    return string == nullptr ? std::string() : std::string(string->data(), string->size());
  };
  const boost::json::value* progress = seen->if_contains("progress");
  if (const auto* told = progress == nullptr ? nullptr : progress->if_object()) {
    attempt.progress =
        Progress{number(told->if_contains("done")).value_or(0), number(told->if_contains("total")),
                 word(told->if_contains("unit")), word(told->if_contains("phase"))};
  }
  const boost::json::value* metrics = seen->if_contains("metrics");
  if (const auto* list = metrics == nullptr ? nullptr : metrics->if_array()) {
    for (const boost::json::value& metric : *list) {
      const auto* pair = metric.if_array();
      if (pair == nullptr || pair->size() != 2 || !(*pair)[1].is_int64()) continue;
      attempt.metrics.emplace_back(word(&(*pair)[0]), std::bit_cast<double>((*pair)[1].get_int64()));
    }
  }
  const boost::json::value* files = seen->if_contains("changed_code");
  if (const auto* list = files == nullptr ? nullptr : files->if_array()) {
    for (const boost::json::value& file : *list)
      if (Result<std::string> name = WordFromJson(file, "")) attempt.changed_code.push_back(std::move(*name));
  }
  auto whole = [](const boost::json::value* value) {
    const int64_t* told = value == nullptr ? nullptr : value->if_int64();
    return told == nullptr ? std::nullopt : std::optional(static_cast<int>(*told));
  };
  attempt.processes = whole(seen->if_contains("processes")).value_or(1);
  const boost::json::value* ranks = seen->if_contains("ranks");
  if (const auto* list = ranks == nullptr ? nullptr : ranks->if_array()) {
    for (const boost::json::value& rank : *list) {
      const auto* end = rank.if_array();
      const bool told = end != nullptr && end->size() == 2;
      attempt.ranks.push_back(told ? RankEnd{whole(&(*end)[0]), whole(&(*end)[1])} : RankEnd{});
    }
  }
  if (const boost::json::value* rule = seen->if_contains("rule")) {
    if (Result<Message> message = ParseMessage(*rule)) attempt.rule = std::move(*message);
  }
  return {};
}

std::string FromMessage(const Message& message) {
  return boost::json::serialize(ToJson(message));
}

Result<Message> ToMessage(std::string_view text) {
  const Result<boost::json::value> json = Parse(text);
  if (!json) return Forward(json.error());
  return ParseMessage(*json);
}

std::string FromOutcome(const Outcome& outcome) {
  return boost::json::serialize(ToJson(outcome));
}

Result<Outcome> ToOutcome(std::string_view text) {
  const Result<boost::json::value> json = Parse(text);
  if (!json) return Forward(json.error());
  return ParseOutcome(*json);
}

std::string FromVariables(const Variables& variables) {
  size_t size = 0;
  for (const auto& [name, value] : variables) size += name.size() + value.size() + 8;
  std::string bytes;
  bytes.reserve(size);
  for (const auto& [name, value] : variables) {
    AppendSized(bytes, name);
    AppendSized(bytes, value);
  }
  return bytes;
}

Result<Variables> ToVariables(std::string_view bytes) {
  Variables variables;
  while (!bytes.empty()) {
    const auto name = TakeSized(bytes);
    const auto value = name ? TakeSized(bytes) : std::nullopt;
    if (!value) return Fail(Code::kInternal, msg::StoreRefused{.what = "a stored environment is cut short"});
    variables.emplace_back(*name, *value);
  }
  return variables;
}

std::string FromSpec(TaskSpec& spec) {
  Variables environment = std::exchange(spec.environment, {});
  std::string text = boost::json::serialize(ToJson(spec, /*secrets=*/true));
  spec.environment = std::move(environment);
  return text;
}

Result<TaskSpec> ToSpec(std::string_view text) {
  const Result<boost::json::value> json = Parse(text);
  if (!json) return Forward(json.error());
  return ParseTaskSpec(*json);
}

std::string_view Name(RetryPolicy::On on) {
  return on == RetryPolicy::On::kAny ? "any" : "table";
}

RetryPolicy::On ToRetryOn(std::string_view name) {
  return name == "any" ? RetryPolicy::On::kAny : RetryPolicy::On::kTable;
}

int64_t Hash(std::string_view bytes) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a; a match is compared byte for byte afterwards
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return static_cast<int64_t>(hash);
}

}  // namespace ty::columns
