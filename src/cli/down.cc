// trainyard down: ends the yard by intent and says which tasks go on.
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/link.h"
#include "cli/start.h"
#include "msg/cli.h"
#include "posix/fd.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr int kEndWait_ms = 150'000;  // with --cancel the daemon waits up to two minutes for what it stops

constexpr Option kOptions[] = {
    {"--cancel", Option::Takes::kNothing, "", "cli.option_down_cancel"},
};

std::string IdsText(const json::array& ids) {
  std::string text;
  for (const json::value& id : ids)
    if (id.is_int64()) text += (text.empty() ? "" : ", ") + std::to_string(id.get_int64());
  return text;
}

int AlreadyDown(const Caller& caller) {
  if (caller.json)
    caller.Print("{\"running\":[]}\n");
  else if (auto since = DownSince(caller.state))
    caller.Say(msg::CliDownAlready{.since = *since});
  else
    caller.Say(msg::CliDownNeverUp{});
  return kDone;
}

int Down(Caller& caller, const Invocation& invocation) {
  if (caller.state.home.empty()) return caller.Complain({Code::kInvalid, msg::CliNoHome{}, {}});
  auto line = HttpLine::Open(caller.state.Socket());
  if (!line && (line.error() == ENOENT || line.error() == ECONNREFUSED || line.error() == ENOTDIR)) {
    // One that crashed must not be started again by the next look either.
    if (access(caller.state.Database().c_str(), F_OK) == 0 && !DownSince(caller.state))
      (void)MarkDown(caller.state);
    return AlreadyDown(caller);
  }
  auto link = Link::Open(caller, Link::Need::kFind);
  if (!link) return caller.Complain(link.error());
  auto status = link->Get("/api/v1/status");
  if (!status) return caller.Complain(status.error());
  // Held from before it is asked to end, so that no other process can be taken for it.
  UniqueFd daemon(
      static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(IntAt(*status, "pid").value_or(0)), 0)));

  // The mark comes first: a command typed meanwhile must not start the yard again.
  // On a disk that is read-only no mark can be made, and no start gets far.
  if (SysStatus marked = MarkDown(caller.state); !marked && marked.error() != EROFS)
    return caller.Complain({Code::kUnavailable,
                            msg::CliHomeUnusable{.home = caller.state.home, .why = strerror(marked.error())},
                            {}});
  auto answer = link->Post("/api/v1/down", json::object{{"cancel", invocation.Has("cancel")}});
  if (!answer) {
    ClearDownMark(caller.state);
    return caller.Complain(answer.error());
  }
  pollfd ended{daemon.get(), POLLIN, 0};
  if (daemon && poll(&ended, 1, kEndWait_ms) == 0)
    return caller.Complain({Code::kConflict, msg::CliDownSlow{.log = caller.state.Log()}, {}});
  if (caller.json) {
    caller.Print(json::serialize(*answer) + "\n");
    return kDone;
  }
  std::string running = IdsText(ItemsAt(*answer, "running"));
  caller.Say(running.empty() ? Message(msg::CliDownNow{}) : Message(msg::CliDownGoOn{.tasks = running}));
  return kDone;
}

}  // namespace

const Command kDownCommand = {"down", "", "cli.about_down", kOptions, Down};

}  // namespace ty
