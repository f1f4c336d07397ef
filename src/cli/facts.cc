#include "cli/facts.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <vector>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/device_text.h"
#include "cli/survival.h"
#include "msg/cli.h"
#include "msg/containment.h"
#include "msg/stray.h"

namespace ty {
namespace {

namespace json = boost::json;

std::string UserName() {
  const passwd* user = getpwuid(geteuid());
  return user ? user->pw_name : Environment("USER");
}

std::string DevicesOf(const Caller& caller, const json::value& status) {
  struct Group {
    std::string name;  // empty: CPU slots, which their labels say all about
    std::vector<std::string> labels;
  };
  std::vector<Group> groups;
  int64_t out = 0;
  for (const json::value& device : ItemsAt(status, "devices")) {
    std::string name = TextAt(device, "kind") == "cpu" ? std::string() : TextAt(device, "name");
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{name, {}});
    group->labels.push_back(LabelOf(device));
    if (!FlagAt(device, "usable")) ++out;
  }
  if (groups.empty()) return caller.Words(msg::CliNoDevices{});
  std::string text;
  for (const Group& group : groups) {
    std::string labels = LabelsText(group.labels, ", ");
    text += (text.empty() ? "" : "; ") +
            (group.name.empty()
                 ? Printable(labels)
                 : caller.Words(msg::CliFactsGpus{.count = static_cast<int64_t>(group.labels.size()),
                                                  .name = group.name,
                                                  .labels = labels}));
  }
  if (out > 0) text += "; " + caller.Words(msg::CliFactsOut{.count = out});
  return text;
}

std::string WithReason(const Caller& caller, const Message& fact, const Message& why) {
  return caller.Words(msg::CliFactBecause{.fact = caller.Words(fact), .why = caller.Words(why)});
}

}  // namespace

std::string TunnelLine(const std::string& url) {
  std::string connection = Environment("SSH_CONNECTION");  // client address, port, server address, port
  std::vector<std::string> words;
  for (size_t start = 0; start < connection.size();) {
    size_t end = std::min(connection.find(' ', start), connection.size());
    if (end > start) words.push_back(connection.substr(start, end - start));
    start = end + 1;
  }
  size_t colon = url.rfind(':');
  if (words.size() != 4 || colon == std::string::npos) return {};
  std::string port = url.substr(colon + 1, url.find('/', colon) - colon - 1);
  const std::string host = url.find('[') == std::string::npos ? "127.0.0.1" : "[::1]";
  std::string line = "ssh -L " + port + ":" + host + ":" + port + " ";
  if (words[3] != "22") line += "-p " + words[3] + " ";
  return line + UserName() + "@" + words[2];
}

std::vector<Message> StraysOf(const Caller& caller, const json::value& status) {
  std::vector<Message> strays;
  for (const json::value& stray : ItemsAt(status, "strays")) {
    std::string devices;
    for (const json::value& device : ItemsAt(stray, "devices"))
      devices += (devices.empty() ? "" : ", ") + std::string(device.as_string());
    strays.push_back(msg::StrayRuns{.run = TextAt(stray, "run"),
                                    .task = std::to_string(IntAt(stray, "task").value_or(0)),
                                    .devices = devices.empty() ? caller.Words(msg::StrayNoDevice{}) : devices,
                                    .command = Printable(TextAt(stray, "command"))});
  }
  return strays;
}

void SayTroubleOfState(const Caller& caller, const json::value& status) {
  const std::string read_only = WordsAt(status, "read_only"), bad = TextAt(status, "bad_backup");
  if (!read_only.empty()) caller.Note(msg::CliText{.text = read_only});
  if (!bad.empty()) caller.Note(msg::CliBadBackup{.path = bad});
  const std::vector<Message> strays = StraysOf(caller, status);
  for (const Message& stray : strays) caller.Note(stray);
  if (!strays.empty()) caller.Note(msg::CliText{.text = std::string("    ") + kTakeStraysIn});
  const int64_t aside = static_cast<int64_t>(ItemsAt(status, "put_aside").size());
  if (aside > 0)
    caller.Note(msg::StrayPutAside{.count = aside, .folder = caller.state.Attempts() + "/.quarantine"});
}

std::string ContainmentText(const Caller& caller, const json::value& status) {
  const std::string kind = TextAt(status, "containment");
  return caller.Words(kind == "subreaper" ? Message(msg::ContainmentWeak{.kind = kind})
                                          : Message(msg::ContainmentFull{.kind = kind}));
}

void PrintFacts(const Caller& caller, const json::value& status) {
  struct Row {
    Message title;
    std::string text;
  };
  std::string url = TextAt(status, "url");
  const Survival survival =
      SurvivalOf(TextAt(status, "home"), static_cast<int>(IntAt(status, "pid").value_or(0)));
  std::vector<Row> rows = {
      {msg::CliFactAddress{}, url.empty() ? caller.Words(msg::CliFactNoAddress{}) : Printable(url)},
      {msg::CliFactDevices{}, DevicesOf(caller, status)},
      {msg::CliFactState{}, Printable(TextAt(status, "home"))},
      {msg::ContainmentTitle{}, ContainmentText(caller, status)},
      {msg::CliFactLogout{},
       WithReason(caller,
                  survival.logout ? Message(msg::CliFactLogoutYes{}) : Message(msg::CliFactLogoutNo{}),
                  survival.logout_why)},
      {msg::CliFactReboot{},
       WithReason(caller,
                  survival.reboot ? Message(msg::CliFactRebootYes{}) : Message(msg::CliFactRebootNo{}),
                  survival.reboot_why)},
  };
  int wide = 0;
  for (const Row& row : rows) wide = std::max(wide, DisplayWidth(caller.Words(row.title)));
  std::string tunnel = TunnelLine(url);
  for (const Row& row : rows) {
    std::string title = caller.Words(row.title);
    std::string space(static_cast<size_t>(wide - DisplayWidth(title)) + 2, ' ');
    caller.Print("  " + title + space + row.text + "\n");
    if (&row == &rows.front() && !tunnel.empty())
      caller.Print("  " + std::string(static_cast<size_t>(wide) + 2, ' ') +
                   caller.Words(msg::CliFactTunnel{.line = tunnel}) + "\n");
  }
}

}  // namespace ty
