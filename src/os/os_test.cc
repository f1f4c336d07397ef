#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <numeric>
#include <optional>

#include "os/clock.h"
#include "os/device_watch.h"
#include "os/ports.h"
#include "os/probe.h"
#include "posix/fd.h"

namespace ty {
namespace {

std::string Slots(std::string_view text) {
  Result<DeviceChoice> choice = DeviceChoice::Parse(text);
  if (!choice) return choice.error().message.id + " " + choice.error().field;
  if (choice->kind != DeviceChoice::Kind::kGpu) return std::to_string(choice->cpu_slots);
  std::string text_of_gpus = "gpu";
  for (const int gpu : choice->gpus) text_of_gpus += " " + std::to_string(gpu);
  return text_of_gpus;
}

TEST(DeviceChoice, ReadsNumbersOfCpuSlots) {
  EXPECT_EQ(Slots(""), "1");
  EXPECT_EQ(Slots("cpu:1"), "1");
  EXPECT_EQ(Slots("cpu:4096"), "4096");
}

TEST(DeviceChoice, ReadsNumbersOfGpus) {
  EXPECT_EQ(Slots("gpu"), "gpu");
  EXPECT_EQ(Slots("gpu:0"), "gpu 0");
  EXPECT_EQ(Slots("gpu:2,0,11"), "gpu 2 0 11");
  EXPECT_EQ(DeviceChoice::Parse("")->kind, DeviceChoice::Kind::kAuto);
  EXPECT_EQ(DeviceChoice::Parse("cpu:2")->kind, DeviceChoice::Kind::kCpu);
}

TEST(DeviceChoice, RefusesNumbersOfGpusThatCannotBe) {
  for (const char* text :
       {"gpu:", "gpu:x", "gpu:-1", "gpu:0,", "gpu:,0", "gpu:0,0", "gpu:0-3", "gpu:1024", "gpu: 0"})
    EXPECT_EQ(Slots(text), "devices.gpu_numbers /devices") << text;
}

TEST(DeviceChoice, RefusesAllElseNamingTheField) {
  for (const char* text :
       {"cpu:0", "cpu:-1", "cpu:4097", "cpu:", "cpu:two", "cpu:1.5", "cpu:99999999999999999999"}) {
    EXPECT_EQ(Slots(text), "devices.slots_range /devices") << text;
  }
  for (const char* text : {"gpus", "cpu", "2", "CPU:2", " cpu:2", "cuda:0"})
    EXPECT_EQ(Slots(text), "devices.unknown /devices") << text;
}

std::string Cut(int cpus, int slots) {
  std::vector<int> all(cpus);
  std::iota(all.begin(), all.end(), 10);
  std::string text;
  for (const Device& device : SplitCpus(all, 1000, DeviceChoice{slots}).devices) {
    text += (text.empty() ? "" : " ") + device.id + "=";
    for (size_t i = 0; i < device.cpus.size(); ++i) text += (i ? "," : "") + std::to_string(device.cpus[i]);
  }
  return text;
}

TEST(SplitCpus, GivesEachSlotAnEqualShare) {
  EXPECT_EQ(Cut(4, 1), "cpu:0=10,11,12,13");
  EXPECT_EQ(Cut(4, 2), "cpu:0=10,11 cpu:1=12,13");
  EXPECT_EQ(Cut(5, 2), "cpu:0=10,11 cpu:1=12,13") << "the odd one is nobody's";
}

TEST(SplitCpus, SharesCpusRoundRobinWhenThereAreMoreSlots) {
  EXPECT_EQ(Cut(2, 5), "cpu:0=10 cpu:1=11 cpu:2=10 cpu:3=11 cpu:4=10");
}

TEST(SplitCpus, DividesTheMemory) {
  const Machine machine = SplitCpus({0, 1}, 1000, DeviceChoice{4});
  EXPECT_EQ(machine.memory, 1000);
  EXPECT_EQ(machine.cores, 2);
  for (const Device& device : machine.devices) EXPECT_EQ(device.memory, 250);
}

TEST(CpuProbe, FindsTheCpusThisProcessMayUse) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const Machine all = MakeCpuProbe(DeviceChoice{1})->Find();
  EXPECT_EQ(all.cores, CPU_COUNT(&before));
  EXPECT_GT(all.memory, 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Machine pinned = MakeCpuProbe(DeviceChoice{2})->Find();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(pinned.cores, 1);
  ASSERT_EQ(pinned.devices.size(), 2u);
  EXPECT_EQ(pinned.devices[1].cpus, std::vector<int>{first});
}

TEST(Xids, AreSortedIntoFaultsOfProgramsOfCardsAndNone) {
  for (const int64_t xid : {13, 31, 43, 45, 68, 69, 94, 109})
    EXPECT_EQ(ClassOfXid(xid), XidClass::kApplication) << xid;
  for (const int64_t xid : {48, 62, 64, 74, 79, 95, 119, 120, 140})
    EXPECT_EQ(ClassOfXid(xid), XidClass::kHardware) << xid;
  for (const int64_t xid : {63, 92, 154}) EXPECT_EQ(ClassOfXid(xid), XidClass::kHarmless) << xid;
  EXPECT_EQ(ClassOfXid(99999), XidClass::kApplication) << "an unknown one takes no card out";
}

// A listener on a port that the kernel chose.
class Listener {
 public:
  explicit Listener(in_addr_t address) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(address);
    socklen_t length = sizeof name;
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(listen(socket_.get(), 1), 0);
    EXPECT_EQ(getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&name), &length), 0);
    port_ = ntohs(name.sin_port);
  }
  int port() const { return port_; }

 private:
  UniqueFd socket_;
  int port_ = 0;
};

TEST(Ports, AreNotFreeWhileSomebodyListens) {
  for (const in_addr_t address : {in_addr_t{INADDR_LOOPBACK}, in_addr_t{INADDR_ANY}}) {
    std::optional<Listener> listener(address);
    const int port = listener->port();
    EXPECT_FALSE(PortIsFree(port));
    listener.reset();
    EXPECT_TRUE(PortIsFree(port));
    EXPECT_TRUE(PortIsFree(port)) << "asking takes nothing";
  }
  EXPECT_FALSE(PortIsFree(0));
  EXPECT_FALSE(PortIsFree(65536));
}

TEST(SystemClock, TellsTheTimeOfTheWallClock) {
  SystemClock clock;
  const Time first = clock.Now();
  EXPECT_LE(first, clock.Now());
  EXPECT_GT(first, FromNanos(1'600'000'000'000'000'000));
}

TEST(SystemClock, IsNotAheadOfTheWallClockUntilThatIsSet) {
  SystemClock clock;
  EXPECT_EQ(clock.Ahead(), Duration{});
}

}  // namespace
}  // namespace ty
