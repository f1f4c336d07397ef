#include "model/outcome.h"

#include <boost/json.hpp>
#include <cmath>
#include <string_view>

#include "base/text.h"
#include "msg/record.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr std::string_view kKinds[] = {"succeeded", "failed", "cancelled", "timeout", "preempted", "lost"};
constexpr std::string_view kClasses[] = {"",
                                         "exec_failed",
                                         "device_oom",
                                         "host_oom",
                                         "divergence",
                                         "import_error",
                                         "bad_argument",
                                         "file_missing",
                                         "disk_full",
                                         "cuda_fault",
                                         "nccl",
                                         "hang",
                                         "killed_from_outside",
                                         "data_loading",
                                         "dependency",
                                         "script"};
static_assert(std::size(kKinds) == static_cast<size_t>(OutcomeKind::kLost) + 1);
static_assert(std::size(kClasses) == static_cast<size_t>(FailureClass::kScript) + 1);

template <class Enum, size_t N>
std::optional<Enum> Find(const std::string_view (&names)[N], std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

// Lines of logs may hold any bytes; JSON holds text.
json::string TextToJson(std::string_view text) {
  return IsUtf8(text) ? json::string(text) : json::string(Printable(text));
}

json::value NumberToJson(std::optional<int> number) {
  return number ? json::value(*number) : json::value(nullptr);
}

json::value ArgumentToJson(const Message::Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return TextToJson(*text);
  double real = std::get<double>(value);
  if (std::isfinite(real)) return real;
  return std::isnan(real) ? "NaN" : real > 0 ? "Infinity" : "-Infinity";
}

tl::unexpected<Error> Damaged(const char* what) {
  return Fail(Code::kInternal, msg::RecordDamaged{.what = what});
}

std::optional<Message::Value> ArgumentFromJson(const json::value& value) {
  if (const int64_t* number = value.if_int64()) return *number;
  if (const double* number = value.if_double()) return *number;
  if (const json::string* text = value.if_string()) return std::string(*text);
  return std::nullopt;
}

// Absent and null both mean: there is none.
const json::value* Member(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value && !value->is_null() ? value : nullptr;
}

bool ReadNumber(const json::object& object, std::string_view key, std::optional<int>& number) {
  const json::value* value = Member(object, key);
  if (!value) return true;
  const int64_t* whole = value->if_int64();
  if (!whole || *whole < INT32_MIN || *whole > INT32_MAX) return false;
  number = static_cast<int>(*whole);
  return true;
}

std::optional<std::string> ReadText(const json::object& object, std::string_view key) {
  const json::value* value = Member(object, key);
  if (!value) return std::string();
  const json::string* text = value->if_string();
  if (!text) return std::nullopt;
  return std::string(*text);
}

}  // namespace

std::string_view Name(OutcomeKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}
std::string_view Name(FailureClass failure) {
  return kClasses[static_cast<size_t>(failure)];
}
std::optional<OutcomeKind> ParseOutcomeKind(std::string_view name) {
  return Find<OutcomeKind>(kKinds, name);
}
std::optional<FailureClass> ParseFailureClass(std::string_view name) {
  return Find<FailureClass>(kClasses, name);
}

int ExitCodeOf(const Outcome& outcome) {
  constexpr int kOurTrouble = 125;
  switch (outcome.kind) {
    case OutcomeKind::kSucceeded:
      return 0;
    case OutcomeKind::kCancelled:
      return 130;
    case OutcomeKind::kTimeout:
      return 124;
    case OutcomeKind::kPreempted:
    case OutcomeKind::kLost:
      return kOurTrouble;
    case OutcomeKind::kFailed:
      break;
  }
  if (outcome.signal) return 128 + *outcome.signal;
  if (!outcome.exit_code) return kOurTrouble;  // nothing of the task's own ran to its end
  return *outcome.exit_code == 0 ? 1 : *outcome.exit_code;
}

json::value ToJson(const Message& message) {
  if (message.empty()) return nullptr;
  json::object args;
  args.reserve(message.args.size());
  for (const auto& [name, value] : message.args) args[name] = ArgumentToJson(value);
  return json::object{{"id", message.id}, {"args", std::move(args)}};
}

Result<Message> ParseMessage(const json::value& value) {
  if (value.is_null()) return Message{};
  const json::object* object = value.if_object();
  if (!object) return Damaged("message");
  Message message;
  std::optional<std::string> id = ReadText(*object, "id");
  if (!id || id->empty()) return Damaged("message");
  message.id = std::move(*id);
  const json::value* args = Member(*object, "args");
  if (!args) return message;
  if (!args->is_object()) return Damaged("message");
  for (const auto& [name, argument] : args->get_object()) {
    std::optional<Message::Value> read = ArgumentFromJson(argument);
    if (!read) return Damaged("message");
    message.args.emplace_back(std::string(name), std::move(*read));
  }
  return message;
}

json::value ToJson(const Outcome& outcome) {
  json::value failure;  // null for none
  if (outcome.failure != FailureClass::kNone) failure = Name(outcome.failure);
  json::object object{{"kind", Name(outcome.kind)},
                      {"class", std::move(failure)},
                      {"exit_code", NumberToJson(outcome.exit_code)},
                      {"signal", NumberToJson(outcome.signal)},
                      {"reason", ToJson(outcome.reason)},
                      {"evidence", TextToJson(outcome.evidence)}};
  if (outcome.failed_rank) object["failed_rank"] = *outcome.failed_rank;
  if (outcome.core_dumped) object["core_file"] = TextToJson(outcome.core_file);
  return object;
}

Result<Outcome> ParseOutcome(const json::value& value) {
  const json::object* object = value.if_object();
  if (!object) return Damaged("outcome");
  std::optional<std::string> kind = ReadText(*object, "kind"), failure = ReadText(*object, "class"),
                             evidence = ReadText(*object, "evidence"), core = ReadText(*object, "core_file");
  if (!kind || !failure || !evidence || !core) return Damaged("outcome");
  std::optional<OutcomeKind> known_kind = ParseOutcomeKind(*kind);
  std::optional<FailureClass> known_class = ParseFailureClass(*failure);
  Outcome outcome;
  if (!known_kind || !known_class || !ReadNumber(*object, "exit_code", outcome.exit_code) ||
      !ReadNumber(*object, "signal", outcome.signal) ||
      !ReadNumber(*object, "failed_rank", outcome.failed_rank))
    return Damaged("outcome");
  const json::value* reason = Member(*object, "reason");
  Result<Message> message = reason ? ParseMessage(*reason) : Message{};
  if (!message) return Forward(message.error());
  outcome.kind = *known_kind;
  outcome.failure = *known_class;
  outcome.reason = std::move(*message);
  outcome.evidence = std::move(*evidence);
  outcome.core_dumped = Member(*object, "core_file") != nullptr;
  outcome.core_file = std::move(*core);
  return outcome;
}

}  // namespace ty
