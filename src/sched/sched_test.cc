#include "sched/sched.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "sched/shares.h"
#include "testing/scenario.h"

namespace ty {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20, kGiB = int64_t{1} << 30;

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
  EXPECT_EQ(yard.ready().device_lines().front().line->Passed({INT64_MIN, {}}).starts, 0);
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

TEST(Sharing, TwoHalvesGoOnOneDeviceAndAThirdWaits) {
  Scenario yard("1xcpu", "a: share 0.5:turns", "b: share 0.5:turns", "c: share 0.1:turns");
  EXPECT_EQ(yard.Starts(), "a, b");
  EXPECT_EQ(yard.On("cpu:0"), "a 500, b 500");
  EXPECT_EQ(yard.Why("c"),
            "why.share_room(ahead=0, share=0.1:turns, want=1, free=0, blocked=1, names=1 (a), 2 (b))");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "c");
  yard.ExpectNothingElse();
}

TEST(Sharing, SharersGoTogetherSoThatOthersFindAWholeDevice) {
  Scenario yard("3xh200", "a: share 0.3", "b: share 0.6", "c: share 0.5", "whole: 1 gpu");
  EXPECT_EQ(yard.Starts(), "a, b, c, whole");
  EXPECT_EQ(yard.On("GPU0"), "a 300, b 600");
  EXPECT_EQ(yard.On("GPU1"), "c 500");
  EXPECT_EQ(yard.On("GPU2"), "whole 1000");
  yard.Add("d: share 0.1");
  EXPECT_EQ(yard.Starts(), "d");
  EXPECT_EQ(yard.Holds("d"), "GPU0") << "where the least is left that still does";
  yard.Add("e: share 0.2");
  EXPECT_EQ(yard.Starts(), "e");
  EXPECT_EQ(yard.Holds("e"), "GPU1");
}

TEST(Sharing, TheTwoWaysOfSharingDoNotMix) {
  Scenario yard("1xh200", "a: share 0.25", "b: share 0.25:turns");
  EXPECT_EQ(yard.Starts(), "a");
  EXPECT_EQ(yard.Why("b"),
            "why.share_mode(ahead=0, share=0.25:turns, want=1, free=0, blocked=1, names=1 (a))");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "b");
}

TEST(Sharing, AWholeDeviceIsNobodyElses) {
  Scenario yard("1xh200", "whole: 1 gpu, running", "part: share 0.1");
  EXPECT_EQ(yard.Starts(), "");
  EXPECT_EQ(yard.Why("part"),
            "why.share_whole(ahead=0, share=0.1, want=1, free=0, blocked=1, names=1 (whole))");
  yard.Finish("whole");
  EXPECT_EQ(yard.Starts(), "part");
  yard.Add("again: 1 gpu");
  EXPECT_EQ(yard.Starts(), "");
  EXPECT_EQ(yard.Why("again"), "why.gpus(missing=1, want=1, free=0, held=1, holders=1, names=2 (part))");
}

TEST(Sharing, MemoryOfAllMustFit) {
  Scenario yard("1xh200 80G", "a: share 0.2, 50G", "b: share 0.2, 31G", "c: share 0.2, 14G", "d: share 0.2");
  EXPECT_EQ(yard.Starts(), "a, c, d") << "a part without a size is its part of the memory";
  EXPECT_EQ(yard.Why("b"),
            "why.share_memory(ahead=0, share=0.2, want=1, memory=33285996544, free=0, blocked=1, names=1 "
            "(a), 3 (c), 4 (d))");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "b");
}

TEST(Sharing, APartOfSeveralDevicesTakesDistinctOnes) {
  Scenario yard("3xh200", "one: share 0.5", "two: 2 gpu, share 0.5", "three: 2 gpu, share 0.5");
  EXPECT_EQ(yard.Starts(), "one, two, three");
  EXPECT_EQ(yard.On("GPU0"), "one 500, two 500");
  EXPECT_EQ(yard.On("GPU1"), "two 500, three 500");
  EXPECT_EQ(yard.On("GPU2"), "three 500");
  yard.Add("four: 2 gpu, share 0.5");
  EXPECT_EQ(
      yard.Why("four"),
      "why.share_room(ahead=0, share=0.5, want=2, free=1, blocked=2, names=1 (one), 2 (two), 3 (three))");
}

