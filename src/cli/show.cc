// trainyard show: everything about one task.
#include <algorithm>
#include <boost/json.hpp>
#include <vector>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/link.h"
#include "cli/select.h"
#include "cli/table.h"
#include "cli/task_text.h"
#include "model/spec.h"
#include "msg/cli.h"

namespace ty {
namespace {

namespace json = boost::json;

// Titles and texts, the titles as wide as the widest.
class Sheet {
 public:
  explicit Sheet(const Caller& caller) : caller_(caller) {}

  void Add(const Message& title, const std::string& text, Paint paint = Paint::kPlain) {
    if (!text.empty()) rows_.push_back({caller_.Words(title), caller_.Painted(paint, text)});
  }
  void Print() const {
    int wide = 0;
    for (const auto& [title, text] : rows_) wide = std::max(wide, DisplayWidth(title));
    for (const auto& [title, text] : rows_)
      caller_.Print(caller_.Painted(Paint::kDim, title) +
                    std::string(static_cast<size_t>(wide - DisplayWidth(title) + 2), ' ') + text + "\n");
  }

 private:
  const Caller& caller_;
  std::vector<std::pair<std::string, std::string>> rows_;
};

std::string CommandText(const json::value& spec) {
  std::vector<std::string> argv;
  for (const json::value& word : ItemsAt(spec, "command"))
    if (auto text = WordFromJson(word, "")) argv.push_back(std::move(*text));
  return Printable(ShellQuote(argv));
}

std::string Joined(const json::array& items) {
  std::string text;
  for (const json::value& item : items)
    if (item.is_string()) text += (text.empty() ? "" : ", ") + std::string(item.get_string());
  return Printable(text);
}

std::string VariablesText(const json::value& spec) {
  const json::value* variables = At(spec, "variables");
  const json::object* object = variables ? variables->if_object() : nullptr;
  std::string text;
  if (!object) return text;
  for (const auto& [key, value] : *object)
    if (auto word = WordFromJson(value, ""))
      text += (text.empty() ? "" : " ") + std::string(key) + "=" + ShellQuote(*word);
  return Printable(text);
}

std::string CheckpointText(const json::value& task) {
  const json::value* checkpoint = At(task, "checkpoint");
  const json::value* path = checkpoint ? At(*checkpoint, "path") : nullptr;
  if (!path) return {};
  auto word = WordFromJson(*path, "");
  return word ? Printable(*word) + " (" + std::to_string(IntAt(*checkpoint, "step").value_or(0)) + ")"
              : std::string();
}

// "0.5 of each device, in turns"; empty for whole devices.
std::string ShareText(const Caller& caller, const json::value& task) {
  std::string text = TextAt(task, "share");
  auto share = Share::Parse(text);
  if (text.empty() || !share || share->mode == ShareMode::kWhole) return {};
  std::string part = FormatReal(share->milli / 1000.0);
  return caller.Words(share->mode == ShareMode::kTurns ? Message(msg::CliShareTurns{.share = part})
                                                       : Message(msg::CliShareTogether{.share = part}));
}

// Of the newest run, when it has ranks.
std::string ProcessesText(const Caller& caller, const json::value& task, const json::value& spec) {
  const json::array& attempts = ItemsAt(task, "attempts");
  if (!FlagAt(spec, "ranks") || attempts.empty()) return {};
  return caller.Words(msg::CliProcessesRanks{.count = IntAt(attempts.back(), "processes").value_or(1)});
}

// How the processes of a run ended, when one did not end well.
std::string RankEnds(const Caller& caller, const json::value& attempt) {
  std::string text;
  bool bad = false;
  for (const json::value& rank : ItemsAt(attempt, "ranks")) {
    std::string number = std::to_string(IntAt(rank, "rank").value_or(0));
    auto code = IntAt(rank, "exit_code"), signal = IntAt(rank, "signal");
    Message end = msg::CliRankNotStarted{.rank = number};
    if (code) end = msg::CliRankCode{.rank = number, .code = *code};
    if (signal) end = msg::CliRankSignal{.rank = number, .number = *signal};
    bad = bad || !code || *code != 0;
    text += (text.empty() ? "" : ", ") + caller.Words(end);
  }
  return bad ? text : std::string();
}

void PrintAttempts(const Caller& caller, const json::value& task, const DeviceLabels& labels) {
  const json::array& attempts = ItemsAt(task, "attempts");
  if (attempts.empty()) return;
  Table table;
  for (const Message& title :
       {Message(msg::CliColumnRun{}), Message(msg::CliColumnState{}), Message(msg::CliColumnDevices{}),
        Message(msg::CliColumnProcesses{}), Message(msg::CliColumnStarted{}), Message(msg::CliColumnEnded{}),
        Message(msg::CliColumnReason{})})
    table.columns.push_back({caller.Words(title)});
  table.columns.back().shrinks = true;
  for (const json::value& attempt : attempts) {
    const json::value* outcome = At(attempt, "outcome");
    int64_t processes = IntAt(attempt, "processes").value_or(1);
    table.rows.push_back({std::to_string(IntAt(attempt, "number").value_or(0)), StateText(caller, attempt),
                          DevicesText(attempt, labels), processes > 1 ? std::to_string(processes) : "",
                          TimeText(caller, attempt, "started_at"), TimeText(caller, attempt, "ended_at"),
                          outcome ? Printable(WordsAt(*outcome, "reason")) : std::string()});
  }
  caller.Print("\n" + table.Text(caller.width));
  for (const json::value& attempt : attempts)
    if (std::string rule = WordsAt(attempt, "rule"); !rule.empty())
      caller.Print(Wrapped(caller.Words(msg::CliRunRule{.number = IntAt(attempt, "number").value_or(0),
                                                        .rule = Printable(rule)}),
                           caller.width, 2) +
                   "\n");
  for (const json::value& attempt : attempts)
    if (std::string ends = RankEnds(caller, attempt); !ends.empty())
      caller.Print(Wrapped(caller.Words(msg::CliRankEnds{.number = IntAt(attempt, "number").value_or(0),
                                                         .ends = ends}),
                           caller.width, 2) +
                   "\n");
}

// The task's devices are those of one of its runs, or still to come.
DeviceLabels LabelsOf(Link& link, const json::value& task) {
  json::array holders = ItemsAt(task, "attempts");
  holders.push_back(task);
  return DeviceLabels::For(link, holders);
}

void PrintTask(const Caller& caller, Link& link, const json::value& task) {
  static const json::value kEmpty = json::object();
  const json::value* spec = At(task, "spec");
  if (!spec) spec = &kEmpty;
  const json::value* outcome = At(task, "outcome");
  caller.Print(caller.Painted(Paint::kBold, caller.Words(msg::CliTaskTitle{
                                                .task = std::to_string(IntAt(task, "id").value_or(0)),
                                                .name = TextAt(task, "name")})) +
               "\n");
  Sheet sheet(caller);
  sheet.Add(msg::CliRowState{}, StateText(caller, task), StatePaint(task));
  sheet.Add(msg::CliRowReason{}, Printable(outcome ? WordsAt(*outcome, "reason") : WordsAt(task, "reason")));
  sheet.Add(msg::CliRowCommand{}, CommandText(*spec));
  if (const json::value* folder = At(*spec, "workdir"))
    if (auto word = WordFromJson(*folder, "")) sheet.Add(msg::CliRowFolder{}, Printable(*word));
  DeviceLabels labels = LabelsOf(link, task);
  sheet.Add(msg::CliRowDevices{}, DevicesText(task, labels));
  sheet.Add(msg::CliRowShare{}, ShareText(caller, task));
  sheet.Add(msg::CliRowProcesses{}, ProcessesText(caller, task, *spec));
  sheet.Add(msg::CliRowPriority{}, std::to_string(IntAt(task, "priority").value_or(0)));
  sheet.Add(msg::CliRowTags{}, Joined(ItemsAt(task, "tags")));
  sheet.Add(msg::CliRowVariables{}, VariablesText(*spec));
  sheet.Add(msg::CliRowSubmitted{}, TimeText(caller, task, "submitted_at"));
  sheet.Add(msg::CliRowStarted{}, TimeText(caller, task, "started_at"));
  sheet.Add(msg::CliRowEnded{}, TimeText(caller, task, "ended_at"));
  sheet.Add(msg::CliRowProgress{}, ProgressText(task));
  sheet.Add(msg::CliRowLoss{}, LossText(task));
  sheet.Add(msg::CliRowLeft{}, TimeLeftText(caller, task));
  sheet.Add(msg::CliRowCheckpoint{}, CheckpointText(task));
  if (const json::value* code = At(*spec, "code"))
    sheet.Add(msg::CliRowCommit{}, Printable(TextAt(*code, "commit")));
  sheet.Add(msg::CliRowChanged{}, Joined(ItemsAt(task, "code_changed")), Paint::kYellow);
  sheet.Add(msg::CliRowOut{}, Printable(TextAt(task, "out_folder")));
  sheet.Add(msg::CliRowLog{}, Printable(TextAt(task, "log_path")));
  sheet.Print();
  PrintAttempts(caller, task, labels);
  PrintTail(caller, link, task, false);
}

int Show(Caller& caller, const Invocation& invocation) {
  if (invocation.words.empty()) return caller.Complain({Code::kInvalid, msg::CliNameOneTask{}, {}});
  auto tasks = SpreadRanges(invocation.words);
  if (!tasks) return caller.Complain(tasks.error());
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  int code = kDone;
  bool first = true;
  for (const std::string& word : *tasks) {
    auto task = link->Get("/api/v1/tasks/" + PercentEncode(ChooseAttempt(word).task));
    if (!task) {
      code = std::max(code, caller.Complain(task.error()));
      continue;
    }
    if (caller.json) {
      caller.Print(json::serialize(*task) + "\n");
      continue;
    }
    if (!first) caller.Print("\n");
    first = false;
    PrintTask(caller, *link, *task);
  }
  return code;
}

}  // namespace

const Command kShowCommand = {"show", "ID…", "cli.about_show", {}, Show};

}  // namespace ty
