#include "sched/sched.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "testing/scenario.h"

namespace ty {
namespace {

TEST(Scheduler, HoldsBigTaskUntilBothDevicesAreFree) {
  Scenario yard("2xcpu", "small: 1 gpu, running", "big: 2 gpu");
  EXPECT_EQ(yard.Starts(), "");
  yard.Finish("small");
  EXPECT_EQ(yard.Starts(), "big");
  EXPECT_EQ(yard.Holds("big"), "cpu:0 cpu:1");
  yard.ExpectNothingElse();
}

TEST(Scheduler, StartsByPriorityThenAge) {
  Scenario yard("1xcpu", "old: 1 gpu", "young: 1 gpu", "urgent: 1 gpu, priority high",
                "later: 1 gpu, priority low");
  for (const char* name : {"urgent", "old", "young", "later"}) {
    EXPECT_EQ(yard.Starts(), name);
    yard.Finish(name);
  }
  yard.ExpectNothingElse();
}

TEST(Scheduler, GivesEachDeviceOnceAndInOrder) {
  Scenario yard("3xcpu", "a: 1 gpu", "b: 2 gpu", "c: 1 gpu");
  EXPECT_EQ(yard.Starts(), "a, b");
  EXPECT_EQ(yard.Holds("a"), "cpu:0");
  EXPECT_EQ(yard.Holds("b"), "cpu:1 cpu:2");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "c");
  EXPECT_EQ(yard.Holds("c"), "cpu:0");
}

// kubernetes-sigs/kueue#8309, justanhduc/task-spooler#60
TEST(Scheduler, LetsACpuTaskPassAHeadThatNeedsDevices) {
  Scenario yard("2xh200, 4 cores", "holder: 1 gpu, running", "head: 2 gpu", "prep: 0 gpu, 2 cpus");
  EXPECT_EQ(yard.Starts(), "prep");
  EXPECT_EQ(yard.Holds("prep"), "cores");
  yard.ExpectNothingElse();
}

TEST(Scheduler, CountsCoresOfTasksWithoutADevice) {
  Scenario yard("1xcpu, 4 cores", "a: 0 gpu, 3 cpus", "b: 0 gpu, 2 cpus", "c: 0 gpu, 1 cpus",
                "d: 1 gpu, 4 cpus");
  EXPECT_EQ(yard.Starts(), "a, c, d") << "a device's cores are its own";
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "b");
}

TEST(Scheduler, ElasticTaskTakesTheMostThatIsFreeOfItsCounts) {
  Scenario yard("4xcpu", "one: 1 gpu, running", "elastic: {1,2,4} gpu", "after: 1 gpu");
  EXPECT_EQ(yard.Starts(), "elastic, after");
  EXPECT_EQ(yard.Holds("elastic"), "cpu:1 cpu:2");
}

TEST(Scheduler, PausedQueueStartsNothing) {
  Scenario yard("2xcpu", "a: 1 gpu");
  yard.Pause(true);
  EXPECT_EQ(yard.Starts(), "");
  EXPECT_EQ(yard.Why("a"), "why.paused()");
  yard.Pause(false);
  EXPECT_EQ(yard.Starts(), "a");
}

// Case 71: a steady stream of small tasks must not starve a wide one.
TEST(Scheduler, KeepsFreedDevicesForATaskPassedOverFiftyTimes) {
  Scenario yard("8xh200");
  for (int i = 0; i < 8; ++i) yard.Add("s" + std::to_string(i) + ": 1 gpu");
  yard.Starts();
  yard.Add("wide: 8 gpu");
  int passed = 0;
  for (int i = 0; i < 200 && yard.Holds("wide").empty(); ++i) {
    yard.Add("s" + std::to_string(i + 8) + ": 1 gpu");
    if (!yard.Holds("s" + std::to_string(i)).empty()) yard.Finish("s" + std::to_string(i));
    const std::string started = yard.Starts();
    if (started != "wide" && !started.empty()) ++passed;
  }
  EXPECT_EQ(yard.Holds("wide").size(), std::string("GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7").size());
  EXPECT_EQ(passed, 50);
}