TEST(Sharing, SaysAllThatIsInTheWay) {
  Scenario yard("4xh200", "whole: 1 gpu, running", "turns: share 0.9:turns, running",
                "full: share 0.9, running", "want: 2 gpu, share 0.2");
  EXPECT_EQ(yard.Why("want"),
            "why.share(ahead=0, share=0.2, want=2, free=1, whole=1, other=1, blocked=1, names=1 (whole), 2 "
            "(turns), 3 (full))");
}

TEST(Sharing, OneThatMustBeAloneGetsAWholeDevice) {
  Scenario yard("2xh200 80G", "a: share 0.25", "b: share 0.25, 8G, alone");
  EXPECT_EQ(yard.Starts(), "a, b");
  EXPECT_EQ(yard.On("GPU1"), "b 1000");
}

TEST(Sharing, AStreamOfSharersDoesNotStarveAWholeTask) {
  Scenario yard("2xh200", "s0: share 0.5", "s1: share 0.5", "s2: share 0.5", "s3: share 0.5");
  yard.Starts();
  yard.Add("whole: 1 gpu");
  int started = 0;
  for (int i = 0; i < 200 && yard.Holds("whole").empty(); ++i) {
    yard.Finish("s" + std::to_string(i));
    yard.Add("s" + std::to_string(i + 4) + ": share 0.5");
    started += !yard.Starts().empty();
  }
  EXPECT_FALSE(yard.Holds("whole").empty());
  EXPECT_LE(started, 54);
}

TEST(Sharing, AnOwedPartIsKeptTheDeviceThatIsNearest) {
  Scenario yard("2xh200", "a: share 0.9, running", "b: 1 gpu, running", "owed: share 0.5", "c: share 0.1");
  EXPECT_EQ(yard.Starts(), "c");
  yard.Pass(minutes(10));
  yard.Finish("c");
  yard.Add("d: share 0.1");
  EXPECT_EQ(yard.Starts(), "") << "room for d, but then owed would wait for d as well";
  EXPECT_EQ(yard.Why("d"), "why.kept_for(free=1, task=3 (owed))");
  yard.Finish("b");
  EXPECT_EQ(yard.Starts(), "owed, d");
}

TEST(BetterCards, TheFirstInTheQueueGetsTheBetterCard) {
  Scenario yard("1xa10 24G + 2xh200 80G + 1xt4 16G", "low: 1 gpu, priority low", "high: 1 gpu, priority high",
                "pair: 2 gpu");
  EXPECT_EQ(yard.Starts(), "high, pair, low");
  EXPECT_EQ(yard.Holds("high"), "GPU1");
  EXPECT_EQ(yard.Holds("pair"), "GPU0 GPU2");
  EXPECT_EQ(yard.Holds("low"), "GPU3");
}

TEST(BetterCards, AmongEqualsTheOneWithMoreMemoryIsBetter) {
  Scenario yard("1xa100 40G + 1xa100 80G", "a: 1 gpu");
  EXPECT_EQ(yard.Starts(), "a");
  EXPECT_EQ(yard.Holds("a"), "GPU1");
}

TEST(MemoryFloor, IsMetOrWaitedForWhileOthersGoOn) {
  Scenario yard("1xh200 80G + 2xa10 24G", "a: 1 gpu, running", "big: 1 gpu, 40G", "b: 1 gpu, 24G",
                "c: 1 gpu");
  EXPECT_EQ(yard.Starts(), "b, c");
  EXPECT_EQ(yard.Why("big"),
            "why.gpus_memory(missing=1, want=1, memory=42949672960, free=0, held=1, holders=1, names=1 (a))");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "big");
  EXPECT_EQ(yard.Holds("big"), "GPU0");
}

