#include "http/render.h"

#include <boost/json.hpp>
#include <cmath>

#include "base/paths.h"
#include "base/text.h"

namespace ty {

namespace json = boost::json;

namespace {

json::string Text(std::string_view bytes) {
  return ToJsonText(bytes);
}

json::value TimeOrNull(const std::optional<Time>& time) {
  return time ? json::value(FormatIso(*time)) : json::value(nullptr);
}

json::value Number(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

json::value NumberOrNull(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? json::value(*number) : json::value(nullptr);
}

template <class T>
json::value OrNull(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::array Strings(const std::vector<std::string>& words) {
  json::array array;
  array.reserve(words.size());
  for (const std::string& word : words) array.emplace_back(Text(word));
  return array;
}

json::value RenderProgress(const std::optional<Progress>& progress) {
  if (!progress) return nullptr;
  std::optional<double> fraction;
  if (progress->total && *progress->total > 0)
    fraction = std::min(1.0, std::max(0.0, progress->done / *progress->total));
  return json::object{{"done", std::isfinite(progress->done) ? progress->done : 0.0},
                      {"total", NumberOrNull(progress->total)},
                      {"fraction", NumberOrNull(fraction)},
                      {"unit", Text(progress->unit)},
                      {"phase", Text(progress->phase)}};
}

json::object RenderAttempt(const Attempt& attempt, const std::string& home, Language language) {
  return {{"number", attempt.number},
          {"uid", attempt.uid.Text()},
          {"devices", Strings(attempt.devices)},
          {"state", Name(attempt.state)},
          {"resume", attempt.resume.empty() ? json::value(nullptr) : WordToJson(attempt.resume)},
          {"started_at", TimeOrNull(attempt.started)},
          {"ended_at", TimeOrNull(attempt.ended)},
          {"outcome", RenderOutcome(attempt.outcome, language)},
          {"log_path", Text(AttemptPaths{StatePaths{home}.Attempt(attempt.uid)}.Log())}};
}

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInvalid:
      return "invalid";
    case Code::kNotFound:
      return "not_found";
    case Code::kConflict:
      return "conflict";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kInternal:
      break;
  }
  return "internal";
}

}  // namespace

json::string ToJsonText(std::string_view bytes) {
  return json::string(IsUtf8(bytes) ? std::string(bytes) : Printable(bytes));
}

int StatusOf(Code code) {
  switch (code) {
    case Code::kInvalid:
      return 422;
    case Code::kNotFound:
      return 404;
    case Code::kConflict:
      return 409;
    case Code::kUnavailable:
      return 503;
    case Code::kInternal:
      break;
  }
  return 500;
}

std::string_view StatusText(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

json::value RenderMessage(const Message& message, Language language) {
  if (message.empty()) return nullptr;
  json::object args;
  for (const auto& [name, value] : message.args) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      args[name] = Text(*text);
    } else if (const auto* number = std::get_if<int64_t>(&value)) {
      args[name] = *number;
    } else {
      args[name] = Number(std::get<double>(value));
    }
  }
  return json::object{
      {"id", message.id}, {"args", std::move(args)}, {"text", Text(Render(message, language))}};
}

json::object RenderProblem(int status, const Error& error, Language language) {
  json::value message = RenderMessage(error.message, language);
  json::object problem{{"type", "about:blank"},
                       {"title", StatusText(status)},
                       {"status", status},
                       {"detail", message.is_null() ? json::string("") : message.at("text").as_string()},
                       {"code", CodeName(error.code)},
                       {"message", std::move(message)}};
  if (!error.field.empty()) problem["field"] = Text(error.field);
  return problem;
}

Response ProblemResponse(int status, const Error& error, Language language) {
  Response response;
  response.status = status;
  response.type = "application/problem+json";
  response.body = json::serialize(RenderProblem(status, error, language));
  return response;
}

json::value RenderOutcome(const std::optional<Outcome>& outcome, Language language) {
  if (!outcome) return nullptr;
  return json::object{{"kind", Name(outcome->kind)},
                      {"class", Name(outcome->failure)},
                      {"exit_code", OrNull(outcome->exit_code)},
                      {"signal", OrNull(outcome->signal)},
                      {"reason", RenderMessage(outcome->reason, language)},
                      {"evidence", Text(outcome->evidence)}};
}

