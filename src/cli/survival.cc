#include "cli/survival.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/files.h"
#include "cli/outside.h"
#include "msg/boot.h"
#include "msg/survival.h"
#include "posix/files.h"

namespace ty {
namespace {

std::string UserName() {
  const passwd* user = getpwuid(geteuid());
  return user ? user->pw_name : std::to_string(geteuid());
}

// Tests put a machine of their own before these paths.
std::string OfMachine(const std::string& path) {
  return Environment("TRAINYARD_SYSROOT") + path;
}

bool RunsSystemd() {
  return IsFolder(OfMachine("/run/systemd/system"));
}

bool Lingers() {
  return Exists(OfMachine("/var/lib/systemd/linger/") + UserName());
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = text.find_first_not_of(kBlank);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

// As systemd reads a yes or no; nothing for what it would pass over.
std::optional<bool> ReadSwitch(std::string_view text) {
  std::string word(text);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* yes : {"1", "yes", "y", "true", "t", "on"})
    if (word == yes) return true;
  for (const char* no : {"0", "no", "n", "false", "f", "off"})
    if (word == no) return false;
  return std::nullopt;
}

// What a file of logind's says of `key`, the last one that can be read.
std::optional<bool> SwitchIn(const std::string& file, std::string_view key) {
  const std::string text = ReadFile(file, 1 << 16).value_or("");
  std::optional<bool> said;
  bool login = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = Trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') login = line == "[Login]";
    const size_t equals = line.find('=');
    if (!login || equals == std::string_view::npos || Trimmed(line.substr(0, equals)) != key) continue;
    if (const auto value = ReadSwitch(Trimmed(line.substr(equals + 1)))) said = value;
  }
  return said;
}

// KillUserProcesses, as logind itself finds it: one logind.conf, that of the highest place, then the parts of
// all places by their names; of two with one name that of the higher place stands for both. Distributions
// build it off.
bool LogoutKills() {
  constexpr const char* kPlaces[] = {"/usr/lib", "/usr/local/lib", "/run", "/etc"};  // lowest first
  std::string whole;
  std::map<std::string, std::string> parts;
  for (const char* place : kPlaces) {
    const std::string file = OfMachine(std::string(place) + "/systemd/logind.conf");
    if (Exists(file)) whole = file;
    for (const std::string& name : ListFolder(file + ".d").value_or(std::vector<std::string>{}))
      if (name.ends_with(".conf")) parts[name] = file + ".d/" + name;
  }
  constexpr std::string_view kKey = "KillUserProcesses";
  bool kills = SwitchIn(whole, kKey).value_or(false);
  for (const auto& [name, file] : parts) kills = SwitchIn(file, kKey).value_or(kills);
  return kills;
}

// Its manager, and with it all that it started, ends with the last session of the user.
bool IsUnderUserManager(int pid) {
  const std::string process = pid > 0 ? std::to_string(pid) : "self";
  const std::string groups = ReadFile("/proc/" + process + "/cgroup", 1 << 16).value_or("");
  return groups.find("/user@") != std::string::npos;
}

void LookAtLogout(Survival& survival, int pid) {
  survival.logout = true;
  if (!RunsSystemd()) {
    survival.logout_why = msg::SurvivalNoSystemd{};
  } else if (Lingers()) {
    survival.logout_why = msg::SurvivalLingers{.user = UserName()};
  } else if (IsUnderUserManager(pid)) {
    survival.logout = false;
    survival.logout_why = msg::SurvivalUnderManager{.user = UserName()};
  } else if (geteuid() != 0 && LogoutKills()) {
    survival.logout = false;
    survival.logout_why = msg::SurvivalLogoutKills{.user = UserName()};
  } else {
    survival.logout_why = msg::SurvivalLeftAlone{};
  }
}

void LookAtReboot(Survival& survival, const std::string& home) {
  const BootUnit unit = BootUnit::Of(home);
  if (!RunsSystemd()) {
    survival.reboot_why = msg::SurvivalCron{};
  } else if (unit.folder.empty() || !Exists(unit.Link())) {
    survival.reboot_why = msg::SurvivalNoUnit{};
  } else if (!unit.of_machine && !Lingers()) {
    survival.reboot_why = msg::SurvivalUnitWaits{.unit = unit.name, .user = UserName()};
  } else {
    survival.reboot = true;
    survival.reboot_why = msg::SurvivalUnit{.unit = unit.name};
  }
}

// As systemd reads it back from a unit: a quoted word, percent and dollar as themselves.
std::string UnitQuote(std::string_view word, bool dollars) {
  std::string quoted = "\"";
  for (char c : word) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '%' || (c == '$' && dollars)) quoted += c;
    quoted += c;
  }
  return quoted + "\"";
}