TEST(Scheduler, KeepsFreedDevicesAfterTenMinutes) {
  Scenario yard("2xh200", "a: 1 gpu, running", "wide: 2 gpu", "b: 1 gpu");
  EXPECT_EQ(yard.Starts(), "b");
  yard.Pass(minutes(9));
  yard.Finish("b");
  yard.Add("c: 1 gpu");
  EXPECT_EQ(yard.Starts(), "c");
  yard.Pass(minutes(1));
  yard.Finish("c");
  yard.Add("d: 1 gpu");
  EXPECT_EQ(yard.Starts(), "") << "nine and one minutes passed over: the device is kept";
  EXPECT_EQ(yard.Why("d"), "why.kept_for(free=1, task=2 (wide))");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "wide");
  yard.Finish("wide");
  EXPECT_EQ(yard.Starts(), "d");
}

TEST(Scheduler, WhatIsKeptIsKeptOnlyAgainstThoseBehind) {
  Scenario yard("2xh200", "a: 1 gpu, running", "wide: 2 gpu", "b: 1 gpu");
  EXPECT_EQ(yard.Starts(), "b");
  yard.Pass(minutes(10));
  yard.Finish("b");
  yard.Add("urgent: 1 gpu, priority high");
  EXPECT_EQ(yard.Starts(), "urgent");
}

TEST(Scheduler, ABrokenDeviceDoesNotHoldUpTheYard) {
  Scenario yard("2xh200", "wide: 2 gpu", "b: 1 gpu");
  yard.Break("GPU1");
  EXPECT_EQ(yard.Starts(), "b");
  yard.Pass(minutes(11));
  yard.Finish("b");
  yard.Add("c: 1 gpu");
  EXPECT_EQ(yard.Why("wide"), "why.devices_out(want=2, usable=1, all=2)");
  EXPECT_EQ(yard.Starts(), "c") << "nothing is kept for a task that cannot start on what works";
  yard.Finish("c");
  yard.Mend("GPU1");
  EXPECT_EQ(yard.Starts(), "wide");
}

TEST(Scheduler, OneBehindInTheSameNeedInheritsTheWait) {
  Scenario yard("2xh200", "a: 1 gpu, running", "wide: 2 gpu", "wide2: 2 gpu", "b: 1 gpu");
  EXPECT_EQ(yard.Starts(), "b");
  yard.Pass(minutes(10));
  yard.Finish("b");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "wide");
  yard.Finish("wide");
  yard.Add("c: 1 gpu");
  EXPECT_EQ(yard.Starts(), "wide2");
  yard.ExpectNothingElse();
}

TEST(Scheduler, AReservationOutlivesANewcomerOfTheSameNeed) {
  Scenario yard("2xh200", "a: 1 gpu, running", "wide: 2 gpu", "b: 1 gpu");
  EXPECT_EQ(yard.Starts(), "b");
  yard.Pass(minutes(10));
  yard.Add("rush: 2 gpu, priority high");
  yard.Finish("b");
  yard.Add("c: 1 gpu");
  EXPECT_EQ(yard.Starts(), "") << "wide is still owed, though rush goes first";
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "rush");
  yard.Finish("rush");
  EXPECT_EQ(yard.Starts(), "wide");
}

TEST(Scheduler, CoresAreKeptForATaskPassedOver) {
  Scenario yard("1xcpu, 4 cores", "a: 0 gpu, 2 cpus, running", "wide: 0 gpu, 4 cpus", "b: 0 gpu, 2 cpus");
  EXPECT_EQ(yard.Starts(), "b");
  yard.Pass(minutes(10));
  yard.Finish("b");
  yard.Add("c: 0 gpu, 1 cpus");
  yard.Add("d: 1 gpu");
  EXPECT_EQ(yard.Starts(), "d");
  EXPECT_EQ(yard.Why("c"), "why.cores_kept_for(free=2, task=2 (wide))");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "wide");
}

