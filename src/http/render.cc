#include "http/render.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "base/paths.h"
#include "base/text.h"
#include "msg/store.h"

namespace ty {

namespace json = boost::json;

namespace {

json::string Text(std::string_view bytes) {
  return ToJsonText(bytes);
}

json::value TimeOrNull(const std::optional<Time>& time) {
  return time ? json::value(FormatIso(*time)) : json::value(nullptr);
}

json::value NumberOrNull(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? json::value(*number) : json::value(nullptr);
}

template <class T>
json::value OrNull(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::value TextOrNull(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(Text(text));
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

// With ranks that of the one which failed: it tells why.
std::string LogOf(const Attempt& attempt, bool ranks, const std::string& home) {
  const AttemptPaths paths{StatePaths{home}.Attempt(attempt.uid)};
  const std::optional<int> failed = attempt.outcome ? attempt.outcome->failed_rank : std::nullopt;
  return ranks ? paths.Log(failed.value_or(0)) : paths.Log();
}

json::object RenderAttempt(const Attempt& attempt, bool ranks, const std::string& home, Language language) {
  json::array ends;
  for (size_t rank = 0; rank < attempt.ranks.size(); ++rank) {
    ends.push_back(json::object{{"rank", rank},
                                {"exit_code", OrNull(attempt.ranks[rank].exit_code)},
                                {"signal", OrNull(attempt.ranks[rank].signal)}});
  }
  return {{"number", attempt.number},
          {"uid", attempt.uid.Text()},
          {"devices", Strings(attempt.devices)},
          {"state", Name(attempt.state)},
          {"resume", attempt.resume.empty() ? json::value(nullptr) : WordToJson(attempt.resume)},
          {"started_at", TimeOrNull(attempt.started)},
          {"ended_at", TimeOrNull(attempt.ended)},
          {"outcome", RenderOutcome(attempt.outcome, language)},
          {"rule", RenderMessage(attempt.rule, language)},
          {"processes", attempt.processes},
          {"ranks", std::move(ends)},
          {"log_path", Text(LogOf(attempt, ranks, home))}};
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

json::value RenderNumber(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

int StatusOf(const Error& error) {
  const std::string& id = error.message.id;
  for (const std::string_view disk :
       {msg::StoreLow::kId, msg::StoreStuck::kId, msg::StoreDiskFull::kId, msg::StoreReadOnly::kId})
    if (id == disk) return kNoRoom;
  switch (error.code) {
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
    case 304:
      return "Not Modified";
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
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case kNoRoom:
      return "Insufficient Storage";
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
      args[name] = RenderNumber(std::get<double>(value));
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

json::object RenderProblem(int status, const std::vector<Error>& errors, Language language) {
  json::object problem = RenderProblem(status, errors.front(), language);
  if (errors.size() < 2) return problem;
  json::array all;
  for (const Error& error : errors) all.push_back(RenderProblem(status, error, language));
  problem["errors"] = std::move(all);
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
                      {"failed_rank", OrNull(outcome->failed_rank)},
                      {"core_dumped", outcome->core_dumped},
                      {"core_file", outcome->core_file.empty() ? json::value() : Text(outcome->core_file)},
                      {"reason", RenderMessage(outcome->reason, language)},
                      {"evidence", Text(outcome->evidence)}};
}

json::object RenderTask(const TaskView& view, Language language) {
  const Task& task = view.task;
  json::object metrics;
  for (const auto& [name, value] : view.metrics) metrics[Text(name)] = RenderNumber(value);
  std::optional<double> left;
  if (view.time_left) left = std::chrono::duration<double>(*view.time_left).count();
  std::optional<int> attempt;
  if (task.attempts > 0) attempt = task.attempts;
  return {
      {"id", task.id.value},
      {"uid", task.uid.Text()},
      {"name", Text(task.name)},
      {"state", Name(task.state)},
      {"held", task.held},
      {"priority", task.priority},
      {"submitted_at", FormatIso(task.submitted)},
      {"started_at", TimeOrNull(view.attempt ? view.attempt->started : std::nullopt)},
      {"ended_at", TimeOrNull(task.ended)},
      {"devices", Strings(view.attempt ? view.attempt->devices : std::vector<std::string>{})},
      {"share", TextOrNull(task.wish.share.Text())},
      {"wants",
       json::object{{"devices", task.gpus.Text()}, {"cores", task.cpus}, {"gpu_memory", task.wish.memory}}},
      {"frozen", view.frozen},
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
    runs.emplace_back(RenderAttempt(attempt, task.wish.ranks, home, language));
    changed = attempt.changed_code;
  }
  detail["attempts"] = std::move(runs);
  detail["spec"] = record.spec ? json::value(ToJson(*record.spec, false)) : json::value(json::object{});
  detail["code_changed"] = Strings(changed);
  detail["out_folder"] = Text(StatePaths{home}.Out(task.id));
  detail["log_path"] = attempts.empty() ? json::value(nullptr)
                                        : json::value(Text(LogOf(attempts.back(), task.wish.ranks, home)));
  return detail;
}

namespace {

json::object RenderSummary(const SubmitReceipt& receipt, Language language) {
  return {{"devices", RenderMessage(receipt.devices_message, language)},
          {"environment", RenderMessage(receipt.environment_message, language)},
          {"starts", RenderMessage(receipt.reason, language)},
          {"retry", RenderMessage(receipt.retry_message, language)},
          {"survival", RenderMessage(receipt.survival_message, language)}};
}

}  // namespace

json::object RenderPreview(const PreviewAnswer& answer, Language language) {
  return {{"name", Text(answer.receipt.name)},
          {"starts_now", answer.starts_now},
          {"summary", RenderSummary(answer.receipt, language)}};
}

json::object RenderReceipt(const SubmitReceipt& receipt, const std::string& home, Language language) {
  return {{"id", receipt.id.value},
          {"uid", receipt.uid.Text()},
          {"name", Text(receipt.name)},
          {"state", receipt.state},
          {"held", receipt.held},
          {"repeated", receipt.repeated},
          {"devices", Strings(receipt.devices)},
          {"summary", RenderSummary(receipt, language)},
          {"out_folder", Text(StatePaths{home}.Out(receipt.id))}};
}

namespace {

std::string_view KindName(Device::Kind kind) {
  switch (kind) {
    case Device::Kind::kCpuSlot:
      return "cpu";
    case Device::Kind::kGpu:
      return "gpu";
    case Device::Kind::kMigSlice:
      return "mig";
  }
  return "";
}

// Thousandths as people write them: 0.333.
double Fraction(int milli) {
  return milli / static_cast<double>(kWholeDevice);
}

json::object RenderLease(const LeaseView& lease) {
  return {{"task", lease.task.value},
          {"task_name", Text(lease.task_name)},
          {"attempt", lease.attempt},
          {"since", FormatIso(lease.since)},
          {"share", Fraction(lease.share_milli)},
          {"asked", Fraction(lease.asked_milli)},
          {"mode", Name(lease.mode)},
          {"memory", lease.memory == 0 ? json::value(nullptr) : json::value(lease.memory)},
          {"used", OrNull(lease.used)},
          {"frozen", lease.frozen}};
}

json::value RenderReading(const DeviceView& view) {
  if (!view.reading) return nullptr;
  const DeviceReading& reading = *view.reading;
  return json::object{{"at", TimeOrNull(view.read_at)},
                      {"health", Name(reading.health)},
                      {"utilisation", NumberOrNull(reading.utilisation)},
                      {"memory_utilisation", NumberOrNull(reading.memory_utilisation)},
                      {"temperature_c", NumberOrNull(reading.temperature_c)},
                      {"power_w", NumberOrNull(reading.power_w)},
                      {"power_limit_w", NumberOrNull(reading.power_limit_w)},
                      {"clock_mhz", NumberOrNull(reading.clock_mhz)},
                      {"memory_clock_mhz", NumberOrNull(reading.memory_clock_mhz)},
                      {"fan", NumberOrNull(reading.fan)},
                      {"throttle", Strings(reading.throttle)},
                      {"ecc_uncorrectable", OrNull(reading.ecc_uncorrectable)}};
}

json::value RenderProcesses(const DeviceView& view) {
  if (!view.reading || !view.reading->processes) return nullptr;
  json::array processes;
  for (const DeviceProcess& process : *view.reading->processes) {
    const auto same = [&](const DeviceProcess& other) {
      return other.pid == process.pid && other.start == process.start;
    };
    std::optional<int64_t> task;
    for (const auto& [attempt, id] : view.tasks)
      if (process.attempt == attempt) task = id.value;
    processes.push_back(
        json::object{{"pid", process.pid},
                     {"type", process.type == DeviceProcess::Type::kGraphics ? "graphics" : "compute"},
                     {"memory", OrNull(process.memory)},
                     {"user", TextOrNull(process.user)},
                     {"command", TextOrNull(process.command)},
                     {"since", TimeOrNull(process.since)},
                     {"task", OrNull(task)},
                     {"foreign", std::any_of(view.foreign.begin(), view.foreign.end(), same)}});
  }
  return processes;
}

json::value RenderElsewhere(const std::optional<HostHolder>& holder) {
  if (!holder) return nullptr;
  return json::object{{"user", TextOrNull(holder->user)},
                      {"task", holder->task == 0 ? json::value(nullptr) : json::value(holder->task)},
                      {"task_name", TextOrNull(holder->task_name)},
                      {"since", TimeOrNull(holder->since)}};
}

}  // namespace

json::object RenderDevice(const DeviceView& view, Language language) {
  const Device& device = view.device;
  json::array cpus, leases;
  for (int cpu : device.cpus) cpus.emplace_back(cpu);
  for (const LeaseView& lease : view.leases) leases.push_back(RenderLease(lease));
  return {
      {"id", Text(device.id)},
      {"kind", KindName(device.kind)},
      {"index", device.index},
      {"label", Text(device.label)},
      {"name", Text(device.name)},
      {"pci", TextOrNull(device.pci)},
      {"cpus", std::move(cpus)},
      {"memory",
       {{"total", device.memory}, {"used", OrNull(view.reading ? view.reading->memory_used : std::nullopt)}}},
      {"state", view.state},
      {"usable", view.usable},
      {"reason", RenderMessage(view.trouble, language)},
      {"held_until", TimeOrNull(view.held_until)},
      {"out_since", TimeOrNull(view.out_since)},
      {"leases", std::move(leases)},
      {"reading", RenderReading(view)},
      {"processes", RenderProcesses(view)},
      {"elsewhere", RenderElsewhere(view.elsewhere)}};
}

}  // namespace ty
