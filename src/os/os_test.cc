#include <gtest/gtest.h>
#include <sched.h>

#include <numeric>
#include <set>

#include "os/clock.h"
#include "os/probe.h"

namespace ty {
namespace {

std::string Slots(std::string_view text) {
  Result<DeviceChoice> choice = DeviceChoice::Parse(text);
  if (choice) return std::to_string(choice->cpu_slots);
  return choice.error().message.id + " " + choice.error().field;
}

TEST(DeviceChoice, ReadsNumbersOfCpuSlots) {
  EXPECT_EQ(Slots(""), "1");
  EXPECT_EQ(Slots("cpu:1"), "1");
  EXPECT_EQ(Slots("cpu:4096"), "4096");
}

TEST(DeviceChoice, RefusesAllElseNamingTheField) {
  for (const char* text :
       {"cpu:0", "cpu:-1", "cpu:4097", "cpu:", "cpu:two", "cpu:1.5", "cpu:99999999999999999999"}) {
    EXPECT_EQ(Slots(text), "devices.slots_range /devices") << text;
  }
  for (const char* text : {"gpu:1", "cpu", "2", "CPU:2", " cpu:2"})
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

TEST(SystemClock, TellsTheTimeOfTheWallClock) {
  SystemClock clock;
  const Time first = clock.Now();
  EXPECT_LE(first, clock.Now());
  EXPECT_GT(first, FromNanos(1'600'000'000'000'000'000));
}

}  // namespace
}  // namespace ty