TEST(Scheduler, DeviceTasksAreNotPassedOverByCpuTasks) {
  Scenario yard("1xcpu, 4 cores", "a: 1 gpu, running", "b: 1 gpu");
  for (int i = 0; i < 60; ++i) {
    const std::string name = "p" + std::to_string(i);
    yard.Add(name + ": 0 gpu");
    EXPECT_EQ(yard.Starts(), name);
    yard.Finish(name);
  }
  EXPECT_EQ(yard.ready().device_lines().at(1).Passed({INT64_MIN, {}}).starts, 0);
}

// Case 74: Slurm 4be3edd4b4.
TEST(Scheduler, TheNewestPriorityWins) {
  Scenario yard("1xcpu", "holder: 1 gpu, running", "a: 1 gpu", "b: 1 gpu");
  yard.Prioritise("b", 100);
  EXPECT_EQ(yard.Starts(), "");
  yard.Prioritise("a", 200);
  yard.Prioritise("b", -100);
  yard.Finish("holder");
  EXPECT_EQ(yard.Starts(), "a");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "b");
}

TEST(Scheduler, SkipsWhatIsHeldAndStartsItWhenReleased) {
  Scenario yard("1xcpu", "a: 1 gpu, held", "b: 1 gpu");
  EXPECT_EQ(yard.Starts(), "b");
  EXPECT_EQ(yard.Why("a"), "why.held(task=1)");
  yard.Release("a");
  yard.Finish("b");
  EXPECT_EQ(yard.Starts(), "a");
}

TEST(Scheduler, FollowsDependencies) {
  Scenario yard("2xcpu", "a: 1 gpu", "b: 1 gpu, after a", "c: 1 gpu, after b:any",
                "d: 1 gpu, after a, after b");
  EXPECT_EQ(yard.Starts(), "a");
  EXPECT_EQ(yard.Why("b"), "why.after_ok_running(task=1 (a))");
  EXPECT_EQ(yard.Why("c"), "why.after_any_waiting(task=2 (b))");
  EXPECT_EQ(yard.Why("d"), "why.after_many(count=2, tasks=1 (a), 2 (b))");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "b");
  yard.Finish("b", false);
  EXPECT_EQ(yard.Starts(), "c");
  yard.ExpectNothingElse();
}

TEST(Explain, NamesWhoHoldsTheDevicesAndWhatWouldFreeThem) {
  Scenario yard("2xh200", "train: 1 gpu, running", "big: 2 gpu", "bigger: 2 gpu");
  yard.Starts();
  EXPECT_EQ(yard.Why("big"), "why.gpus(want=2, free=1, held=1, holders=1, names=1 (train), missing=1)");
  EXPECT_EQ(yard.Why("bigger"),
            "why.gpus_behind(want=2, free=1, held=1, holders=1, names=1 (train), missing=1, ahead=1)");
}

TEST(Explain, SaysSlotsWhereDevicesAreCpuSlots) {
  Scenario yard("1xcpu", "train: 1 gpu, running", "next: 1 gpu");
  EXPECT_EQ(yard.Explained("next").id, "why.slots");
}

TEST(Explain, CountsCores) {
  Scenario yard("1xcpu, 2 cores", "a: 0 gpu, 2 cpus, running", "b: 0 gpu", "c: 0 gpu, 3 cpus");
  EXPECT_EQ(yard.Why("b"), "why.cores(want=1, free=0, all=2)");
  EXPECT_EQ(yard.Why("c"), "why.cores_few(want=3, all=2)");
}

