// trainyard up: starts the yard by hand and says five facts about it.
#include <errno.h>
#include <string.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/files.h"
#include "cli/link.h"
#include "cli/start.h"
#include "cli/survival.h"
#include "msg/cli.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr Option kOptions[] = {
    {"--foreground", Option::Takes::kNothing, "", "cli.option_foreground"},
    {"--devices", Option::Takes::kValue, "cpu:N|gpu|gpu:0,2", "cli.option_devices"},
    {"--listen", Option::Takes::kValue, "ADDR:PORT", "cli.option_listen"},
    {"--at-boot", Option::Takes::kNothing, "", "cli.option_at_boot"},
    {"--no-at-boot", Option::Takes::kNothing, "", "cli.option_no_at_boot"},
    {"--ready-fd", Option::Takes::kValue, "", ""},
    {"--web-dir", Option::Takes::kValue, "DIR", ""},
};

// Options given now win over the kept ones; --devices "" goes back to the standard.
StartOptions Wanted(const Invocation& invocation, StartOptions kept) {
  if (invocation.Has("devices")) kept.devices = invocation.Value("devices");
  if (invocation.Has("listen")) kept.listen = invocation.Value("listen");
  if (invocation.Has("config")) kept.config = AbsolutePath(invocation.Value("config"));
  if (invocation.Has("web-dir")) kept.web_folder = AbsolutePath(invocation.Value("web-dir"));
  return kept;
}

int KeepFailed(const Caller& caller, int error) {
  return caller.Complain(
      {Code::kInvalid, msg::CliHomeUnusable{.home = caller.state.home, .why = strerror(error)}, {}});
}

int RunForeground(const Caller& caller, const Invocation& invocation) {
  DaemonOptions options = DaemonOptionsFor(caller, Wanted(invocation, KeptStartOptions(caller.state)));
  if (invocation.Has("ready-fd")) {
    options.ready_fd = static_cast<int>(ParseInt(invocation.Value("ready-fd")).value_or(-1));
    return caller.daemon(options);
  }
  // By hand: the options are kept for the next start, unless this one fails with them.
  options.foreground = true;
  StartOptions kept = KeptStartOptions(caller.state), wanted = Wanted(invocation, kept);
  if (SysStatus written = KeepStartOptions(caller.state, wanted); !written)
    return KeepFailed(caller, written.error());
  ClearDownMark(caller.state);
  int code = caller.daemon(options);
  if (code != kDone) (void)KeepStartOptions(caller.state, kept);
  return code;
}

void PrintUp(Caller& caller, const Message& head, const json::value& status) {
  if (caller.json) {
    caller.Print(json::serialize(status) + "\n");
    return;
  }
  caller.Say(head);
  PrintFacts(caller, status);
}

// Never starts a yard: that would be one with the options of the last time.
Result<json::value> AskStatus(Caller& caller) {
  auto link = Link::Open(caller, Link::Need::kThere);
  if (!link) return Forward(link.error());
  return link->Get("/api/v1/status");
}

// The yard runs already: the same options are fine, others would only count after it was down.
int AlreadyUp(Caller& caller, const Invocation& invocation, const json::value& status) {
  ClearDownMark(caller.state);
  PrintUp(caller, msg::CliUpAlready{}, status);
  StartOptions kept = KeptStartOptions(caller.state), wanted = Wanted(invocation, kept);
  if (wanted == kept) return kDone;
  caller.Complain({Code::kConflict, msg::CliUpOtherOptions{}, {}});
  return kFailed;
}

// Before the yard starts, so that it knows already.
Status SetBoot(Caller& caller, const Invocation& invocation) {
  if (invocation.Has("at-boot"))
    return StartAtBoot(caller, Wanted(invocation, KeptStartOptions(caller.state)).config);
  if (invocation.Has("no-at-boot")) return NoStartAtBoot(caller);
  return {};
}

int Detached(Caller& caller, const Invocation& invocation) {
  // A daemon that was just killed may still be met by a connection that nobody will answer.
  auto found = AskStatus(caller);
  if (found) return AlreadyUp(caller, invocation, *found);
  if (HttpLine::Open(caller.state.Socket())) return caller.Complain(found.error());
  StartOptions wanted = Wanted(invocation, KeptStartOptions(caller.state));
  auto started = StartYard(caller, wanted);
  if (!started) return caller.Complain(started.error());
  ClearDownMark(caller.state);
  if (started->own) {
    if (SysStatus written = KeepStartOptions(caller.state, wanted); !written)
      return KeepFailed(caller, written.error());
  }
  auto status = AskStatus(caller);
  if (!status) return caller.Complain(status.error());
  if (!started->own) return AlreadyUp(caller, invocation, *status);
  PrintUp(caller, msg::CliUpNow{}, *status);
  return kDone;
}

int Up(Caller& caller, const Invocation& invocation) {
  if (!invocation.words.empty())
    return caller.Complain(
        {Code::kInvalid, msg::CliNoWords{.command = "up", .word = invocation.words.front()}, {}});
  if (invocation.Has("at-boot") && invocation.Has("no-at-boot"))
    return caller.Complain({Code::kInvalid, msg::CliBootBoth{}, {}});
  if (Status home = PrepareHome(caller); !home) return caller.Complain(home.error());
  const Status boot = SetBoot(caller, invocation);
  // What could not be arranged for the next boot does not keep the yard from starting now.
  const int up =
      invocation.Has("foreground") ? RunForeground(caller, invocation) : Detached(caller, invocation);
  if (!boot) (void)caller.Complain(boot.error());
  return up == kDone && !boot ? kFailed : up;
}

}  // namespace

const Command kUpCommand = {"up", "", "cli.about_up", kOptions, Up};

}  // namespace ty