TEST(MemoryFloor, AnElasticTaskCountsOnlyWhatHasTheMemory) {
  Scenario yard("2xa10 24G + 2xh200 80G", "elastic: 1-4 gpu, 40G");
  EXPECT_EQ(yard.Starts(), "elastic");
  EXPECT_EQ(yard.Holds("elastic"), "GPU2 GPU3");
}

TEST(MemoryFloor, UnknownMemoryMeetsNone) {
  Scenario yard("2xh200", "a: 1 gpu, 1G", "b: 1 gpu");
  EXPECT_EQ(yard.Starts(), "b");
  EXPECT_EQ(yard.Explained("a").id, "why.gpus_memory_out");
}

TEST(MemoryFloor, AnOwedTaskIsKeptOnlyWhatCouldServeIt) {
  Scenario yard("2xh200 80G + 1xa10 24G", "a: 1 gpu, running", "wide: 2 gpu, 80G", "b: 1 gpu", "c: 1 gpu");
  EXPECT_EQ(yard.Starts(), "b, c");
  yard.Pass(minutes(10));
  yard.Finish("b");
  yard.Finish("c");
  yard.Add("d: 1 gpu");
  yard.Add("e: 1 gpu");
  EXPECT_EQ(yard.Starts(), "d");
  EXPECT_EQ(yard.Holds("d"), "GPU2") << "the small card is of no use to wide";
  EXPECT_EQ(yard.Why("e"), "why.kept_for(free=1, task=2 (wide))");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "wide");
}

TEST(MemoryFloor, ABrokenLargeCardHoldsNobodyUp) {
  Scenario yard("2xh200 80G", "wide: 2 gpu, 80G", "b: 1 gpu");
  yard.Trouble("GPU0", "device.lost", true);
  EXPECT_EQ(yard.Starts(), "b");
  yard.Pass(minutes(11));
  yard.Finish("b");
  yard.Add("c: share 0.5");
  EXPECT_EQ(yard.Starts(), "c");
}

// Case 82 turned round: a desktop is not foreign, but exclusive means alone.
TEST(Exclusive, WantsNobodyElseOnTheDevice) {
  Scenario yard("2xh200 80G", "a: 1 gpu, exclusive", "b: 1 gpu, exclusive", "c: 1 gpu");
  yard.PutDesktopOn("GPU0");
  EXPECT_EQ(yard.Starts(), "a, c");
  EXPECT_EQ(yard.Holds("a"), "GPU1");
  EXPECT_EQ(yard.Holds("c"), "GPU0");
  EXPECT_EQ(yard.Why("b"),
            "why.gpus_asked(missing=1, want=1, asked=--exclusive, free=0, held=1, holders=1, names=1 (a))");
  yard.PutDesktopOn("GPU1");
  EXPECT_EQ(yard.Why("b"), "why.not_alone(want=1, usable=0, all=2)");
  yard.Add("d: 1 gpu, exclusive, 1536M");
  EXPECT_EQ(yard.Explained("d").id, "why.not_alone");
}

TEST(Exclusive, WaitsForSomebodyFromOutsideWithTheirName) {
  Scenario yard("2xh200", "a: 1 gpu, exclusive");
  yard.PutDesktopOn("GPU0");
  yard.PutDesktopOn("GPU1");
  yard.Trouble("GPU1", "device.foreign", false);
  EXPECT_EQ(yard.Starts(), "");
  EXPECT_EQ(yard.Why("a"), "device.foreign()");
}

TEST(Unusable, IsNeverGivenOut) {
  Scenario yard("2xh200", "a: 1 gpu", "b: share 0.5", "c: 1-2 gpu");
  yard.Trouble("GPU0", "device.foreign", false);
  EXPECT_EQ(yard.Starts(), "a");
  EXPECT_EQ(yard.Holds("a"), "GPU1");
  yard.Finish("a");
  EXPECT_EQ(yard.Starts(), "b");
  EXPECT_EQ(yard.Holds("b"), "GPU1");
  yard.Mend("GPU0");
  EXPECT_EQ(yard.Starts(), "c");
}

