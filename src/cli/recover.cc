// trainyard recover: with the yard down, makes the state whole again from what is left of it.
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "model/recovery.h"
#include "msg/cli.h"
#include "msg/stray.h"

namespace ty {
namespace {

namespace json = boost::json;

json::array Numbers(const std::vector<TaskId>& tasks) {
  json::array numbers;
  for (TaskId id : tasks) numbers.emplace_back(id.value);
  return numbers;
}

json::value OrNull(const std::string& text) {
  return text.empty() ? json::value() : json::value(Printable(text));
}

// "3, 7, 12 …": enough to begin with.
std::string Some(const std::vector<TaskId>& tasks) {
  constexpr size_t kShown = 12;
  std::string text;
  for (size_t i = 0; i < tasks.size() && i < kShown; ++i)
    text += (i ? ", " : "") + std::to_string(tasks[i].value);
  return tasks.size() > kShown ? text + " …" : text;
}

void Tell(const Caller& caller, const Recovery& done) {
  if (done.healthy && done.runs_taken_in == 0)
    return caller.Say(msg::CliRecoverHealthy{.path = caller.state.Database()});
  if (!done.moved_to.empty())
    caller.Say(msg::CliRecoverMoved{.path = caller.state.Database(), .kept = done.moved_to});
  if (done.healthy)
    caller.Say(msg::StrayStateWhole{.path = caller.state.Database()});
  else if (done.read_whole)
    caller.Say(msg::CliRecoverReadWhole{});
  else if (done.read_damaged && !done.backup.empty())
    caller.Say(msg::CliRecoverReadMixed{.backup = done.backup, .made = done.backup_made.value_or(Time{})});
  else if (done.read_damaged)
    caller.Say(msg::CliRecoverReadPart{});
  else if (!done.backup.empty())
    caller.Say(msg::CliRecoverFromBackup{.backup = done.backup, .made = done.backup_made.value_or(Time{})});
  caller.Say(msg::CliRecoverHas{.tasks = done.tasks, .open = done.open});
  if (done.runs_taken_in > 0)
    caller.Say(
        msg::CliRecoverRuns{.runs = done.runs_taken_in, .made = static_cast<int64_t>(done.made.size())});
  if (!done.held.empty())
    caller.Say(
        msg::CliRecoverHeld{.count = static_cast<int64_t>(done.held.size()), .tasks = Some(done.held)});
  if (!done.lost.empty())
    caller.Say(
        msg::CliRecoverLost{.count = static_cast<int64_t>(done.lost.size()), .tasks = Some(done.lost)});
  if (!done.read_whole && !done.healthy) caller.Say(msg::CliRecoverMissing{});
  caller.Say(msg::CliRecoverNext{});
}

int Recover(Caller& caller, const Invocation& invocation) {
  if (!invocation.words.empty())
    return caller.Complain(
        {Code::kInvalid, msg::CliNoWords{.command = "recover", .word = invocation.words.front()}, {}});
  if (caller.state.home.empty()) return caller.Complain({Code::kInvalid, msg::CliNoHome{}, {}});
  const Result<Recovery> done = caller.recover(caller.state.home);
  if (!done) return caller.Complain(done.error());
  if (!caller.json) {
    Tell(caller, *done);
    return kDone;
  }
  caller.Print(json::serialize(json::object{{"healthy", done->healthy},
                                            {"found", OrNull(done->found)},
                                            {"moved_to", OrNull(done->moved_to)},
                                            {"read_damaged", done->read_damaged},
                                            {"read_whole", done->read_whole},
                                            {"backup", OrNull(done->backup)},
                                            {"tasks", done->tasks},
                                            {"open", done->open},
                                            {"runs_taken_in", done->runs_taken_in},
                                            {"made", Numbers(done->made)},
                                            {"held", Numbers(done->held)},
                                            {"lost", Numbers(done->lost)}}) +
               "\n");
  return kDone;
}

}  // namespace

const Command kRecoverCommand = {"recover", "", "cli.about_recover", {}, Recover};

}  // namespace ty