// Replaces each @NAME@ of the template.
std::string Filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) {
    const std::string mark = "@" + name + "@";
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

// cron ends a command at a percent sign, quoted or not, unless a backslash is before it.
std::string CronLine(const Caller& caller, const std::string& program) {
  const std::string plain =
      "@reboot TRAINYARD_HOME=" + ShellQuote(caller.state.home) + " " + ShellQuote(program) + " up";
  std::string line;
  for (const char c : plain) {
    if (c == '%') line += '\\';
    line += c;
  }
  return "(crontab -l; echo " + ShellQuote(line) + ") | crontab -";
}

std::vector<std::string> Systemctl(const BootUnit& unit, std::vector<std::string> words) {
  words.insert(words.begin(), "systemctl");
  if (!unit.of_machine) words.insert(words.begin() + 1, "--user");
  return words;
}

// What it said when it failed.
std::optional<std::string> Trouble(const std::vector<std::string>& words) {
  const Said said = RunOutside(words, Said::Both::kYes);
  if (said.code == 0) return std::nullopt;
  return said.text.empty() ? "exit code " + std::to_string(said.code) : LastLine(said.text);
}

Status NoFile(const std::string& file, int error) {
  return Fail(Code::kConflict, msg::BootNoFile{.file = file, .why = strerror(error)});
}

}  // namespace

Survival SurvivalOf(const std::string& home, int pid) {
  Survival survival;
  LookAtLogout(survival, pid);
  LookAtReboot(survival, home);
  return survival;
}

BootUnit BootUnit::Of(const std::string& home) {
  BootUnit unit;
  unit.of_machine = geteuid() == 0;
  const std::string config = Environment("XDG_CONFIG_HOME"), user = Environment("HOME");
  if (unit.of_machine)
    unit.folder = OfMachine("/etc/systemd/system");
  else if (!config.empty() && config.front() == '/')
    unit.folder = config + "/systemd/user";
  else if (!user.empty())
    unit.folder = user + "/.config/systemd/user";
  // A second yard of the same user has a unit of its own.
  const bool usual = home == user + "/.local/state/trainyard";
  unit.name = usual ? "trainyard.service" : "trainyard-" + Sha256Hex(home).substr(0, 8) + ".service";
  return unit;
}

Status StartAtBoot(const Caller& caller, const std::string& config) {
  const std::string program = ProgramFolder() + "/trainyard";
  const BootUnit unit = BootUnit::Of(caller.state.home);
  if (!RunsSystemd() || unit.folder.empty())
    return Fail(Code::kConflict, msg::BootNoSystemd{.line = CronLine(caller, program)});

  const std::string source = ShareFolder() + "/trainyard.service";
  SysResult<std::string> text = ReadFile(source, 1 << 16);
  if (!text) return NoFile(source, text.error());
  std::string command = UnitQuote(program, true) + " up --foreground";
  if (!config.empty()) command += " --config " + UnitQuote(config, true);
  *text = Filled(std::move(*text), {{"COMMAND", command},
                                    {"STATE", UnitQuote("TRAINYARD_HOME=" + caller.state.home, false)},
                                    {"PATH", UnitQuote("PATH=" + Environment("PATH"), false)},
                                    {"TARGET", unit.of_machine ? "multi-user.target" : "default.target"}});
  if (SysStatus made = MakeFolders(unit.folder, 0755); !made) return NoFile(unit.folder, made.error());
  if (SysStatus written = ReplaceFile(unit.File(), *text); !written)
    return NoFile(unit.File(), written.error());
  for (const auto& words : {Systemctl(unit, {"daemon-reload"}), Systemctl(unit, {"enable", unit.name})}) {
    if (auto why = Trouble(words))
      return Fail(Code::kConflict, msg::BootToolFailed{.command = ShellQuote(words), .why = *why});
  }
  if (unit.of_machine || Lingers()) return {};
  // Without it the user's manager, and so the yard, would begin only when the user logs in.
  if (Trouble({"loginctl", "enable-linger"}))
    return Fail(Code::kConflict, msg::BootNoLinger{.unit = unit.name, .user = UserName()});
  return {};
}

Status NoStartAtBoot(const Caller& caller) {
  const BootUnit unit = BootUnit::Of(caller.state.home);
  if (unit.folder.empty() || (!Exists(unit.File()) && !Exists(unit.Link())))
    return Fail(Code::kConflict, msg::BootNone{});
  const auto disable = Systemctl(unit, {"disable", unit.name});
  if (auto why = Trouble(disable))
    return Fail(Code::kConflict, msg::BootToolFailedAway{.command = ShellQuote(disable), .why = *why});
  if (unlink(unit.File().c_str()) != 0 && errno != ENOENT) return NoFile(unit.File(), errno);
  (void)Trouble(
      Systemctl(unit, {"daemon-reload"}));  // the file is gone: what it still remembers goes with a reboot
  return {};
}

}  // namespace ty
