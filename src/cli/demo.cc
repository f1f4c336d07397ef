// trainyard demo: the main job on a yard of its own, which never touches the user's.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/demo_facts.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/link.h"
#include "cli/recipe.h"
#include "cli/start.h"
#include "cli/table.h"
#include "cli/task_text.h"
#include "msg/cli.h"
#include "posix/files.h"

namespace ty {

namespace {

namespace json = boost::json;

const Option kOptions[] = {
    {"--once", Option::Takes::kNothing, "", "cli.demo.once"},
    {"--no-open", Option::Takes::kNothing, "", "cli.demo.no_open"},
    {"--report", Option::Takes::kValue, "FILE", "cli.demo.report"},
};

std::string Bar(double fraction) {
  const int full = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 20 + 0.5);
  std::string bar;
  for (int i = 0; i < 20; i++) bar += i < full ? "█" : "░";
  return bar;
}

// One row a task: what it does, where, how far, how well, how long still.
class LiveTable {
 public:
  explicit LiveTable(const Caller& caller) : caller_(caller) {}

  void Show(const json::array& tasks) {
    const std::string text = Draw(tasks);
    if (!caller_.out_is_terminal) {  // a log gets a block each time a state changes, not ten a second
      std::string states;
      for (const json::value& task : tasks)
        states += TextAt(task, "state") + std::to_string(RealAt(task, "attempt").value_or(0)) + ";";
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

 private:
  std::string Draw(const json::array& tasks) const {
    auto title = [&](const Message& message) { return caller_.Words(message); };
    Table table;
    table.columns = {{title(msg::CliDemoTask{})},     {title(msg::CliDemoState{})},
                     {title(msg::CliDemoDevice{})},   {title(msg::CliDemoRun{})},
                     {title(msg::CliDemoProgress{})}, {title(msg::CliDemoLoss{})},
                     {title(msg::CliDemoLeft{})}};
    for (const json::value& task : tasks) {
      std::vector<std::string> row;
      row.push_back(Printable(TextAt(task, "name")));
      row.push_back(StateText(caller_, task));
      row.push_back(DevicesText(task));
      const std::optional<double> attempt = RealAt(task, "attempt");
      row.push_back(attempt ? std::to_string(static_cast<int>(*attempt)) : "");
      row.push_back(Progress(task));
      row.push_back(LossText(task));
      row.push_back(TimeLeftText(caller_, task));
      table.rows.push_back(std::move(row));
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

  static std::string Progress(const json::value& task) {
    const json::value* progress = At(task, "progress");
    if (progress == nullptr || !progress->is_object()) return "";
    const std::optional<double> done = RealAt(*progress, "done"), total = RealAt(*progress, "total");
    if (!done) return "";
    std::string text = std::to_string(static_cast<int64_t>(*done));
    if (total) text += "/" + std::to_string(static_cast<int64_t>(*total));
    text += " " + TextAt(*progress, "unit");
    return total && *total > 0 ? Bar(*done / *total) + " " + text : text;
  }

  const Caller& caller_;
  int lines_ = 0;
  std::string states_;
};

Message Words(std::string_view fact) {
  if (fact == "a_exclusive") return msg::CliDemoFactAExclusive{};
  if (fact == "a_restarted_from_checkpoint") return msg::CliDemoFactARestartedFromCheckpoint{};
  if (fact == "c_started_when_b_freed") return msg::CliDemoFactCStartedWhenBFreed{};
  return msg::CliDemoFactAllSucceeded{};
}

struct Wanted {
  const char* name;
  const char* recipe;
  const char* priority;
  std::vector<std::pair<std::string, std::string>> values;
};

// B is short, so that C finds its slot free while A is still at work; A fails once, late, and goes on by
// itself.
const std::vector<Wanted>& Trainings() {
  static const std::vector<Wanted> trainings = {
      {"A-digits-cnn", "digits-cnn", "high", {{"fail_once_at_epoch", "20"}}},
      {"B-digits-mlp", "digits-mlp", "normal", {{"epochs", "30"}}},
      {"C-char-transformer", "char-transformer", "normal", {}},
  };
  return trainings;
}

Result<std::string> MakeHome() {
  const std::string tmp = Environment("TMPDIR");
  std::string folder = (tmp.empty() ? "/tmp" : tmp) + "/trainyard-demo-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr)
    return Fail(Code::kUnavailable, msg::CliDemoNoFolder{.folder = folder}, "TMPDIR");
  return folder;
}

Result<json::array> AllEvents(Link& link) {
  json::array events;
  int64_t since = 0;
  while (true) {
    Result<json::value> page = link.Get("/api/v1/events?limit=1000&since=" + std::to_string(since));
    if (!page) return Forward(page.error());
    const json::array& items = ItemsAt(*page, "items");
    if (items.empty()) return events;
    for (const json::value& item : items) events.push_back(item);
    since = IntAt(events.back(), "seq").value_or(0);
  }
}

json::object Report(const std::vector<DemoFact>& facts, const json::array& tasks, const json::array& events) {
  json::object report{{"version", 1}};
  json::object told;
  for (const DemoFact& fact : facts) {
    json::array seqs;
    for (int64_t seq : fact.events) seqs.emplace_back(seq);
    told[fact.name] = json::object{{"value", fact.holds}, {"events", std::move(seqs)}};
  }
  report["facts"] = std::move(told);
  json::array rows;
  for (const json::value& task : tasks) {
    json::object row;
    for (const char* key : {"name", "devices", "outcome"}) {
      if (const json::value* value = At(task, key)) row[key] = *value;
    }
    const json::value* attempts = At(task, "attempts");
    row["attempts"] = attempts != nullptr && attempts->is_array() ? attempts->as_array().size() : 0;
    const std::vector<double> losses = LossesOf(events, IntAt(task, "id").value_or(0));
    row["first_loss"] = losses.empty() ? json::value(nullptr) : json::value(losses.front());
    row["last_loss"] = losses.empty() ? json::value(nullptr) : json::value(losses.back());
    rows.push_back(std::move(row));
  }
  report["tasks"] = std::move(rows);
  return report;
}

// The tasks of the demo, in the order A, B, C, as the list gives them.
Result<json::array> Rows(Link& link, const std::vector<int64_t>& ids) {
  Result<json::value> list = link.Get("/api/v1/tasks?state=all&limit=100");
  if (!list) return Forward(list.error());
  json::array rows;
  for (int64_t id : ids) {
    for (const json::value& task : ItemsAt(*list, "items")) {
      if (IntAt(task, "id").value_or(0) == id) rows.push_back(task);
    }
  }
  return rows;
}

class Demo {
 public:
  Demo(Caller& caller, const Invocation& invocation) : caller_(caller), once_(invocation.Has("once")) {
    report_ = invocation.Has("report") ? invocation.Value("report") : "demo-report.json";
  }

  int Run() {
    // Written first, so that a folder that cannot be written to is known before the trainings and not after.
    report_ = AbsolutePath(report_);
    if (SysStatus written = ReplaceFile(report_, "{}\n"); !written) {
      return caller_.Complain(
          Error{Code::kInvalid, msg::CliDemoReportUnwritable{.file = report_}, "--report"});
    }
    Result<std::string> home = MakeHome();
    if (!home) return caller_.Complain(home.error());
    caller_.state.home = *home;
    CatchInterrupts();
    Result<Started> started = StartYard(caller_, StartOptions{"cpu:2", "127.0.0.1:0", ""});
    if (!started) return Finish(caller_.Complain(started.error()), false);
    Result<Link> link = Link::Open(caller_, Link::Need::kStart);
    if (!link) return Finish(caller_.Complain(link.error()), false);
    Result<int> ended = Watch(*link);
    if (!ended) {
      Finish(0, true);
      return Interrupted() ? 130 : caller_.Complain(ended.error());
    }
    return Finish(*ended, once_);
  }

 private:
  Result<int> Watch(Link& link) {
    caller_.Say(msg::CliDemoIntro{});
    std::vector<int64_t> ids;
    for (const Wanted& wanted : Trainings()) {
      Result<json::object> task = TaskOfRecipe(ShareFolder() + "/recipes/" + wanted.recipe, wanted.values);
      if (!task) return Forward(task.error());
      (*task)["name"] = wanted.name;
      (*task)["priority"] = wanted.priority;
      Result<json::value> receipt = link.Post("/api/v1/tasks", *task);
      if (!receipt) return Forward(receipt.error());
      ids.push_back(IntAt(*receipt, "id").value_or(0));
    }
    LiveTable table(caller_);
    json::array rows;
    while (true) {
      if (Interrupted()) return Conflict(msg::CliDemoInterrupted{});
      Result<json::array> now = Rows(link, ids);
      if (!now) return Forward(now.error());
      rows = std::move(*now);
      table.Show(rows);
      const bool over = std::all_of(rows.begin(), rows.end(),
                                    [](const json::value& row) { return TextAt(row, "state") == "ended"; });
      if (over && rows.size() == ids.size()) break;
      std::this_thread::sleep_for(milliseconds(200));
    }
    for (size_t i = 0; i < ids.size(); i++) {  // with their attempts, which the list leaves out
      Result<json::value> task = link.Get("/api/v1/tasks/" + std::to_string(ids[i]));
      if (!task) return Forward(task.error());
      rows[i] = std::move(*task);
    }
    Result<json::array> events = AllEvents(link);
    if (!events) return Forward(events.error());
    const std::vector<DemoFact> facts = ComputeDemoFacts(*events, DemoTasks{ids[0], ids[1], ids[2]});
    bool all = true;
    for (const DemoFact& fact : facts) {
      all = all && fact.holds;
      const std::string mark =
          fact.holds ? caller_.Painted(Paint::kGreen, "✓") : caller_.Painted(Paint::kRed, "✗");
      caller_.Print(mark + " " + caller_.Words(Words(fact.name)) + "\n");
    }
    if (SysStatus written = ReplaceFile(report_, json::serialize(Report(facts, rows, *events)) + "\n");
        !written) {
      return Invalid(msg::CliDemoReportUnwritable{.file = report_}, "--report");
    }
    caller_.Say(msg::CliDemoReported{.file = report_});
    return all ? kDone : kFailed;
  }

  // Without --once the yard stays, so that one can look around in it.
  int Finish(int code, bool end) {
    if (!end && code == kDone) {
      caller_.Say(msg::CliDemoStays{.home = caller_.state.home});
      return code;
    }
    if (Result<Link> link = Link::Open(caller_, Link::Need::kFind)) {
      (void)link->Post("/api/v1/tasks/cancel", json::object{{"all", true}});
      while (true) {  // its tasks end first: the folder goes with them
        Result<json::value> list = link->Get("/api/v1/tasks?state=open&limit=10");
        if (!list || ItemsAt(*list, "items").empty()) break;
        std::this_thread::sleep_for(milliseconds(100));
      }
      (void)link->Post("/api/v1/down", json::object{});
      WaitForEnd();
    }
    if (code == kDone || Interrupted()) (void)RemoveTree(caller_.state.home);
    return code;
  }

  void WaitForEnd() const {
    for (int i = 0; i < 200 && HttpLine::Open(caller_.state.Socket()); i++)
      std::this_thread::sleep_for(milliseconds(50));
  }

  Caller& caller_;
  bool once_;
  std::string report_;
};

int RunDemo(Caller& caller, const Invocation& invocation) {
  Caller own = caller;
  return Demo(own, invocation).Run();
}

}  // namespace

const Command kDemoCommand{"demo", "", "cli.demo.about", kOptions, RunDemo};

}  // namespace ty