TEST(Explain, TellsTimesToCome) {
  Scenario yard("1xcpu");
  const Time now = yard.now();
  ReadyQueue ready;
  const std::vector<DeviceRow> devices(1);
  const View view{ready, devices, 1, 0, true, {}};
  Task task;
  task.begin = now + hours(1);
  EXPECT_EQ(Explain(view, task, {}, now).id, "why.begin") << "said even while the queue is paused";
  task.not_before = now + hours(2);
  EXPECT_EQ(Explain(view, task, {}, now).id, "why.retry_at");
  task.held = true;
  task.held_reason = Message{"why.ours", {}};
  EXPECT_EQ(Explain(view, task, {}, now).id, "why.ours");
}

// Case 77: skypilot-org/skypilot#9926.
TEST(Fits, RefusesWhatCanNeverRunNamingTheField) {
  std::vector<DeviceRow> devices(8);
  for (DeviceRow& device : devices) device.kind = Device::Kind::kGpu;
  auto check = [&](auto change) {
    TaskSpec spec;
    change(spec);
    Status fits = CheckFits(devices, 16, int64_t{64} << 30, spec);
    return fits ? std::string("fits") : fits.error().field + " " + fits.error().message.id;
  };
  EXPECT_EQ(check([](TaskSpec& s) { s.gpus.counts = {16}; }), "/resources/gpus submit.too_many_gpus");
  EXPECT_EQ(check([](TaskSpec& s) { s.gpus.counts = {8}; }), "fits");
  EXPECT_EQ(check([](TaskSpec& s) { s.gpus.counts = {4, 16}; }), "fits") << "four would do";
  EXPECT_EQ(check([](TaskSpec& s) { s.cpus = 17; }), "/resources/cpus submit.too_many_cores");
  EXPECT_EQ(check([](TaskSpec& s) { s.memory = int64_t{65} << 30; }),
            "/resources/memory submit.too_much_memory");
  EXPECT_EQ(check([](TaskSpec&) {}), "fits");
  for (DeviceRow& device : devices) device.usable = false;
  EXPECT_EQ(check([](TaskSpec& s) { s.gpus.counts = {8}; }), "fits") << "a broken device may come back";
  devices.clear();
  EXPECT_EQ(check([](TaskSpec&) {}), "/resources/gpus submit.no_devices");
  EXPECT_EQ(check([](TaskSpec& s) { s.gpus.counts = {0}; }), "fits");
}

// Case 76: It4innovations/hyperqueue#848.
TEST(Queue, AHundredThousandPrioritiesComeAndGo) {
  ReadyQueue queue;
  for (int i = 1; i <= 100000; ++i) queue.Insert(ReadyTask{TaskId{i}, i * 7919 % 100003, {}, 1, 0});
  const std::vector<DeviceRow> devices(1);
  const Decisions decisions = Decide(View{queue, devices, 1, 0, false, {}}, FromNanos(0));
  ASSERT_EQ(decisions.starts.size(), 1u);
  EXPECT_EQ(queue.Find(decisions.starts[0].task)->priority, 100002);
  for (int i = 1; i <= 100000; ++i) queue.Erase(TaskId{i});
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_TRUE(Decide(View{queue, devices, 1, 0, false, {}}, FromNanos(0)).starts.empty());
}

// A seeded yard with random tasks coming, ending, changing priority and devices breaking. After every turn:
// no device has two holders, everybody has what was asked or nothing, nobody who fits is left out, and the
// same view gives the same answer.
class RandomYard : public testing::TestWithParam<unsigned> {};