TEST(Unusable, ItsTroubleIsTheReasonWhenNothingElseIsInTheWay) {
  Scenario yard("3xh200 80G", "a: 1 gpu, running", "wide: 2 gpu", "wider: 3 gpu", "big: 2 gpu, 80G");
  yard.Trouble("GPU1", "device.foreign", false);
  EXPECT_EQ(yard.Starts(), "");
  EXPECT_EQ(yard.Why("wide"),
            "why.gpus_some_out(missing=1, ahead=0, want=2, free=1, held=1, holders=1, names=1 (a), out=GPU1)")
      << "it starts when a ends, whatever becomes of the card";
  EXPECT_EQ(yard.Explained("big").id, "why.gpus_memory_some_out");
  EXPECT_EQ(yard.Why("wider"),
            "why.gpus_some_out(missing=2, ahead=1, want=3, free=1, held=1, holders=1, names=1 (a), out=GPU1)")
      << "it waits for a as well, and the card comes back by itself";
  yard.Trouble("GPU1", "device.quarantined", true);
  EXPECT_EQ(yard.Why("wider"), "why.devices_out(want=3, usable=2, all=3)");
  yard.Finish("a");
  EXPECT_EQ(yard.Why("wider"), "device.quarantined()");
}

TEST(Unusable, ABrokenCardIsNotTheReasonOfWhoWaitsForAnothersHolder) {
  Scenario yard("2xh200", "h1: 1 gpu, running", "h2: 1 gpu", "part: share 0.5", "alone: 1 gpu, exclusive");
  yard.Trouble("GPU1", "device.lost", true);
  EXPECT_EQ(yard.Starts(), "");
  EXPECT_EQ(
      yard.Why("h2"),
      "why.gpus_some_out(missing=1, ahead=0, want=1, free=0, held=1, holders=1, names=1 (h1), out=GPU1)");
  EXPECT_EQ(yard.Why("part"),
            "why.share_some_out(ahead=1, share=0.5, want=1, free=0, whole=1, other=0, blocked=0, "
            "names=1 (h1), out=GPU1)");
  EXPECT_EQ(yard.Explained("alone").id, "why.gpus_asked_some_out");
  yard.Finish("h1");
  EXPECT_EQ(yard.Starts(), "h2") << "by itself, as it was said";
}

TEST(Unusable, NorIsAHeldSlot) {
  Scenario yard("2xcpu", "h1: 1 gpu, running", "h2: 1 gpu");
  yard.Trouble("cpu:1", "device.held", false);
  EXPECT_EQ(yard.Explained("h2").id, "why.slots_some_out");
}

TEST(Unusable, WhatIsBackInAMomentIsSaidBeforeAnyEnd) {
  Scenario yard("3xh200", "h1: 1 gpu, running", "h2: 1 gpu");
  yard.Trouble("GPU1", "device.lost", true);
  yard.Trouble("GPU2", "device.settling", false, /*soon=*/true);
  EXPECT_EQ(yard.Why("h2"), "device.settling()");
}

TEST(Unusable, NothingIsKeptForATaskThatNeedsIt) {
  Scenario yard("2xh200", "wide: 2 gpu", "b: 1 gpu");
  yard.Trouble("GPU1", "device.foreign", false);
  EXPECT_EQ(yard.Starts(), "b");
  yard.Pass(minutes(11));
  yard.Finish("b");
  yard.Add("c: 1 gpu");
  EXPECT_EQ(yard.Starts(), "c");
}

TEST(Unusable, AMachineWhoseGpusNobodyKnowsGivesItsOwnReason) {
  ReadyQueue ready;
  const std::vector<DeviceRow> none;
  View view{ready, none};
  EXPECT_EQ(Explain(view, Task{}, {}, FromNanos(0)).id, "why.devices_out");
  view.trouble = Message{"device.driver_mismatch", {}};
  EXPECT_EQ(Explain(view, Task{}, {}, FromNanos(0)).id, "device.driver_mismatch");
}

