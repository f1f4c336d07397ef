#include <grp.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/device_text.h"
#include "cli/finding.h"
#include "msg/cli.h"
#include "msg/doctor.h"
#include "posix/files.h"

namespace ty {
namespace {

namespace json = boost::json;
using Level = Finding::Level;

constexpr const char* kKernelSays = "sudo dmesg | grep -i -e NVRM -e Xid";

int CountNvidiaOnBus() {
  const std::string bus = "/sys/bus/pci/devices";
  auto devices = ListFolder(bus);
  int count = 0;
  if (!devices) return count;
  for (const std::string& device : *devices) {
    auto vendor = ReadFile(bus + "/" + device + "/vendor", 64),
         kind = ReadFile(bus + "/" + device + "/class", 64);
    if (vendor && kind && vendor->rfind("0x10de", 0) == 0 && kind->rfind("0x03", 0) == 0) ++count;
  }
  return count;
}

// "/dev/nvidia0", …
std::vector<std::string> Nodes() {
  std::vector<std::string> nodes;
  if (auto names = ListFolder("/dev"))
    for (const std::string& name : *names)
      if (name.rfind("nvidia", 0) == 0 && name.size() > 6 &&
          name.find_first_not_of("0123456789", 6) == std::string::npos)
        nodes.push_back("/dev/" + name);
  return nodes;
}

void LookAtBus(std::vector<Finding>& findings) {
  int nodes = static_cast<int>(Nodes().size()), on_bus = CountNvidiaOnBus();
  if (nodes > 0 && Exists("/proc/driver/nvidia/version"))
    findings.push_back({"gpus", Level::kGood, msg::DoctorGpus{.count = nodes}});
  else if (nodes > 0 || on_bus > 0)
    findings.push_back(
        {"gpus", Level::kBad, msg::DoctorGpusNoDriver{.count = std::max(nodes, on_bus)}, "nvidia-smi"});
  else
    findings.push_back({"gpus", Level::kGood, msg::DoctorNoGpus{}});
}

// "debian" of ID=debian in /etc/os-release.
std::string Distribution() {
  auto text = ReadFile("/etc/os-release", 65536);
  size_t at = text ? ("\n" + *text).find("\nID=") : std::string::npos;
  if (at == std::string::npos) return {};
  std::string id = text->substr(at + 3, text->find('\n', at) - at - 3);
  id.erase(std::remove(id.begin(), id.end(), '"'), id.end());
  return id;
}

// The group whose members may open the cards, when that is what keeps us out: root:video 0660.
std::string GroupOfNodes() {
  for (const std::string& node : Nodes()) {
    struct stat seen {};
    if (stat(node.c_str(), &seen) != 0 || seen.st_gid == 0 || (seen.st_mode & S_IWGRP) == 0) continue;
    if (const group* owner = getgrgid(seen.st_gid)) return owner->gr_name;
  }
  return {};
}

// The yard's own sentence, which names what it is about.
Message ReasonOf(const json::value& holder, const std::string& without) {
  std::string reason = WordsAt(holder, "reason");
  return msg::CliText{.text = reason.empty() ? without : reason};
}

struct Gpus {
  int64_t all = 0, usable = 0;
};

Gpus CountGpus(const json::array& devices) {
  Gpus gpus;
  for (const json::value& device : devices) {
    const json::value* reading = At(device, "reading");
    const bool absent = reading && TextAt(*reading, "health") == "absent";  // a number without a card
    if (TextAt(device, "kind") == "cpu" || absent) continue;
    gpus.all++;
    gpus.usable += FlagAt(device, "usable");
  }
  return gpus;
}

// What a driver that answers has to give out. What keeps a card back is told for each.
Finding WhatThereIs(const json::value& probe, const Gpus& gpus) {
  const std::string driver = TextAt(probe, "driver"), cuda = TextAt(probe, "cuda");
  if (gpus.all == 0)
    return {"gpus", Level::kNote, msg::DoctorGpusUnlisted{.driver = driver, .cuda = cuda}, "nvidia-smi"};
  if (gpus.usable == gpus.all)
    return {"gpus", Level::kGood, msg::DoctorGpusRead{.count = gpus.all, .driver = driver, .cuda = cuda}};
  return {"gpus", gpus.usable > 0 ? Level::kGood : Level::kNote,
          msg::DoctorGpusSome{.usable = gpus.usable, .all = gpus.all, .driver = driver, .cuda = cuda}};
}

// The yard reads no GPU: which is fine only where there is none.
void AddProbe(const json::value& probe, const Gpus& gpus, std::vector<Finding>& findings) {
  std::string state = TextAt(probe, "state");
  if (state == "none") {
    findings.push_back({"gpus", Level::kGood, msg::DoctorNoGpus{}});
  } else if (state == "good") {
    findings.push_back(WhatThereIs(probe, gpus));
  } else {
    findings.push_back(
        {"gpus", Level::kBad, ReasonOf(probe, state), MendOfProbe(state, Distribution(), GroupOfNodes())});
  }
}

// What mends it before it is given back, as far as a command can.
std::string MendOfQuarantine(const json::value& device, const std::string& release) {
  const json::value* reason = At(device, "reason");
  const std::string why = reason ? TextAt(*reason, "id") : std::string();
  if (why == "device.unkillable") return {};  // it comes back with the end of that process
  const std::string id = TextAt(device, "id");
  const bool reset = why == "device.memory_held" || why == "device.ecc";
  // A slice has no reset of its own.
  if (!reset || !id.starts_with("GPU-")) return release;
  return "sudo nvidia-smi --gpu-reset -i " + id + " && " + release;
}

void AddDevice(const json::value& device, bool probed, std::vector<Finding>& findings) {
  if (FlagAt(device, "usable")) return;
  std::string state = TextAt(device, "state"), label = LabelOf(device);
  Message text = ReasonOf(device, label + ": " + state);
  const std::string release = "trainyard devices release " + ShellQuote(label);
  if (state == "quarantined")
    findings.push_back({"device", Level::kBad, text, MendOfQuarantine(device, release)});
  else if (state == "lost")
    findings.push_back({"device", Level::kBad, text, kKernelSays});
  else if (state == "held")
    findings.push_back({"device", Level::kNote, text, release});
  else if (state == "foreign")
    findings.push_back({"device", Level::kNote, text, release});
  else if (state != "unknown" || probed)  // what the probe cannot read has been told once
    findings.push_back({"device", Level::kNote, text});
}

}  // namespace

std::string MendOfProbe(std::string_view state, const std::string& distribution, const std::string& group) {
  if (state == "mismatch") return "sudo reboot";
  if (state == "no_permission")
    return group == "video" || group == "render" ? "sudo usermod -aG " + group + " $USER"
                                                 : "ls -l /dev/nvidia*";
  if (state == "no_library") {
    if (distribution == "ubuntu") return "sudo ubuntu-drivers install";
    return distribution == "debian" ? "sudo apt install nvidia-driver" : "ldconfig -p | grep libnvidia-ml";
  }
  if (state == "no_driver") return "sudo modprobe nvidia";
  if (state == "hanging" || state == "crashed") return kKernelSays;
  return "nvidia-smi";
}

void LookAtGpus(const json::value* devices, std::vector<Finding>& findings) {
  const json::value* probe = devices ? At(*devices, "probe") : nullptr;
  if (!probe) return LookAtBus(findings);
  const json::array& items = ItemsAt(*devices, "items");
  AddProbe(*probe, CountGpus(items), findings);
  for (const json::value& device : items) AddDevice(device, TextAt(*probe, "state") == "good", findings);
}

}  // namespace ty
