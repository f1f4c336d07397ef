// trainyard open: signs a browser of this user in and shows it the page. The code travels in a file that only
// this user can read, never in an argv, which everybody on the machine can.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/files.h"
#include "cli/link.h"
#include "msg/cli.h"
#include "msg/open.h"
#include "posix/files.h"
#include "posix/program.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr Option kOptions[] = {
    {"--print", Option::Takes::kNothing, "", "cli.option_print"},
};

struct Ticket {
  std::string url, code;
  Time until;

  std::string Link() const { return url + "/#code=" + code; }
};

Result<Ticket> MintTicket(Caller& caller) {
  auto link = Link::Open(caller, Link::Need::kStart);
  if (!link) return Forward(link.error());
  auto minted = link->Post("/api/v1/session/code", json::object{});
  if (!minted) return Forward(minted.error());
  Ticket ticket{TextAt(*minted, "url"), TextAt(*minted, "code"),
                ParseIso(TextAt(*minted, "expires_at")).value_or(WallClock())};
  if (ticket.url.empty()) return Conflict(msg::OpenNoAddress{});
  return ticket;
}

// What shows a file in the browser of this desktop.
struct Viewer {
  std::string program;
  Message why_not;  // when there is none
};

Viewer FindViewer() {
  const bool windows = !Environment("WSL_DISTRO_NAME").empty();
  if (!windows && Environment("DISPLAY").empty() && Environment("WAYLAND_DISPLAY").empty())
    return {{}, msg::OpenNoDisplay{}};
  for (const char* name : {"wslview", "xdg-open"}) {
    if (std::string_view(name) == "wslview" && !windows) continue;
    std::string program = FindProgram(name, Environment("PATH"), CurrentFolder());
    if (!program.empty()) return {std::move(program), {}};
  }
  return {{}, msg::OpenNoProgram{}};
}

// The code stands behind #, which no browser sends and no server logs.
std::string PageThatLeadsTo(const std::string& link) {
  return "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
         "<title>Trainyard</title>\n<meta http-equiv=\"refresh\" content=\"0;url=" +
         link + "\">\n<a href=\"" + link + "\">Trainyard</a>\n";
}

// In a session of its own: a browser goes on when the terminal goes.
void StartDetached(const std::string& program, const std::string& file) {
  std::string name = program, argument = file;
  char* const argv[] = {name.data(), argument.data(), nullptr};
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd : {0, 1, 2}) dup2(null, fd);
    execv(argv[0], argv);
    _exit(127);
  }
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

int OpenHere(const Caller& caller, const Ticket& ticket) {
  caller.Say(msg::OpenOpens{.url = ticket.url});
  const Viewer viewer = FindViewer();
  if (viewer.program.empty()) {
    caller.Say(msg::OpenNoBrowser{.why = caller.Words(viewer.why_not), .until = ticket.until});
    caller.Print(Printable(ticket.Link()) + "\n");
    return kDone;
  }
  // The yard takes it away when the code has been used or is too old.
  const std::string file = caller.state.Opener(Sha256Hex(ticket.code));
  if (SysStatus written = WriteNewFileAt(AT_FDCWD, file.c_str(), PageThatLeadsTo(ticket.Link())); !written)
    return caller.Complain(
        {Code::kUnavailable, msg::OpenNotWritten{.path = file, .why = strerror(written.error())}, {}});
  StartDetached(viewer.program, file);
  caller.Say(msg::OpenInBrowser{});
  return kDone;
}

// The browser is on another machine, at the near end of a tunnel.
int TellTheWay(const Caller& caller, Ticket ticket, const std::string& tunnel) {
  ticket.url = "http://127.0.0.1" + ticket.url.substr(ticket.url.rfind(':'));
  caller.Say(msg::OpenTunnel{.line = tunnel});
  caller.Say(msg::OpenThen{.until = ticket.until});
  caller.Print(Printable(ticket.Link()) + "\n");
  return kDone;
}

int PrintJson(const Caller& caller, const Ticket& ticket, const std::string& tunnel) {
  caller.Print(json::serialize(json::object{
                   {"url", ticket.url},
                   {"link", ticket.Link()},
                   {"expires_at", FormatIso(ticket.until)},
                   {"tunnel", tunnel.empty() ? json::value(nullptr) : json::value(Printable(tunnel))}}) +
               "\n");
  return kDone;
}

int OpenPage(Caller& caller, const Invocation& invocation) {
  if (!invocation.words.empty())
    return caller.Complain(
        {Code::kInvalid, msg::CliNoWords{.command = "open", .word = invocation.words.front()}, {}});
  auto ticket = MintTicket(caller);
  if (!ticket) return caller.Complain(ticket.error());
  const std::string tunnel = TunnelLine(ticket->url);
  if (caller.json) return PrintJson(caller, *ticket, tunnel);
  if (invocation.Has("print")) {
    caller.Print(Printable(ticket->Link()) + "\n");
    return kDone;
  }
  return tunnel.empty() ? OpenHere(caller, *ticket) : TellTheWay(caller, *ticket, tunnel);
}

}  // namespace

const Command kOpenCommand = {"open", "", "cli.about_open", kOptions, OpenPage};

}  // namespace ty