TEST_P(RandomYard, KeepsItsPromises) {
  std::mt19937 random(GetParam());
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  const int device_count = 1 + pick(12);
  const int cores = 1 + pick(8);
  std::vector<DeviceRow> devices(device_count);
  for (int i = 0; i < device_count; ++i) devices[i].id = std::to_string(i);
  ReadyQueue ready;
  struct Run {
    std::vector<int> devices;
    int cores = 0;
  };
  std::map<TaskId, Run> running;
  std::map<TaskId, ReadyTask> waiting;
  std::map<TaskId, int> passed;  // starts of later-ordered tasks on devices since it came
  int cores_used = 0, next = 1, longest = 0;
  Time now = FromNanos(0);

  for (int turn = 0; turn < 600; ++turn) {
    now += seconds(pick(3));
    for (int i = pick(4); i > 0; --i) {
      ReadyTask task;
      task.id = TaskId{next++};
      task.priority = pick(5) == 0 ? pick(3) : 0;
      const int least = pick(6) == 0 ? 1 + pick(device_count) : pick(3) == 0 ? 0 : 1;
      if (least <= device_count) task.gpus.counts = {least};
      if (least > 0 && pick(5) == 0 && least + 1 <= device_count) task.gpus.counts.push_back(least + 1);
      task.cpus = 1 + pick(cores);
      ready.Insert(task);
      waiting[task.id] = task;
      passed[task.id] = 0;
    }
    for (auto run = running.begin(); run != running.end();) {
      if (pick(4) != 0) {
        ++run;
        continue;
      }
      for (int device : run->second.devices) devices[device].holder.reset();
      cores_used -= run->second.cores;
      run = running.erase(run);
    }
    if (!waiting.empty() && pick(10) == 0) {  // somebody changes a priority
      auto at = std::next(waiting.begin(), pick(static_cast<int>(waiting.size())));
      ready.Erase(at->first);
      at->second.priority = pick(3);
      ready.Insert(at->second);
      passed[at->first] = 0;
    }

    const View view{ready, devices, cores, cores_used, false, {}};
    const Decisions decisions = Decide(view, now);
    const Decisions again = Decide(view, now);
    ASSERT_EQ(decisions.starts.size(), again.starts.size());
    for (size_t i = 0; i < again.starts.size(); ++i) {
      ASSERT_EQ(decisions.starts[i].task, again.starts[i].task);
      ASSERT_EQ(decisions.starts[i].devices, again.starts[i].devices);
    }
    for (const PassedOver& over : decisions.passed_over) ready.MarkPassedOver(over.task, now, over.starts);
    bool owed = false;
    for (const auto* lines : {&ready.device_lines(), &ready.core_lines()}) {
      for (const auto& [need, line] : *lines) {
        const PassedBy by = line.Passed({INT64_MIN, {}});
        owed |= by.starts >= 50 || (by.since && now - *by.since >= minutes(10));
      }
    }
    QueuePlace last{INT64_MIN, {}};
    for (const Decision& start : decisions.starts) {
      const ReadyTask task = waiting.at(start.task);
      ASSERT_LT(last, PlaceOf(task)) << "starts come in order";
      last = PlaceOf(task);
      const int got = static_cast<int>(start.devices.size());
      const auto& counts = task.gpus.counts;
      ASSERT_TRUE(counts.empty() ? got == 1 : std::find(counts.begin(), counts.end(), got) != counts.end());
      for (int device : start.devices) {
        ASSERT_FALSE(devices[device].holder) << "two holders";
        devices[device].holder = start.task;
      }
      Run run{start.devices, got == 0 ? task.cpus : 0};
      cores_used += run.cores;
      running[start.task] = run;
      ready.Erase(start.task);
      waiting.erase(start.task);
      for (auto& [id, other] : waiting) {
        if (got > 0 && TakesDevices(other) && PlaceOf(other) < PlaceOf(task))
          longest = std::max(longest, ++passed[id]);
      }
    }
    ASSERT_LE(cores_used, cores);
    int free = 0;
    for (const DeviceRow& device : devices) free += !device.holder;
    if (owed) continue;
    for (const auto& [id, task] : waiting) {
      ASSERT_GT(NeedOf(task), TakesDevices(task) ? free : cores - cores_used)
          << "task " << id.value << " was left out";
    }
  }
  // One turn may start several tasks before the count is taken, no more than there are devices.
  EXPECT_LE(longest, 50 + device_count);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomYard, testing::Range(0u, 24u));

}  // namespace
}  // namespace ty
