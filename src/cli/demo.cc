// trainyard demo: the main job on a yard of its own, which never touches the user's.
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/demo_devices.h"
#include "cli/demo_facts.h"
#include "cli/demo_table.h"
#include "cli/demo_trainings.h"
#include "cli/device_text.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/link.h"
#include "cli/start.h"
#include "cli/table.h"
#include "msg/cli.h"
#include "posix/files.h"

namespace ty {

namespace {

namespace json = boost::json;

constexpr milliseconds kLook(200);
constexpr int kInterrupted = 130;

const Option kOptions[] = {
    {"--once", Option::Takes::kNothing, "", "cli.demo.once"},
    {"--no-open", Option::Takes::kNothing, "", "cli.demo.no_open"},
    {"--report", Option::Takes::kValue, "FILE", "cli.demo.report"},
};

Message Words(std::string_view fact) {
  if (fact == "a_exclusive") return msg::CliDemoFactAExclusive{};
  if (fact == "a_restarted_from_checkpoint") return msg::CliDemoFactARestartedFromCheckpoint{};
  if (fact == "b_c_shared") return msg::CliDemoFactBCShared{};
  if (fact == "b_c_took_turns") return msg::CliDemoFactBCTookTurns{};
  if (fact == "c_alone_after_b") return msg::CliDemoFactCAloneAfterB{};
  return msg::CliDemoFactCRateUpAfterB{};
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

// Measured facts tell what was measured; null when nothing could be.
json::value ValueOf(const DemoFact& fact) {
  if (fact.number) return *fact.number;
  if (fact.measured) return nullptr;
  return fact.holds;
}

json::object Report(const std::vector<DemoFact>& facts, const json::array& tasks, const json::array& events) {
  json::object report{{"version", 1}};
  json::object told;
  for (const DemoFact& fact : facts) {
    json::array seqs;
    for (int64_t seq : fact.events) seqs.emplace_back(seq);
    told[fact.name] = json::object{{"value", ValueOf(fact)}, {"events", std::move(seqs)}};
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
    DemoDevices devices = ChooseDemoDevices();
    Result<std::string> home = MakeHome();
    if (!home) return caller_.Complain(home.error());
    caller_.state.home = *home;
    CatchInterrupts();
    Result<Link> link = StartOn(devices);
    if (!link) return BreakOff(link.error());
    if (!once_) caller_.Say(msg::CliDemoPage{.home = caller_.state.home});
    Result<int> ended = Watch(*link, devices.gpus);
    if (!ended) return BreakOff(ended.error());
    if (!once_) {  // the yard stays, so that one can look around in it
      caller_.Say(msg::CliDemoStays{.home = caller_.state.home});
      return *ended;
    }
    EndYard();
    return Tidy(*ended);
  }

 private:
  // On the GPUs when they turn out to be free, else on CPU slots; says which.
  Result<Link> StartOn(DemoDevices& devices) {
    if (devices.gpus) {
      Result<Link> link = Start(kDemoGpus);
      if (!link) return link;
      Result<json::value> list = link->Get("/api/v1/devices");
      if (!list) return Forward(list.error());
      const json::array& items = ItemsAt(*list, "items");
      if (BothFree(items)) {
        caller_.Say(msg::CliDemoOnGpus{.first = NameOf(items[0]), .second = NameOf(items[1])});
        return link;
      }
      EndYard();
      devices = {false, msg::CliDemoOnCpuBusy{}};
    }
    caller_.Say(devices.why_not);
    return Start(kDemoSlots);
  }

  Result<Link> Start(const char* devices) {
    Result<Started> started = StartYard(caller_, StartOptions{devices, "127.0.0.1:0", ""});
    if (!started) return Forward(started.error());
    return Link::Open(caller_, Link::Need::kStart);
  }

  // "GPU0 (NVIDIA H100)"
  static std::string NameOf(const json::value& device) {
    const std::string name = TextAt(device, "name");
    return Printable(LabelOf(device) + (name.empty() ? "" : " (" + name + ")"));
  }

  Result<int> Watch(Link& link, bool gpus) {
    setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // minutes long: whoever reads it through a pipe reads along
    caller_.Say(msg::CliDemoIntro{.slice = kDemoSlice});
    std::vector<int64_t> ids;
    Result<json::array> trainings = DemoTrainings(gpus);
    if (!trainings) return Forward(trainings.error());
    for (const json::value& training : *trainings) {
      Result<json::value> receipt = link.Post("/api/v1/tasks", training);
      if (!receipt) return Forward(receipt.error());
      ids.push_back(IntAt(*receipt, "id").value_or(0));
    }
    Result<json::array> tasks = WatchUntilOver(link, ids);
    if (!tasks) return Forward(tasks.error());
    Result<json::array> events = AllEvents(link);
    if (!events) return Forward(events.error());
    const std::vector<DemoFact> facts = ComputeDemoFacts(*events, DemoTasks{ids[0], ids[1], ids[2]});
    for (const DemoFact& fact : facts) Tell(fact);
    if (SysStatus written = ReplaceFile(report_, json::serialize(Report(facts, *tasks, *events)) + "\n");
        !written) {
      return Invalid(msg::CliDemoReportUnwritable{.file = report_}, "--report");
    }
    caller_.Say(msg::CliDemoReported{.file = report_});
    const bool all = std::all_of(facts.begin(), facts.end(), [](const DemoFact& fact) { return fact.holds; });
    return all ? kDone : kFailed;
  }

  // The tasks with their attempts, which a list leaves out.
  Result<json::array> WatchUntilOver(Link& link, const std::vector<int64_t>& ids) {
    DemoTable table(caller_);
    for (bool over = false; !over;) {
      if (Interrupted()) return Conflict(msg::CliDemoInterrupted{});
      Result<json::array> rows = Rows(link, ids);
      if (!rows) return rows;
      Result<json::value> devices = link.Get("/api/v1/devices");
      if (!devices) return Forward(devices.error());
      table.Show(*rows, ItemsAt(*devices, "items"));
      over = rows->size() == ids.size() &&
             std::all_of(rows->begin(), rows->end(),
                         [](const json::value& row) { return TextAt(row, "state") == "ended"; });
      if (!over) std::this_thread::sleep_for(kLook);
    }
    json::array tasks;
    for (int64_t id : ids) {
      Result<json::value> task = link.Get("/api/v1/tasks/" + std::to_string(id));
      if (!task) return Forward(task.error());
      tasks.push_back(std::move(*task));
    }
    return tasks;
  }

  void Tell(const DemoFact& fact) const {
    const std::string mark =
        fact.holds ? caller_.Painted(Paint::kGreen, "✓") : caller_.Painted(Paint::kRed, "✗");
    caller_.Print(mark + " " + caller_.Words(Words(fact.name)) + "\n");
    if (fact.seen.empty()) return;
    const std::string seen = Wrapped("  " + caller_.Words(fact.seen), caller_.width, 2);
    caller_.Print(caller_.Painted(fact.holds ? Paint::kDim : Paint::kRed, seen) + "\n");
  }

  // Its tasks first: their folders go with it.
  void EndYard() {
    Result<Link> link = Link::Open(caller_, Link::Need::kFind);
    if (!link) return;
    (void)link->Post("/api/v1/tasks/cancel", json::object{{"all", true}});
    while (true) {
      Result<json::value> list = link->Get("/api/v1/tasks?state=open&limit=10");
      if (!list || ItemsAt(*list, "items").empty()) break;
      std::this_thread::sleep_for(kLook);
    }
    (void)link->Post("/api/v1/down", json::object{});
    WaitForEnd();
  }

  int BreakOff(const Error& why) {
    const bool by_hand = Interrupted();
    ForgetInterrupt();
    EndYard();
    if (!by_hand) return Tidy(caller_.Complain(why));
    (void)RemoveTree(caller_.state.home);
    caller_.Note(msg::CliDemoInterrupted{});
    return kInterrupted;
  }

  // Nothing is left of a demo that went well; of another, what it takes to see why.
  int Tidy(int code) {
    if (code == kDone) {
      (void)RemoveTree(caller_.state.home);
    } else {
      caller_.Note(msg::CliDemoKept{.home = caller_.state.home});
    }
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
