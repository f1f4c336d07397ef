// trainyard ls: running, waiting and lately ended tasks.
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/link.h"
#include "cli/table.h"
#include "cli/task_text.h"
#include "msg/cli.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr Option kOptions[] = {
    {"-a,--all", Option::Takes::kNothing, "", "cli.option_ls_all"},
    {"--state", Option::Takes::kValue, "STATE", "cli.option_ls_state"},
    {"--tag", Option::Takes::kValue, "TAG", "cli.option_ls_tag"},
    {"--limit", Option::Takes::kValue, "N", "cli.option_ls_limit"},
};

Result<std::string> QueryOf(const Invocation& invocation) {
  std::string query;
  auto add = [&](const char* key, const std::string& value) {
    query += (query.empty() ? "?" : "&") + std::string(key) + "=" + PercentEncode(value);
  };
  if (invocation.Has("state")) {
    add("state", invocation.Value("state"));
  } else if (invocation.Has("all")) {
    add("state", "all");
  }
  if (invocation.Has("tag")) add("tag", invocation.Value("tag"));
  if (invocation.Has("limit")) {
    auto limit = ParseInt(invocation.Value("limit"));
    if (!limit || *limit < 1 || *limit > 10000)
      return Invalid(msg::CliLimit{.value = invocation.Value("limit"), .most = 10000});
    add("limit", invocation.Value("limit"));
  }
  return query;
}

std::string ReasonText(const json::value& task) {
  if (const json::value* outcome = At(task, "outcome")) {
    // Of one that went well there is nothing to explain.
    return TextAt(*outcome, "kind") == "succeeded" ? "" : Printable(WordsAt(*outcome, "reason"));
  }
  return Printable(WordsAt(task, "reason"));
}

std::string WhenText(const Caller& caller, const json::value& task) {
  for (const char* key : {"ended_at", "started_at", "submitted_at"})
    if (std::string text = TimeText(caller, task, key); !text.empty()) return text;
  return {};
}

void PrintTable(const Caller& caller, const json::array& tasks, const DeviceLabels& labels) {
  Table table;
  using Align = Table::Align;
  table.columns = {
      {caller.Words(msg::CliColumnId{}), Align::kRight},
      {caller.Words(msg::CliColumnName{}), Align::kLeft, true},
      {caller.Words(msg::CliColumnState{})},
      {caller.Words(msg::CliColumnDevices{})},
      {caller.Words(msg::CliColumnProgress{})},
      {caller.Words(msg::CliColumnLoss{}), Align::kRight},
      {caller.Words(msg::CliColumnLeft{}), Align::kRight},
      {caller.Words(msg::CliColumnWhen{})},
      {caller.Words(msg::CliColumnReason{}), Align::kLeft, true},
  };
  for (const json::value& task : tasks)
    table.rows.push_back({std::to_string(IntAt(task, "id").value_or(0)), Printable(TextAt(task, "name")),
                          StateText(caller, task), DevicesText(task, labels), ProgressText(task),
                          LossText(task), TimeLeftText(caller, task), WhenText(caller, task),
                          ReasonText(task)});
  std::string text = table.Text(caller.width);
  if (!caller.colours) {
    caller.Print(text);
    return;
  }
  size_t line = 0;
  for (size_t start = 0; start < text.size(); ++line) {
    size_t end = text.find('\n', start);
    Paint paint = line == 0 ? Paint::kBold : StatePaint(tasks[line - 1]);
    if (line > 0 && paint != Paint::kRed && paint != Paint::kDim) paint = Paint::kPlain;
    caller.Print(caller.Painted(paint, std::string_view(text).substr(start, end - start)) + "\n");
    start = end + 1;
  }
}

int Ls(Caller& caller, const Invocation& invocation) {
  if (!invocation.words.empty())
    return caller.Complain(
        {Code::kInvalid, msg::CliNoWords{.command = "ls", .word = invocation.words.front()}, {}});
  auto query = QueryOf(invocation);
  if (!query) return caller.Complain(query.error());
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  auto list = link->Get("/api/v1/tasks" + *query);
  if (!list) return caller.Complain(list.error());
  if (caller.json) {
    caller.Print(json::serialize(*list) + "\n");
    return kDone;
  }
  const json::array& tasks = ItemsAt(*list, "items");
  if (tasks.empty()) {
    caller.Note(invocation.given.empty() ? Message(msg::CliNoTasksYet{}) : Message(msg::CliNoSuchTasks{}));
  } else {
    PrintTable(caller, tasks, DeviceLabels::For(*link, tasks));
  }
  if (auto status = link->Get("/api/v1/status")) {
    // Right after a restart a run may be called running that is found dead a moment later.
    if (FlagAt(*status, "adopting")) caller.Note(msg::CliStatusAdopting{});
    SayTroubleOfState(caller, *status);
  }
  if (!TextAt(*list, "next").empty())
    caller.Note(msg::CliMoreTasks{.count = static_cast<int64_t>(tasks.size())});
  return kDone;
}

}  // namespace

const Command kLsCommand = {"ls", "", "cli.about_ls", kOptions, Ls};

}  // namespace ty
