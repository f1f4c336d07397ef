// trainyard doctor: looks at all the yard rests on; each finding says what is right or the command that mends
// it. It starts nothing and needs no running yard.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <vector>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/facts.h"
#include "cli/files.h"
#include "cli/finding.h"
#include "cli/link.h"
#include "cli/outside.h"
#include "cli/start.h"
#include "cli/survival.h"
#include "msg/cli.h"
#include "msg/doctor.h"
#include "msg/home.h"
#include "posix/cgroups.h"
#include "posix/disks.h"
#include "posix/files.h"

namespace ty {
namespace {

namespace json = boost::json;

using Level = Finding::Level;

constexpr int64_t kLittleSpace = int64_t{2} << 30;

void LookAtConfig(const Caller& caller, std::vector<Finding>& findings) {
  if (caller.config.file.empty()) return;
  findings.push_back({"config", Level::kGood, msg::DoctorConfig{.file = caller.config.file}});
}

void LookAtState(const Caller& caller, std::vector<Finding>& findings) {
  const std::string& home = caller.state.home;
  if (home.empty()) {
    findings.push_back(
        {"state_folder", Level::kBad, msg::CliNoHome{}, "export TRAINYARD_HOME=/var/tmp/trainyard"});
    return;
  }
  // Of a folder that is yet to be made, the one above it tells.
  std::string there = home;
  while (!IsFolder(there) && there.size() > 1) there = ParentFolder(there);
  if (access(there.c_str(), R_OK | W_OK | X_OK) != 0) {
    findings.push_back({"state_folder", Level::kBad,
                        msg::CliHomeUnusable{.home = home, .why = strerror(errno)},
                        "ls -ld " + ShellQuote(there)});
    return;
  }
  if (IsReadOnlyDisk(Exists(caller.state.Log()) ? caller.state.Log() : there)) {
    findings.push_back({"state_folder", Level::kBad, msg::HomeReadOnly{.home = home}, "dmesg | tail -50"});
    return;
  }
  struct statfs disk {};
  if (statfs(there.c_str(), &disk) != 0) return;
  int64_t room = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_bsize);
  if (const std::string network = NetworkFileSystem(there); !network.empty())
    findings.push_back({"state_folder", Level::kBad, msg::DoctorNetwork{.home = home, .kind = network},
                        "export TRAINYARD_HOME=/var/tmp/trainyard-" + std::to_string(geteuid())});
  else if (room < kLittleSpace)
    findings.push_back({"state_folder", Level::kBad, msg::DoctorLittleSpace{.home = home, .room = room},
                        "df -h " + ShellQuote(there)});
  else
    findings.push_back({"state_folder", Level::kGood, msg::DoctorState{.home = home, .room = room}});
}

// Copies of the state file, whether the yard runs or not; what its checks found lies beside them.
void LookAtBackups(const Caller& caller, std::vector<Finding>& findings) {
  const std::string folder = caller.state.Backups();
  std::string newest, bad;
  for (const std::string& name : ListFolder(folder).value_or(std::vector<std::string>())) {
    if (name.rfind("yard-", 0) != 0) continue;
    if (name.ends_with(".db")) newest = name;
    if (name.ends_with(".db.bad")) bad = name;
  }
  // A newer one that passed means that the disk or the moment was at fault, not the state.
  if (!bad.empty() && bad > newest)
    findings.push_back({"backups", Level::kBad, msg::CliBadBackup{.path = folder + "/" + bad},
                        "trainyard down; trainyard recover"});
  else if (Exists(caller.state.Suspect()))
    findings.push_back(
        {"backups", Level::kNote, msg::DoctorSuspect{.path = caller.state.Database()}, "trainyard up"});
  else if (!newest.empty())
    findings.push_back({"backups", Level::kGood, msg::DoctorBackups{.path = folder + "/" + newest}});
}

// Gives what a running yard says about its devices; null otherwise.
json::value LookAtYard(Caller& caller, std::vector<Finding>& findings) {
  json::value devices;
  std::string containment;
  auto line = caller.state.home.empty() ? SysResult<HttpLine>(FailErrno(ENOENT))
                                        : HttpLine::Open(caller.state.Socket());
  if (line) {
    auto link = Link::Open(caller, Link::Need::kThere);
    auto status = link ? link->Get("/api/v1/status") : Result<json::value>(tl::unexpected(link.error()));
    if (!status) {
      findings.push_back({"daemon", Level::kBad, status.error().message, "trainyard down; trainyard up"});
    } else {
      findings.push_back({"daemon", Level::kGood,
                          msg::DoctorRunning{.pid = std::to_string(IntAt(*status, "pid").value_or(0)),
                                             .version = TextAt(*status, "version"),
                                             .url = TextAt(*status, "url")}});
      if (const std::string read_only = WordsAt(*status, "read_only"); !read_only.empty())
        findings.push_back(
            {"room", Level::kBad, msg::CliText{.text = read_only}, "df -h " + ShellQuote(caller.state.home)});
      for (const Message& stray : StraysOf(caller, *status))
        findings.push_back({"stray", Level::kBad, stray, kTakeStraysIn});
      containment = TextAt(*status, "containment");
      if (auto list = link->Get("/api/v1/devices")) devices = std::move(*list);
    }
  } else if (line.error() != ENOENT && line.error() != ECONNREFUSED && line.error() != ENOTDIR) {
    findings.push_back({"daemon", Level::kBad,
                        msg::CliUnreachable{.socket = caller.state.Socket(), .why = strerror(line.error())},
                        "ls -l " + ShellQuote(caller.state.Socket())});
  } else if (auto since = DownSince(caller.state)) {
    findings.push_back({"daemon", Level::kNote, msg::DoctorDown{.since = *since}, "trainyard up"});
  } else if (!caller.state.home.empty() && Exists(caller.state.Database())) {
    findings.push_back(
        {"daemon", Level::kBad, msg::DoctorCrashed{.log = caller.state.Log()}, "trainyard up"});
  } else {
    findings.push_back({"daemon", Level::kNote, msg::DoctorNeverUp{}, "trainyard up"});
  }
  if (containment.empty()) containment = Name(FindContainment());
  bool strong = containment == "cgroup2" || containment == "freezer";
  findings.push_back(
      {"containment", strong ? Level::kGood : Level::kNote,
       strong ? Message(msg::DoctorContained{.kind = containment}) : Message(msg::DoctorSubreaper{})});
  return devices;
}

void LookAtShim(std::vector<Finding>& findings) {
  std::string shim = ProgramFolder() + "/trainyard-shim";
  if (IsProgram(shim))
    findings.push_back({"shim", Level::kGood, msg::DoctorShim{.path = shim}});
  else
    findings.push_back({"shim", Level::kBad, msg::DoctorNoShim{.path = shim}});
}

void LookAtPython(std::vector<Finding>& findings) {
  std::string python = FindProgram("python3", Environment("PATH"), CurrentFolder());
  if (python.empty()) {
    findings.push_back({"python", Level::kNote, msg::DoctorNoPython{}, "sudo apt install python3"});
    return;
  }
  std::string seen =
      RunOutside({python, "-c",
                  "import sys,importlib.util as u\n"
                  "print('%d.%d.%d' % sys.version_info[:3], int(u.find_spec('torch') is not None))"})
          .text;
  size_t space = seen.find(' ');
  if (space == std::string::npos) {
    findings.push_back(
        {"python", Level::kBad, msg::DoctorPythonBroken{.path = python}, ShellQuote(python) + " -V"});
    return;
  }
  findings.push_back(
      {"python", Level::kGood, msg::DoctorPython{.version = seen.substr(0, space), .path = python}});
  if (seen.substr(space + 1) == "1")
    findings.push_back({"torch", Level::kGood, msg::DoctorTorch{.path = python}});
  else
    findings.push_back({"torch", Level::kNote, msg::DoctorNoTorch{.path = python},
                        ShellQuote(python) + " -m pip install torch"});
}

void LookAtMachine(std::vector<Finding>& findings) {
  cpu_set_t cpus;
  int cores = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus)
                                                            : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  struct sysinfo memory {};
  sysinfo(&memory);
  findings.push_back({"machine", Level::kGood,
                      msg::DoctorMachine{.cores = cores,
                                         .memory = static_cast<int64_t>(memory.totalram) * memory.mem_unit}});
}