TEST(Explain, NamesWhoHoldsTheDevicesAndWhatWouldFreeThem) {
  Scenario yard("2xh200", "train: 1 gpu, running", "big: 2 gpu", "bigger: 2 gpu");
  yard.Starts();
  EXPECT_EQ(yard.Why("big"), "why.gpus(missing=1, want=2, free=1, held=1, holders=1, names=1 (train))");
  EXPECT_EQ(yard.Why("bigger"),
            "why.gpus_behind(missing=1, ahead=1, want=2, free=1, held=1, holders=1, names=1 (train))");
}

TEST(Explain, SaysSlotsWhereDevicesAreCpuSlots) {
  Scenario yard("1xcpu", "train: 1 gpu, running", "next: 1 gpu");
  EXPECT_EQ(yard.Explained("next").id, "why.slots");
}

TEST(Explain, NamesThreeHoldersInFewLetters) {
  const std::string name = "llama-7b-lora-r16-sweep-lr3e-4-seed41";
  Scenario yard("5xcpu", (name + ": 1 gpu, running").c_str(), "b: 1 gpu, running", "c: 1 gpu, running",
                "d: 1 gpu, running", "e: 1 gpu, running", "next: 1 gpu");
  EXPECT_EQ(yard.Why("next"),
            "why.slots(missing=1, want=1, free=0, held=5, holders=5, "
            "names=1 (llama-7b-lora-r16-sweep-…), 2 (b), 3 (c), … +2)");
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
    std::string said;
    for (const Error& misfit : FindMisfits(devices, 16, int64_t{64} << 30, spec))
      said += (said.empty() ? "" : "; ") + misfit.field + " " + misfit.message.id;
    return said.empty() ? "fits" : said;
  };
  EXPECT_EQ(check([](TaskSpec& s) { s.gpus.counts = {16}; }), "/resources/gpus submit.too_many_gpus");
  EXPECT_EQ(check([](TaskSpec& s) { s.gpus.counts = {8}; }), "fits");
  EXPECT_EQ(check([](TaskSpec& s) { s.gpus.counts = {4, 16}; }), "fits") << "four would do";
  EXPECT_EQ(check([](TaskSpec& s) { s.cpus = 17; }), "/resources/cpus submit.too_many_cores");
  EXPECT_EQ(check([](TaskSpec& s) { s.memory = int64_t{65} << 30; }),
            "/resources/memory submit.too_much_memory");
  EXPECT_EQ(check([](TaskSpec& s) {
              s.gpus.counts = {16};
              s.cpus = 17;
              s.memory = int64_t{65} << 30;
            }),
            "/resources/gpus submit.too_many_gpus; /resources/cpus submit.too_many_cores; "
            "/resources/memory submit.too_much_memory")
      << "all that is wrong at once";
  EXPECT_EQ(check([](TaskSpec&) {}), "fits");
  for (DeviceRow& device : devices) device.usable = false;
  EXPECT_EQ(check([](TaskSpec& s) { s.gpus.counts = {8}; }), "fits") << "a broken device may come back";
  devices.clear();
  EXPECT_EQ(check([](TaskSpec&) {}), "/resources/gpus submit.no_devices");
  EXPECT_EQ(check([](TaskSpec& s) { s.gpus.counts = {0}; }), "fits");
}

TEST(Fits, RefusesDeviceMemoryThatIsNotThere) {
  std::vector<DeviceRow> devices(4);
  for (DeviceRow& device : devices) {
    device.kind = Device::Kind::kGpu;
    device.memory = int64_t{24} << 30;
  }
  devices[3].memory = int64_t{80} << 30;
  auto check = [&](int count, int64_t gib, bool complete = true) {
    TaskSpec spec;
    spec.gpus.counts = {count};
    spec.wish.memory = gib << 30;
    const std::vector<Error> misfits = FindMisfits(devices, 16, 0, spec, complete);
    return misfits.empty() ? std::string("fits")
                           : misfits.front().field + " " + Describe(misfits.front().message);
  };
  EXPECT_EQ(check(4, 24), "fits");
  EXPECT_EQ(check(1, 80), "fits");
  EXPECT_EQ(check(1, 81),
            "/resources/gpu_memory submit.gpu_memory_too_large(want=86973087744, most=85899345920)");
  EXPECT_EQ(check(2, 40),
            "/resources/gpu_memory submit.gpu_memory_too_few(want=2, memory=42949672960, have=1, "
            "all=4, most=85899345920)");
  EXPECT_EQ(check(2, 40, false), "fits") << "nobody knows what else is there";
  EXPECT_EQ(check(16, 0, false), "fits");
  devices[0].memory = 0;
  EXPECT_EQ(check(2, 40), "fits") << "a card that cannot be read now may have as much";
  devices.assign(2, DeviceRow{});
  for (DeviceRow& device : devices) device.memory = int64_t{8} << 30;
  EXPECT_EQ(check(1, 9),
            "/resources/gpu_memory submit.slot_memory_too_large(want=9663676416, most=8589934592)");
}

