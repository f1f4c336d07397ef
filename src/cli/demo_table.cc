#include "cli/demo_table.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/table.h"
#include "cli/task_text.h"
#include "msg/cli.h"

namespace ty {

namespace {

namespace json = boost::json;

std::string Bar(double fraction) {
  constexpr int kCells = 20;
  const int full = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * kCells + 0.5);
  std::string bar;
  for (int i = 0; i < kCells; i++) bar += i < full ? "█" : "░";
  return bar;
}

std::string BarText(const json::value& task) {
  const json::value* progress = At(task, "progress");
  const std::optional<double> done = progress ? RealAt(*progress, "done") : std::nullopt;
  if (!done) return {};
  const std::optional<double> total = RealAt(*progress, "total");
  std::string text = std::to_string(static_cast<int64_t>(*done));
  if (total) text += "/" + std::to_string(static_cast<int64_t>(*total));
  text += " " + Printable(TextAt(*progress, "unit"));
  return total && *total > 0 ? Bar(*done / *total) + " " + text : text;
}

// The lease a task has, null when it has none.
const json::value* LeaseOf(const json::value& task, const json::array& devices) {
  const int64_t id = IntAt(task, "id").value_or(0);
  for (const json::value& device : devices) {
    for (const json::value& lease : ItemsAt(device, "leases"))
      if (IntAt(lease, "task") == id) return &lease;
  }
  return nullptr;
}

int Percent(const json::value& lease) {
  return static_cast<int>(std::lround(RealAt(lease, "share").value_or(1) * 100));
}

// One of several between whom the turn goes around.
bool TakesTurns(const json::value& lease) {
  return TextAt(lease, "mode") == "turns" && Percent(lease) < 100;
}

std::string ShareText(const Caller& caller, const json::value* lease) {
  if (lease == nullptr) return {};
  const int percent = Percent(*lease);
  return TakesTurns(*lease) ? caller.Words(msg::CliDemoShareTurns{.percent = percent})
                            : std::to_string(percent) + "%";
}

std::string TurnText(const Caller& caller, const json::value& task, const json::value* lease) {
  const bool has_turn =
      lease != nullptr && TakesTurns(*lease) && TextAt(task, "state") == "running" && !FlagAt(task, "frozen");
  return has_turn ? caller.Words(msg::CliDemoHasTurn{}) : StateText(caller, task);
}

}  // namespace

void DemoTable::Show(const json::array& tasks, const json::array& devices) {
  const std::string text = Draw(tasks, devices);
  if (!caller_.out_is_terminal) {
    std::string states;
    for (const json::value& task : tasks) {
      states += TextAt(task, "state") + std::to_string(IntAt(task, "attempt").value_or(0)) +
                ShareText(caller_, LeaseOf(task, devices)) + ";";
    }
    if (states == states_) return;
    states_ = states;
    caller_.Print(text + "\n");
    return;
  }
  std::string screen;
  if (lines_ > 0) screen = "\x1b[" + std::to_string(lines_) + "A\x1b[J";
  lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  caller_.Print(screen + text);
}

std::string DemoTable::Draw(const json::array& tasks, const json::array& devices) const {
  auto title = [this](const Message& message) { return caller_.Words(message); };
  const DeviceLabels labels(devices);
  Table table;
  table.columns = {{title(msg::CliDemoTask{})},   {title(msg::CliDemoState{})},
                   {title(msg::CliDemoDevice{})}, {title(msg::CliDemoShare{})},
                   {title(msg::CliDemoRun{})},    {title(msg::CliDemoProgress{}), Table::Align::kLeft, true},
                   {title(msg::CliDemoLoss{})},   {title(msg::CliDemoLeft{})}};
  for (const json::value& task : tasks) {
    const json::value* lease = LeaseOf(task, devices);
    const std::optional<int64_t> attempt = IntAt(task, "attempt");
    table.rows.push_back({Printable(TextAt(task, "name")), TurnText(caller_, task, lease),
                          DevicesText(task, labels), ShareText(caller_, lease),
                          attempt ? std::to_string(*attempt) : "", BarText(task), LossText(task),
                          TimeLeftText(caller_, task)});
  }
  // Painted line by line, after the layout: escapes have no width.
  const std::string text = table.Text(caller_.width);
  std::string painted;
  size_t line = 0;
  for (size_t start = 0; start < text.size(); line++) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const Paint paint = line == 0              ? Paint::kBold
                        : line <= tasks.size() ? StatePaint(tasks[line - 1])
                                               : Paint::kPlain;
    painted += caller_.Painted(paint, std::string_view(text).substr(start, end - start)) + "\n";
    start = end + 1;
  }
  return painted;
}

}  // namespace ty