void LookAtLogout(const Caller& caller, std::vector<Finding>& findings) {
  if (SurvivalOf(caller.state.home).logout)
    findings.push_back({"logout", Level::kGood, msg::DoctorLinger{}});
  else
    findings.push_back({"logout", Level::kNote, msg::DoctorNoLinger{}, "loginctl enable-linger"});
}

const char* LevelName(Level level) {
  return level == Level::kGood ? "good" : level == Level::kNote ? "note" : "bad";
}

std::vector<Finding> LookAtAll(Caller& caller) {
  std::vector<Finding> findings;
  LookAtConfig(caller, findings);
  LookAtState(caller, findings);
  json::value devices = LookAtYard(caller, findings);
  if (!caller.state.home.empty()) LookAtBackups(caller, findings);
  LookAtShim(findings);
  LookAtMachine(findings);
  LookAtGpus(devices.is_null() ? nullptr : &devices, findings);
  LookAtPython(findings);
  LookAtLogout(caller, findings);
  return findings;
}

std::string ToJson(const Caller& caller, const std::vector<Finding>& findings) {
  json::array items;
  for (const Finding& finding : findings)
    items.push_back({{"check", finding.check},
                     {"level", LevelName(finding.level)},
                     {"text", caller.Words(finding.text)},
                     {"mend", finding.mend.empty() ? json::value() : json::value(Printable(finding.mend))}});
  return json::serialize(json::object{{"items", items}, {"next", nullptr}});
}

void PrintFindings(const Caller& caller, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    bool good = finding.level == Level::kGood, bad = finding.level == Level::kBad;
    Paint paint = good ? Paint::kGreen : bad ? Paint::kRed : Paint::kYellow;
    caller.Print(caller.Painted(paint, good  ? "✓"
                                       : bad ? "✗"
                                             : "!") +
                 " " + caller.Words(finding.text) + "\n");
    if (!finding.mend.empty()) caller.Print("    " + Printable(finding.mend) + "\n");
  }
}

int Doctor(Caller& caller, const Invocation&) {
  const std::vector<Finding> findings = LookAtAll(caller);
  caller.json ? caller.Print(ToJson(caller, findings) + "\n") : PrintFindings(caller, findings);
  bool bad =
      std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.level == Level::kBad; });
  return bad ? kFailed : kDone;
}

}  // namespace

std::string FindingsJson(const std::string& home, const Config& config, Language language) {
  Caller caller;
  caller.state.home = home;
  caller.config = config;
  caller.language = language;
  return ToJson(caller, LookAtAll(caller));
}

const Command kDoctorCommand = {"doctor", "", "cli.about_doctor", {}, Doctor};

}  // namespace ty
