#include "cli/task_text.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "cli/answer.h"
#include "msg/cli.h"

namespace ty {
namespace {

namespace json = boost::json;

std::string NumberText(double number) {
  if (number == std::floor(number) && std::fabs(number) < 1e15)
    return fmt::format("{}", static_cast<int64_t>(number));
  return FormatReal(number);
}

Message KindMessage(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kSucceeded:
      return msg::CliKindSucceeded{};
    case OutcomeKind::kFailed:
      return msg::CliKindFailed{};
    case OutcomeKind::kCancelled:
      return msg::CliKindCancelled{};
    case OutcomeKind::kTimeout:
      return msg::CliKindTimeout{};
    case OutcomeKind::kPreempted:
      return msg::CliKindPreempted{};
    case OutcomeKind::kLost:
      return msg::CliKindLost{};
  }
  return msg::CliKindLost{};
}

Message StateMessage(std::string_view state) {
  if (state == "waiting") return msg::CliStateWaiting{};
  if (state == "preparing") return msg::CliStatePreparing{};
  if (state == "starting") return msg::CliStateStarting{};
  if (state == "running") return msg::CliStateRunning{};
  if (state == "stopping") return msg::CliStateStopping{};
  return msg::CliStateEnded{};
}

// Another sharer of its device has the floor.
bool IsFrozen(const json::value& task) {
  return TextAt(task, "state") == "running" && FlagAt(task, "frozen");
}

}  // namespace

std::optional<Outcome> OutcomeAt(const json::value& task) {
  const json::value* stands = At(task, "outcome");
  if (!stands) return std::nullopt;
  Outcome outcome;
  outcome.kind = ParseOutcomeKind(TextAt(*stands, "kind")).value_or(OutcomeKind::kLost);
  outcome.failure = ParseFailureClass(TextAt(*stands, "class")).value_or(FailureClass::kNone);
  if (auto code = IntAt(*stands, "exit_code")) outcome.exit_code = static_cast<int>(*code);
  if (auto number = IntAt(*stands, "signal")) outcome.signal = static_cast<int>(*number);
  if (auto rank = IntAt(*stands, "failed_rank")) outcome.failed_rank = static_cast<int>(*rank);
  outcome.evidence = TextAt(*stands, "evidence");
  return outcome;
}

std::string StateText(const Caller& caller, const json::value& task) {
  if (auto outcome = OutcomeAt(task)) {
    bool failed = outcome->kind == OutcomeKind::kFailed;
    if (failed && outcome->exit_code) return caller.Words(msg::CliFailedCode{.code = *outcome->exit_code});
    if (failed && outcome->signal) return caller.Words(msg::CliFailedSignal{.number = *outcome->signal});
    return caller.Words(KindMessage(outcome->kind));
  }
  std::string state = TextAt(task, "state");
  if (state == "waiting" && FlagAt(task, "held")) return caller.Words(msg::CliStateHeld{});
  if (IsFrozen(task)) return caller.Words(msg::CliStateFrozen{});
  return caller.Words(StateMessage(state));
}

Paint StatePaint(const json::value& task) {
  if (auto outcome = OutcomeAt(task)) {
    if (outcome->kind == OutcomeKind::kSucceeded) return Paint::kPlain;
    return outcome->kind == OutcomeKind::kCancelled ? Paint::kDim : Paint::kRed;
  }
  std::string state = TextAt(task, "state");
  return state == "waiting" || IsFrozen(task) ? Paint::kYellow : Paint::kGreen;
}

std::string ProgressText(const json::value& task) {
  const json::value* progress = At(task, "progress");
  auto done = progress ? RealAt(*progress, "done") : std::nullopt;
  if (!done) return {};
  std::string text = NumberText(*done);
  if (auto total = RealAt(*progress, "total")) text += "/" + NumberText(*total);
  std::string unit = TextAt(*progress, "unit");
  if (!unit.empty()) text += " " + unit;
  if (auto fraction = RealAt(*progress, "fraction"))
    text += fmt::format(" {:.0f}%", std::floor(*fraction * 100));
  return Printable(text);
}

std::string LossText(const json::value& task) {
  const json::value* metrics = At(task, "metrics");
  const json::object* object = metrics ? metrics->if_object() : nullptr;
  if (!object) return {};
  const json::value* loss = object->if_contains("loss");
  for (const auto& [key, value] : *object) {
    std::string_view name(key.data(), key.size());
    if (!loss && name.size() > 4 && name.substr(name.size() - 4) == "loss") loss = &value;
  }
  if (!loss) return {};
  if (loss->is_string()) return Printable(std::string(loss->get_string()));
  boost::system::error_code problem;
  double number = loss->to_number<double>(problem);
  return problem ? std::string() : FormatReal(number);
}

std::string TimeLeftText(const Caller& caller, const json::value& task) {
  auto left = RealAt(task, "time_left_s");
  if (!left || TextAt(task, "state") == "ended") return {};
  return FormatDuration(seconds(static_cast<int64_t>(std::ceil(*left))), caller.language);
}

std::string DevicesText(const json::value& holder, const DeviceLabels& labels) {
  std::vector<std::string> names;
  for (const json::value& device : ItemsAt(holder, "devices"))
    if (device.is_string()) names.push_back(labels.Of(std::string(device.get_string())));
  return Printable(LabelsText(names));
}

std::string TimeText(const Caller&, const json::value& holder, std::string_view key) {
  auto time = ParseIso(TextAt(holder, key));
  return time ? FormatTime(*time, WallClock()) : std::string();
}

std::string EndText(const Caller& caller, const json::value& task) {
  std::string id = std::to_string(IntAt(task, "id").value_or(0));
  const json::value* outcome = At(task, "outcome");
  std::string reason = outcome ? WordsAt(*outcome, "reason") : std::string();
  auto began = ParseIso(TextAt(task, "started_at")), ended = ParseIso(TextAt(task, "ended_at"));
  Message end =
      began && ended
          ? Message(msg::CliTaskEndedAfter{.task = id,
                                           .name = TextAt(task, "name"),
                                           .how = StateText(caller, task),
                                           .ran = *ended - *began,
                                           .reason = reason})
          : Message(msg::CliTaskEnded{
                .task = id, .name = TextAt(task, "name"), .how = StateText(caller, task), .reason = reason});
  return caller.Words(end);
}

int ExitCodeOfTask(const json::value& task) {
  auto outcome = OutcomeAt(task);
  return outcome ? ExitCodeOf(*outcome) : kOurTrouble;
}

}  // namespace ty