json::object RenderTask(const TaskView& view, Language language) {
  const Task& task = view.task;
  json::object metrics;
  for (const auto& [name, value] : view.metrics) metrics[Text(name)] = Number(value);
  std::optional<double> left;
  if (view.time_left) left = std::chrono::duration<double>(*view.time_left).count();
  std::optional<int> attempt;
  if (task.attempts > 0) attempt = task.attempts;
  return {{"id", task.id.value},
          {"uid", task.uid.Text()},
          {"name", Text(task.name)},
          {"state", Name(task.state)},
          {"held", task.held},
          {"priority", task.priority},
          {"submitted_at", FormatIso(task.submitted)},
          {"started_at", TimeOrNull(view.attempt ? view.attempt->started : std::nullopt)},
          {"ended_at", TimeOrNull(task.ended)},
          {"devices", Strings(view.attempt ? view.attempt->devices : std::vector<std::string>{})},
          {"attempt", OrNull(attempt)},
          {"progress", RenderProgress(view.progress)},
          {"time_left_s", NumberOrNull(left)},
          {"metrics", std::move(metrics)},
          {"reason", RenderMessage(view.reason, language)},
          // Of a task that waits for its retry the row keeps the outcome before; its attempts tell that.
          {"outcome", RenderOutcome(IsEnded(task) ? task.outcome : std::nullopt, language)},
          {"tags", Strings(task.tags)}};
}

void TakeLast(const std::optional<Attempt>& attempt, TaskView& view) {
  if (!attempt) return;
  view.attempt = attempt;
  view.progress = attempt->progress;
  view.metrics = attempt->metrics;
}

json::object RenderDetail(const TaskRecord& record, const std::optional<TaskView>& view,
                          const std::string& home, Language language) {
  // The store was asked after the Yard: once it says ended, that is newer.
  const bool live = view && !IsEnded(record.task);
  std::vector<Attempt> attempts = record.attempts;
  if (live && view->attempt) {
    if (!attempts.empty() && attempts.back().number == view->attempt->number) attempts.pop_back();
    attempts.push_back(*view->attempt);
  }
  TaskView shown = live ? *view : TaskView{};
  if (!live) {
    shown.task = record.task;
    if (!attempts.empty()) TakeLast(attempts.back(), shown);
  }
  const Task& task = shown.task;
  json::object detail = RenderTask(shown, language);
  detail["retries"] = task.retries;
  detail["checkpoint"] = task.checkpoint.path.empty()
                             ? json::value(nullptr)
                             : json::value(json::object{{"path", WordToJson(task.checkpoint.path)},
                                                        {"step", task.checkpoint.step},
                                                        {"bytes", task.checkpoint.bytes},
                                                        {"attempt", task.checkpoint.attempt}});
  json::array runs;
  std::vector<std::string> changed;
  for (const Attempt& attempt : attempts) {
    runs.emplace_back(RenderAttempt(attempt, home, language));
    changed = attempt.changed_code;
  }
  detail["attempts"] = std::move(runs);
  detail["spec"] = record.spec ? json::value(ToJson(*record.spec, false)) : json::value(json::object{});
  detail["code_changed"] = Strings(changed);
  detail["out_folder"] = Text(StatePaths{home}.Out(task.id));
  detail["log_path"] =
      attempts.empty() ? json::value(nullptr)
                       : json::value(Text(AttemptPaths{StatePaths{home}.Attempt(attempts.back().uid)}.Log()));
  return detail;
}

json::object RenderReceipt(const SubmitReceipt& receipt, const std::string& home, Language language) {
  return {{"id", receipt.id.value},
          {"uid", receipt.uid.Text()},
          {"name", Text(receipt.name)},
          {"state", receipt.state},
          {"held", receipt.held},
          {"repeated", receipt.repeated},
          {"devices", Strings(receipt.devices)},
          {"summary",
           {{"devices", RenderMessage(receipt.devices_message, language)},
            {"environment", RenderMessage(receipt.environment_message, language)},
            {"starts", RenderMessage(receipt.reason, language)},
            {"retry", RenderMessage(receipt.retry_message, language)},
            {"survival", RenderMessage(receipt.survival_message, language)}}},
          {"out_folder", Text(StatePaths{home}.Out(receipt.id))}};
}

json::object RenderDevice(const DeviceView& device) {
  json::array cpus;
  for (int cpu : device.device.cpus) cpus.emplace_back(cpu);
  const bool taken = device.task.has_value();
  return {{"id", device.device.id},
          {"kind", device.device.kind == Device::Kind::kGpu ? "gpu" : "cpu"},
          {"name", Text(device.device.name)},
          {"cpus", std::move(cpus)},
          {"memory", device.device.memory},
          {"usable", device.device.usable},
          {"task", taken ? json::value(device.task->value) : json::value(nullptr)},
          {"task_name", taken ? json::value(Text(device.task_name)) : json::value(nullptr)},
          {"attempt", taken ? json::value(device.attempt) : json::value(nullptr)},
          {"since", TimeOrNull(device.since)}};
}

}  // namespace ty