// Cards tell a little less than they are sold with: a floor is what people call them.
TEST(Fits, AWholeCardIsOfTheSizeItIsSoldAsAndAShareOfWhatItHas) {
  std::vector<DeviceRow> devices(1);
  devices[0].kind = Device::Kind::kGpu;
  devices[0].memory = 24564 * kMiB;
  devices[0].reserved = 420 * kMiB;
  auto check = [&](const char* share, int64_t memory) {
    TaskSpec spec;
    spec.gpus.counts = {1};
    spec.wish.memory = memory;
    if (*share != '\0') spec.wish.share = *Share::Parse(share);
    const std::vector<Error> misfits = FindMisfits(devices, 16, 0, spec, true);
    return misfits.empty() ? std::string("fits") : Describe(misfits.front().message);
  };
  EXPECT_EQ(check("", 24 * kGiB), "fits");
  EXPECT_EQ(check("", 25 * kGiB), "submit.gpu_memory_too_large(want=26843545600, most=25757220864)");
  EXPECT_EQ(check("0.9", 24 * kGiB), "submit.gpu_memory_too_large(want=25769803776, most=25316818944)");
  EXPECT_EQ(check("0.9", 24144 * kMiB), "fits");
  EXPECT_EQ(check("0.9", 24145 * kMiB), "submit.gpu_memory_too_large(want=25317867520, most=25232932770)")
      << "23.6 and 23.5 GiB, never the same figure twice";
}

