// CPU slots: the daemon's affinity mask cut into equal parts, the RAM divided by their number (contracts C6).
// A CPU quota of a cgroup is not counted: it slows all cores alike and takes none away.
#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "os/probe.h"

namespace ty {

namespace {

std::vector<int> OwnCpus() {
  // The mask may be longer than the fixed cpu_set_t: grown until the kernel is content.
  for (int cpus = CPU_SETSIZE; cpus <= (1 << 18); cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    const size_t size = CPU_ALLOC_SIZE(cpus);
    CPU_ZERO_S(size, set);
    std::vector<int> found;
    const bool read = sched_getaffinity(0, size, set) == 0;
    for (int cpu = 0; read && cpu < cpus; ++cpu) {
      if (CPU_ISSET_S(cpu, size, set)) found.push_back(cpu);
    }
    CPU_FREE(set);
    if (!found.empty()) return found;
  }
  return {0};
}

std::optional<int64_t> ReadLimit(const std::string& path) {
  std::string text;
  if (!std::getline(std::ifstream(path), text)) return std::nullopt;
  return ParseInt(text);  // "max" is not a number: no limit
}

// The smallest memory limit on the way from our cgroup to the root, of cgroup v2 and v1.
std::optional<int64_t> CgroupMemory() {
  std::optional<int64_t> least;
  auto take = [&](std::optional<int64_t> limit) {
    if (limit && *limit > 0 && (!least || *limit < *least)) least = limit;
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool v2 = controllers == ",,";
    if (!v2 && controllers.find(",memory,") == std::string::npos) continue;
    const std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const std::string file = v2 ? "/memory.max" : "/memory.limit_in_bytes";
    for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      if (path == "/") path.clear();
      take(ReadLimit(root + path + file));
      if (path.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

int64_t Memory() {
  int64_t bytes = 0;
  struct sysinfo info {};
  if (sysinfo(&info) == 0) bytes = static_cast<int64_t>(info.totalram) * info.mem_unit;
  const std::optional<int64_t> limit = CgroupMemory();
  return limit && (bytes == 0 || *limit < bytes) ? *limit : bytes;
}

class CpuProbe final : public DeviceProbe {
 public:
  explicit CpuProbe(const DeviceChoice& choice) : choice_(choice) {}
  Machine Find() override { return SplitCpus(OwnCpus(), Memory(), choice_); }

 private:
  DeviceChoice choice_;
};

}  // namespace

Machine SplitCpus(const std::vector<int>& cpus, int64_t memory, const DeviceChoice& choice) {
  Machine machine;
  const size_t count = cpus.size();
  const size_t slots = static_cast<size_t>(std::max(1, choice.cpu_slots));
  machine.cores = std::max<int>(1, static_cast<int>(count));
  machine.memory = memory;
  const size_t each = std::max<size_t>(1, count / slots);
  for (size_t slot = 0; slot < slots; ++slot) {
    Device device;
    device.id = "cpu:" + std::to_string(slot);
    device.kind = Device::Kind::kCpuSlot;
    device.index = static_cast<int>(slot);
    device.label = device.id;
    device.name = "CPU slot " + std::to_string(slot);
    device.memory = memory / static_cast<int64_t>(slots);
    for (size_t i = 0; i < each && count > 0; ++i) device.cpus.push_back(cpus[(slot * each + i) % count]);
    machine.devices.push_back(std::move(device));
  }
  return machine;
}

std::unique_ptr<DeviceProbe> MakeCpuProbe(const DeviceChoice& choice) {
  return std::make_unique<CpuProbe>(choice);
}

}  // namespace ty