TEST(Queue, LinesOfManyNeedsComeAndGoInAnyOrder) {
  ReadyQueue queue;
  std::mt19937 random(5);
  std::vector<int> ids(2000);
  for (int i = 0; i < 2000; ++i) {
    ids[i] = i + 1;
    ReadyTask task{TaskId{i + 1}};
    task.wish.memory = random() % 300;
    task.priority = static_cast<int>(random() % 3);
    queue.Insert(task);
  }
  std::shuffle(ids.begin(), ids.end(), random);
  for (int id : ids) {
    size_t tasks = 0;
    for (const LineFace& face : queue.device_lines()) {
      ASSERT_EQ(face.head, face.line->tasks().begin()->first);
      ASSERT_EQ(face.need, NeedOf(*face.line->tasks().begin()->second.task));
      tasks += face.line->tasks().size();
    }
    ASSERT_EQ(tasks, queue.size());
    queue.Erase(TaskId{id});
  }
  EXPECT_TRUE(queue.device_lines().empty());
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

// A seeded yard with random tasks of all sorts coming, ending, changing priority, and devices going out of
// use and coming back. After every turn: no device gives more than it has, in part or in memory; modes never
// mix and a whole is nobody else's; everybody has what was asked or nothing; nobody who fits is left out; and
// the same view gives the same answer.
class RandomYard : public testing::TestWithParam<unsigned> {
 protected:
  struct Run {
    std::vector<int> devices;
    int cores = 0;
  };

  int Pick(int n) { return static_cast<int>(random_() % n); }

  ReadyTask Draw() {
    ReadyTask task;
    task.id = TaskId{next_++};
    task.priority = Pick(5) == 0 ? Pick(3) : 0;
    const int devices = static_cast<int>(devices_.size());
    const int least = Pick(6) == 0 ? 1 + Pick(devices) : Pick(3) == 0 ? 0 : 1;
    task.gpus.counts = {least};
    if (least > 0 && Pick(5) == 0 && least + 1 <= devices) task.gpus.counts.push_back(least + 1);
    task.cpus = 1 + Pick(cores_);
    if (least == 0) return task;
    if (Pick(3) == 0) {
      task.wish.share.mode = least == 1 && Pick(2) == 0 ? ShareMode::kTurns : ShareMode::kTogether;
      task.wish.share.milli = 100 + 50 * Pick(18);
    } else if (Pick(8) == 0) {
      task.wish.exclusive = true;
    }
    if (Pick(3) == 0) task.wish.memory = kGiB * (1 + Pick(90));
    return task;
  }

  // Straight from the rules, device by device.
  bool Takes(const DeviceRow& device, const ReadyTask& task) const {
    if (!device.usable || (task.wish.exclusive && !device.bare)) return false;
    if (task.wish.share.mode == ShareMode::kWhole)
      return device.tenants.empty() && NominalMemory(device.memory) >= task.wish.memory;
    if (!device.tenants.empty() && device.mode != task.wish.share.mode) return false;
    int asked = task.wish.share.milli;
    int64_t memory = MemoryOfLease(task.wish, device.to_give());
    for (const Tenant& tenant : device.tenants) {
      asked += tenant.asked_milli;
      memory += tenant.memory;
    }
    return asked <= kWholeDevice && (device.memory == 0 || memory <= device.to_give());
  }

  void Give(const Decision& start, const ReadyTask& task) {
    const std::set<int> distinct(start.devices.begin(), start.devices.end());
    ASSERT_EQ(distinct.size(), start.devices.size());
    ASSERT_EQ(start.share, task.wish.share);
    for (int index : start.devices) {
      DeviceRow& device = devices_[index];
      ASSERT_TRUE(Takes(device, task)) << "task " << task.id.value << " on device " << index;
      device.mode = start.share.mode;
      device.tenants.push_back({task.id, start.share.milli, MemoryOfLease(task.wish, device.to_give())});
    }
  }

  std::mt19937 random_{GetParam()};
  std::vector<DeviceRow> devices_;
  int cores_ = 1, cores_used_ = 0, next_ = 1;
};

TEST_P(RandomYard, KeepsItsPromises) {
  devices_.resize(1 + Pick(12));
  cores_ = 1 + Pick(8);
  for (DeviceRow& device : devices_) {
    device.label = std::to_string(&device - devices_.data());
    device.memory = std::array<int64_t, 4>{0, 24564 * kMiB, 80 * kGiB, 80 * kGiB}[Pick(4)];
    if (device.memory > 0) device.reserved = Pick(3) * 300 * kMiB;
    device.strength = Pick(3);
  }
  ReadyQueue ready;
  std::map<TaskId, Run> running;
  std::map<TaskId, ReadyTask> waiting;
  Time now = FromNanos(0);
  int64_t shared = 0;

  for (int turn = 0; turn < 600; ++turn) {
    now += seconds(Pick(3));
    for (int i = Pick(4); i > 0; --i) {
      const ReadyTask task = Draw();
      ready.Insert(task);
      waiting[task.id] = task;
    }
    for (auto run = running.begin(); run != running.end();) {
      if (Pick(4) != 0) {
        ++run;
        continue;
      }
      for (int device : run->second.devices) {
        std::erase_if(devices_[device].tenants, [&](const Tenant& one) { return one.task == run->first; });
      }
      cores_used_ -= run->second.cores;
      run = running.erase(run);
    }
    if (!waiting.empty() && Pick(10) == 0) {  // somebody changes a priority
      auto at = std::next(waiting.begin(), Pick(static_cast<int>(waiting.size())));
      ready.Erase(at->first);
      at->second.priority = Pick(3);
      ready.Insert(at->second);
    }
    if (Pick(10) == 0) {
      DeviceRow& device = devices_[Pick(static_cast<int>(devices_.size()))];
      device.usable = !device.usable;
      device.bare = Pick(3) != 0;
    }

    const View view{ready, devices_, cores_, cores_used_};
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
      for (const LineFace& face : *lines) {
        const PassedBy by = face.line->Passed({INT64_MIN, {}});
        owed |= by.starts >= 50 || (by.since && now - *by.since >= minutes(10));
      }
    }
    QueuePlace last{INT64_MIN, 0, {}};
    for (const Decision& start : decisions.starts) {
      const ReadyTask task = waiting.at(start.task);
      ASSERT_LT(last, PlaceOf(task)) << "starts come in order";
      last = PlaceOf(task);
      const int got = static_cast<int>(start.devices.size());
      const auto& counts = task.gpus.counts;
      ASSERT_NE(std::find(counts.begin(), counts.end(), got), counts.end());
      if (got > 0) Give(start, task);
      if (HasFatalFailure()) return;
      shared += start.share.mode != ShareMode::kWhole;
      Run run{start.devices, got == 0 ? task.cpus : 0};
      cores_used_ += run.cores;
      running[start.task] = run;
      ready.Erase(start.task);
      waiting.erase(start.task);
    }
    ASSERT_LE(cores_used_, cores_);
    if (owed) continue;
    for (const auto& [id, task] : waiting) {
      const auto room = TakesDevices(task) ? std::count_if(devices_.begin(), devices_.end(),
                                                           [&](const auto& d) { return Takes(d, task); })
                                           : cores_ - cores_used_;
      ASSERT_GT(NeedOf(task).count, room) << "task " << id.value << " was left out";
    }
  }
  EXPECT_GT(shared, 0);
}

// Every task has an end here, so every task that could ever run does: passed over at most so many times.
TEST_P(RandomYard, StarvesNobody) {
  devices_.resize(2 + Pick(6));
  for (DeviceRow& device : devices_) {
    device.memory = kGiB * (Pick(2) == 0 ? 24 : 80);
    device.strength = Pick(3);
  }
  devices_[0].memory = 80 * kGiB;
  ReadyQueue ready;
  std::map<TaskId, std::pair<Decision, int>> running;  // and turns to go
  std::map<TaskId, ReadyTask> waiting;
  std::map<TaskId, int> passed;  // starts of those behind it since it came
  Time now = FromNanos(0);
  int longest = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    now += milliseconds(100);
    // A yard in demand: short tasks never stop coming, now and then one that asks for much.
    while (waiting.size() < 10) {
      ReadyTask task = Draw();
      if (Pick(4) != 0) {
        task.gpus.counts = {1};
        task.wish.memory = 0;
      }
      if (task.wish.memory > 24 * kGiB && task.gpus.Least() > 1) task.wish.memory = 24 * kGiB;
      if (task.wish.memory > 80 * kGiB) task.wish.memory = 80 * kGiB;
      task.priority = 0;
      if (!TakesDevices(task)) continue;
      ready.Insert(task);
      waiting[task.id] = task;
    }
    for (auto run = running.begin(); run != running.end();) {
      if (--run->second.second > 0) {
        ++run;
        continue;
      }
      for (int device : run->second.first.devices) {
        std::erase_if(devices_[device].tenants, [&](const Tenant& one) { return one.task == run->first; });
      }
      run = running.erase(run);
    }
    const Decisions decisions = Decide(View{ready, devices_}, now);
    for (const PassedOver& over : decisions.passed_over) ready.MarkPassedOver(over.task, now, over.starts);
    for (const Decision& start : decisions.starts) {
      Give(start, waiting.at(start.task));
      if (HasFatalFailure()) return;
      running[start.task] = {start, 1 + Pick(20)};
      ready.Erase(start.task);
      waiting.erase(start.task);
      passed.erase(start.task);
      for (const auto& [id, other] : waiting) {
        if (id < start.task) longest = std::max(longest, ++passed[id]);
      }
    }
  }
  // One turn may start several tasks before the count is taken.
  EXPECT_LE(longest, 50 + 2 * static_cast<int>(devices_.size()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomYard, testing::Range(0u, 24u));

}  // namespace
}  // namespace ty
