// Devices as they really are, shared honestly: knowledge queues 4.7 and contracts C6, C8, C16.
#include <gtest/gtest.h>

#include <algorithm>

#include "msg/receipt.h"
#include "sched/shares.h"
#include "testing/scenario.h"
#include "testing/yard_harness.h"

namespace ty {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20, kGiB = int64_t{1} << 30;

TaskSpec SpecWith(const std::string& share, std::string gpus = "1") {
  TaskSpec spec = Spec({"train"}, std::move(gpus));
  spec.wish.share = *Share::Parse(share);
  return spec;
}

std::string Variable(const LaunchOrder& order, const std::string& name) {
  for (const std::string& one : order.environment) {
    if (one.starts_with(name + "=")) return one.substr(name.size() + 1);
  }
  return "(unset)";
}

DeviceProcess Compute(int pid, int64_t memory) {
  DeviceProcess process;
  process.pid = pid;
  process.start = 7;
  process.memory = memory;
  process.visible = true;
  process.user = "bob";
  process.command = "python other.py";
  process.since = FromNanos(0);
  return process;
}

std::vector<ActAnswer> First(YardHarness& yard, TaskId task) {
  Act act;
  act.verb = Verb::kPriority;
  act.first = true;
  act.tasks = {task};
  std::vector<ActAnswer> answers;
  act.reply = [&](std::vector<ActAnswer> a) { answers = std::move(a); };
  yard.inbox->Post(std::move(act));
  yard.Settle();
  return answers;
}

Status ActOn(YardHarness& yard, DeviceVerb verb, const std::string& device, std::optional<Time> until = {}) {
  std::vector<std::pair<std::string, Status>> answers;
  ActOnDevices act;
  act.verb = verb;
  act.devices = {device};
  act.until = until;
  act.reply = [&](auto a) { answers = std::move(a); };
  yard.inbox->Post(std::move(act));
  yard.Settle();
  return answers.at(0).second;
}

// ---- Pinning.

TEST(Devices, ATaskSeesItsGpusByTheirUuids) {
  YardHarness yard(YardHarness::Gpus{2});
  yard.MustSubmit(Spec({"train"}, "2"));
  const LaunchOrder& order = yard.engine->launched.at(0);
  EXPECT_EQ(Variable(order, "CUDA_VISIBLE_DEVICES"), FakeGpu(0).id + "," + FakeGpu(1).id);
  EXPECT_EQ(Variable(order, "CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
  EXPECT_TRUE(order.ranks.empty()) << "one process that sees both";
}

// Case 79: libraries that cannot parse UUIDs.
TEST(Devices, OrByTheirNumbersIfAskedTo) {
  YardHarness yard(YardHarness::Gpus{2});
  TaskSpec spec = Spec({"train"}, "2");
  spec.gpu_ids = TaskSpec::GpuIds::kIndex;
  yard.MustSubmit(spec);
  EXPECT_EQ(Variable(yard.engine->launched.at(0), "CUDA_VISIBLE_DEVICES"), "0,1");
}

// Case 91: MIG slices have no number that CUDA knows.
TEST(Devices, AMigSliceIsAlwaysNamedByItsUuid) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.Gpu(0).device.kind = Device::Kind::kMigSlice;
  yard.Gpu(0).device.label = "GPU0/2";
  yard.Look();
  TaskSpec spec = Spec({"train"});
  spec.gpu_ids = TaskSpec::GpuIds::kIndex;
  yard.MustSubmit(spec);
  EXPECT_EQ(Variable(yard.engine->launched.at(0), "CUDA_VISIBLE_DEVICES"), FakeGpu(0).id);
}

TEST(Devices, WithoutALeaseATaskSeesNoGpu) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.MustSubmit(Spec({"prepare"}, "0"));
  EXPECT_EQ(Variable(yard.engine->launched.at(0), "CUDA_VISIBLE_DEVICES"), "");
}

TEST(Devices, TheBetterCardGoesToTheMoreImportantTask) {
  YardHarness yard(YardHarness::Gpus{2});
  yard.Gpu(0).device.strength = 1;
  yard.Gpu(1).device.strength = 2;
  yard.Look();
  std::vector<SubmitItem> items(2);
  items[0].spec = Spec({"plain"});
  items[1].spec = Spec({"urgent"});
  items[1].spec.priority = 100;
  yard.SubmitAll(std::move(items));
  EXPECT_EQ(yard.LeasesOn("GPU1"), "2 1000/1000 whole");
  EXPECT_EQ(yard.LeasesOn("GPU0"), "1 1000/1000 whole");
}

// ---- Ranks.

TEST(Ranks, EachDeviceGetsAProcessUnderTheEnvContract) {
  YardHarness yard(YardHarness::Gpus{2});
  TaskSpec spec = Spec({"train"}, "2");
  spec.wish.ranks = true;
  Result<SubmitReceipt> receipt = yard.Submit(spec);
  EXPECT_EQ(receipt->devices_message.id, "receipt.ranks");
  const LaunchOrder& order = yard.engine->launched.at(0);
  ASSERT_EQ(order.ranks.size(), 2u);
  EXPECT_EQ(order.ranks[1].environment, (std::vector<std::string>{"RANK=1", "LOCAL_RANK=1", "ROLE_RANK=1"}));
  EXPECT_EQ(Variable(order, "WORLD_SIZE"), "2");
  EXPECT_EQ(Variable(order, "MASTER_ADDR"), "127.0.0.1");
  const int port = std::stoi(Variable(order, "MASTER_PORT"));
  EXPECT_GE(port, 20000);
  EXPECT_LT(port, 28000);
  EXPECT_NE(Variable(order, "CUDA_VISIBLE_DEVICES").find(','), std::string::npos) << "each sees both";
}

TEST(Ranks, AReceiptSaysWhatAShareDoesAndDoesNotPromise) {
  YardHarness yard(YardHarness::Gpus{2});
  TaskSpec ranks = SpecWith("0.4", "2");
  ranks.wish.ranks = true;
  EXPECT_EQ(yard.Submit(ranks)->devices_message,
            Message(msg::ReceiptRanksTogether{
                .count = 2, .devices = "GPU0, GPU1", .percent = 40, .memory = MemoryOfPart(400, 24 * kGiB)}));
  yard.MustSubmit(SpecWith("0.6", "2"));
  EXPECT_EQ(yard.Submit(ranks)->devices_message.id, "receipt.wants_ranks_together");
  const SubmitReceipt waits = *yard.Submit(SpecWith("0.5"));
  EXPECT_EQ(waits.devices_message,
            Message(msg::ReceiptWantsTogether{.percent = 50, .count = "1", .memory = 12 * kGiB}));
  TaskSpec turns = SpecWith("0.5:turns:3s");
  turns.wish.memory = 8 * kGiB;
  EXPECT_EQ(
      yard.Submit(turns)->devices_message,
      Message(msg::ReceiptWantsTurns{.percent = 50, .count = "1", .slice = seconds(3), .memory = 8 * kGiB}));
}

TEST(Ranks, TwoAttemptsNeverMeetAtOnePort) {
  YardHarness yard(4, 4);
  std::set<std::string> ports;
  for (int i = 0; i < 4; i++) {
    TaskSpec spec = Spec({"train"}, "1");
    spec.wish.ranks = true;
    yard.MustSubmit(spec);
    ports.insert(Variable(yard.engine->launched.at(i), "MASTER_PORT"));
  }
  EXPECT_EQ(ports.size(), 4u);
}

TEST(Ranks, OnCpuSlotsEachIsPinnedToItsSlot) {
  YardHarness yard(2, 4);
  TaskSpec spec = Spec({"train"}, "2");
  spec.wish.ranks = true;
  yard.MustSubmit(spec);
  const LaunchOrder& order = yard.engine->launched.at(0);
  EXPECT_EQ(order.ranks[0].cpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(order.ranks[1].cpus, (std::vector<int>{2, 3}));
  EXPECT_EQ(Variable(order, "OMP_NUM_THREADS"), "2");
}

// ---- Shares.

TEST(Shares, TwoHalvesShareOneDeviceAndTheOneLeftGetsAll) {
  YardHarness yard(1);
  const TaskId b = yard.MustSubmit(SpecWith("0.5:turns:3s"));
  EXPECT_EQ(yard.LeasesOn("cpu:0"), "1 1000/500 turns");
  const TaskId c = yard.MustSubmit(SpecWith("0.5:turns:3s"));
  EXPECT_EQ(yard.LeasesOn("cpu:0"), "1 500/500 turns, 2 500/500 turns");
  yard.Begin(b);
  yard.Begin(c);
  yard.Exit(b, 0);
  EXPECT_EQ(yard.LeasesOn("cpu:0"), "2 1000/500 turns");
  const std::vector<std::string> kinds = yard.EventKinds(c);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "lease.changed"), 1);
  EXPECT_EQ(yard.StateOf(c), "running");
}

TEST(Shares, WhatIsWholeIsNeverShared) {
  YardHarness yard(1);
  yard.MustSubmit(SpecWith("0.5"));
  const TaskId whole = yard.MustSubmit(Spec({"whole"}));
  const TaskId turns = yard.MustSubmit(SpecWith("0.5:turns"));
  EXPECT_EQ(yard.StateOf(whole), "waiting");
  EXPECT_EQ(yard.StateOf(turns), "waiting") << "the modes do not mix";
  yard.Begin(TaskId{1});
  yard.Exit(TaskId{1}, 0);
  EXPECT_EQ(yard.LeasesOn("cpu:0"), "2 1000/1000 whole");
}

TEST(Shares, OneHasTheFloorAndTheOtherIsFrozen) {
  YardHarness yard(1);
  const TaskId b = yard.MustSubmit(SpecWith("0.5:turns:3s"));
  const TaskId c = yard.MustSubmit(SpecWith("0.5:turns:3s"));
  yard.Begin(b);
  yard.Begin(c);
  yard.Obey();
  auto frozen = [&] {
    std::string text;
    for (TaskId id : {b, c}) text += yard.yard->Describe(id)->frozen ? "f" : "-";
    return text;
  };
  std::set<std::string> seen{frozen()};
  for (int i = 0; i < 12; i++) {
    yard.Pass(seconds(1));
    yard.Obey();
    seen.insert(frozen());
    EXPECT_NE(frozen(), "ff");
    EXPECT_NE(frozen(), "--");
  }
  EXPECT_EQ(seen, (std::set<std::string>{"f-", "-f"})) << "both had their turns";
  yard.DoOne(Verb::kCancel, c);
  yard.Exit(c, 1, true);
  yard.Obey();
  EXPECT_EQ(yard.yard->Describe(b)->frozen, false) << "alone, it is never frozen";
}

TEST(Shares, AFreezeCarriesADeadlineSoThatADeadDaemonFreezesNobody) {
  YardHarness yard(1);
  const TaskId b = yard.MustSubmit(SpecWith("0.5:turns:3s"));
  const TaskId c = yard.MustSubmit(SpecWith("0.5:turns:3s"));
  yard.Begin(b);
  yard.Begin(c);
  ASSERT_FALSE(yard.engine->freezes.empty());
  for (const auto& [uid, deadline] : yard.engine->freezes) EXPECT_EQ(deadline, seconds(6));
}

TEST(Shares, TurnsGoOnAfterARestart) {
  YardHarness yard(1);
  const TaskId b = yard.MustSubmit(SpecWith("0.5:turns:3s"));
  const TaskId c = yard.MustSubmit(SpecWith("0.5:turns:3s"));
  yard.Begin(b);
  yard.Begin(c);
  yard.Obey();
  yard.Restart();
  yard.News(b, AttemptRunning{yard.now, 1, true, true});
  yard.News(c, AttemptRunning{yard.now, 2, true, false});
  yard.FinishAdoption();
  EXPECT_EQ(yard.LeasesOn("cpu:0"), "1 500/500 turns, 2 500/500 turns");
  const size_t before = yard.engine->thaws.size();
  for (int i = 0; i < 8; i++) {
    yard.Pass(seconds(1));
    yard.Obey();
  }
  EXPECT_GT(yard.engine->thaws.size(), before);
}

TEST(Shares, WhoUsesMoreThanItsPartIsStoppedAloneBeforeBothDie) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId modest = yard.MustSubmit(SpecWith("0.5"));
  const TaskId greedy = yard.MustSubmit(SpecWith("0.5"));
  yard.Begin(modest);
  yard.Begin(greedy);
  DeviceProcess a = Compute(100, 8 * kGiB), b = Compute(101, 15 * kGiB);
  a.attempt = yard.AttemptOf(modest);
  b.attempt = yard.AttemptOf(greedy);
  yard.Gpu(0).processes = {a, b};
  yard.Gpu(0).memory_free = kGiB;
  yard.Look();
  EXPECT_TRUE(yard.engine->stops.empty()) << "there is room yet";
  yard.Gpu(0).memory_free = 100 * kMiB;
  yard.Look();
  ASSERT_EQ(yard.engine->stops.size(), 1u);
  EXPECT_EQ(yard.engine->stops[0].first, yard.AttemptOf(greedy));
  yard.Exit(greedy, 143, true);
  EXPECT_EQ(yard.StateOf(greedy), "waiting") << "requeued, not failed";
  EXPECT_EQ(yard.RecordOf(greedy).task.retries, 0);
  EXPECT_EQ(yard.LeasesOn("GPU0"), "1 1000/500 together") << "it waits for a whole device";
  yard.Gpu(0).processes->clear();
  yard.Gpu(0).memory_free = 24 * kGiB;
  yard.Exit(modest, 0);
  yard.Look();
  EXPECT_EQ(yard.LeasesOn("GPU0"), "2 1000/1000 whole");
}

TEST(Shares, TheNewestIsStoppedWhenNobodyIsOverItsPart) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId old = yard.MustSubmit(SpecWith("0.5"));
  const TaskId young = yard.MustSubmit(SpecWith("0.5"));
  yard.Begin(old);
  yard.Begin(young);
  yard.Gpu(0).memory_free = 0;
  yard.Look();
  ASSERT_EQ(yard.engine->stops.size(), 1u);
  EXPECT_EQ(yard.engine->stops[0].first, yard.AttemptOf(young));
}

// A card is full though it is far from "used" in all: its driver keeps a part, which is neither used nor
// free.
TEST(Shares, ACardThatKeepsMemoryForItselfIsFullWithoutIt) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.Gpu(0).device.memory = 10240 * kMiB;
  yard.Gpu(0).device.reserved = 300 * kMiB;
  yard.Look();
  const TaskId modest = yard.MustSubmit(SpecWith("0.5"));
  const TaskId greedy = yard.MustSubmit(SpecWith("0.5"));
  ASSERT_EQ(yard.StateOf(greedy), "starting");
  EXPECT_EQ(yard.DeviceOf("GPU0").leases.at(0).memory, 4970 * kMiB) << "half of what can be given";
  EXPECT_EQ(yard.DeviceOf("GPU0").leases.at(1).memory, 4970 * kMiB);
  yard.Begin(modest);
  yard.Begin(greedy);
  DeviceProcess a = Compute(100, 3000 * kMiB), b = Compute(101, 6940 * kMiB);
  a.attempt = yard.AttemptOf(modest);
  b.attempt = yard.AttemptOf(greedy);
  yard.Gpu(0).processes = {a, b};
  yard.Gpu(0).memory_used = 9940 * kMiB;
  yard.Gpu(0).memory_free = 0;
  yard.Look();
  ASSERT_EQ(yard.engine->stops.size(), 1u);
  EXPECT_EQ(yard.engine->stops[0].first, yard.AttemptOf(greedy));
}

TEST(Shares, WhatTheDriverKeepsMayWaverAndTwoHalvesStillFit) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.Gpu(0).device.reserved = 300 * kMiB;
  yard.Look();
  const TaskId first = yard.MustSubmit(SpecWith("0.5"));
  yard.Begin(first);
  yard.Gpu(0).device.reserved = 500 * kMiB;
  yard.Look();
  EXPECT_EQ(yard.StateOf(yard.MustSubmit(SpecWith("0.5"))), "starting");
  EXPECT_EQ(yard.DeviceOf("GPU0").device.reserved, 300 * kMiB) << "as long as somebody has a part of it";
  yard.Restart();
  yard.Look();
  yard.FinishAdoption();
  EXPECT_EQ(yard.DeviceOf("GPU0").device.reserved, 300 * kMiB) << "over a restart too";
}

TEST(Shares, OutOfMemoryBesideOthersIsTriedAgainAlone) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId first = yard.MustSubmit(SpecWith("0.5"));
  const TaskId second = yard.MustSubmit(SpecWith("0.5"));
  yard.Begin(first);
  yard.Begin(second);
  yard.ingest->tail.exception = "torch.cuda.OutOfMemoryError: CUDA out of memory.";
  yard.Exit(second, 1);
  EXPECT_EQ(yard.StateOf(second), "waiting");
  EXPECT_TRUE(yard.RecordOf(second).task.alone);
}

TEST(Shares, MemoryOfCpuSlotsIsMeasuredInRam) {
  YardHarness yard(1);  // 8 GiB
  yard.watch = std::make_unique<FakeWatch>();
  const TaskId a = yard.MustSubmit(SpecWith("0.5"));
  const TaskId b = yard.MustSubmit(SpecWith("0.5"));
  yard.Begin(a);
  yard.Begin(b);
  yard.report.memory = {{yard.AttemptOf(a), 5 * kGiB}, {yard.AttemptOf(b), 2 * kGiB}};
  yard.Look();
  EXPECT_TRUE(yard.engine->stops.empty());
  yard.report.memory[1].bytes = 4 * kGiB;
  yard.Look();
  ASSERT_EQ(yard.engine->stops.size(), 1u);
  EXPECT_EQ(yard.engine->stops[0].first, yard.AttemptOf(a)) << "the one over its half";
}

// ---- Use from outside.

TEST(Foreign, ABigComputeProcessKeepsADeviceFromBeingGivenOut) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.Gpu(0).processes = {Compute(77, 6 * kGiB)};
  yard.Look();
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  EXPECT_EQ(yard.StateOf(task), "waiting");
  EXPECT_EQ(yard.WhyId(task), "device.foreign") << "it names process, owner and since when";
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "foreign");
  yard.Gpu(0).processes->clear();
  yard.Look();
  EXPECT_EQ(yard.StateOf(task), "starting");
}

// Case 82: russellb/canhazgpu#5.
TEST(Foreign, ADesktopIsNotForeign) {
  YardHarness yard(YardHarness::Gpus{1});
  DeviceProcess desktop = Compute(78, 300 << 20);
  desktop.type = DeviceProcess::Type::kGraphics;
  yard.Gpu(0).processes = {desktop};
  yard.Gpu(0).memory_used = 300 << 20;
  yard.Look();
  EXPECT_EQ(yard.StateOf(yard.MustSubmit(Spec({"train"}))), "starting");
}

TEST(Foreign, ButAnExclusiveTaskWantsNobodyAtAll) {
  YardHarness yard(YardHarness::Gpus{1});
  DeviceProcess desktop = Compute(78, 300 << 20);
  desktop.type = DeviceProcess::Type::kGraphics;
  yard.Gpu(0).processes = {desktop};
  yard.Look();
  TaskSpec spec = Spec({"measure"});
  spec.wish.exclusive = true;
  const TaskId task = yard.MustSubmit(spec);
  EXPECT_EQ(yard.StateOf(task), "waiting");
  yard.Gpu(0).processes->clear();
  yard.Look();
  EXPECT_EQ(yard.StateOf(task), "starting");
}

TEST(Foreign, LoadFromOutsideCountsToo) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.Gpu(0).utilisation = 0.95;
  yard.Look();
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  EXPECT_EQ(yard.WhyId(task), "device.busy_hidden");
}

// Case 94: Project-HAMi/HAMi-core#112.
TEST(Foreign, WhatCannotBeSeenIsOursWhileTheDeviceIsOurs) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.report.lists_trusted = false;
  yard.MustSubmit(SpecWith("0.5"));
  yard.Begin(TaskId{1});
  DeviceProcess hidden = Compute(90, 6 * kGiB);
  hidden.visible = false;
  yard.Gpu(0).processes = {hidden};
  yard.Gpu(0).memory_used = 6 * kGiB;
  yard.Look();
  EXPECT_EQ(yard.StateOf(yard.MustSubmit(SpecWith("0.5"))), "starting") << "not taken for foreign";
}

TEST(Foreign, InAContainerHiddenMemoryIsWaitedFor) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.report.lists_trusted = false;
  yard.Gpu(0).processes.reset();
  yard.Gpu(0).memory_used = 2 * kGiB;
  yard.Look();
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  EXPECT_EQ(yard.WhyId(task), "device.foreign_hidden");
  yard.Pass(minutes(1));
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "foreign") << "no quarantine where lists cannot be trusted";
}

TEST(Foreign, MemoryThatNobodyHoldsTakesADeviceOutUntilItIsFree) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.Gpu(0).memory_used = 3 * kGiB;
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "settling") << "a moment is no proof";
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  EXPECT_EQ(yard.WhyId(task), "device.freeing") << "nor is it a reason to run into a full card";
  EXPECT_TRUE(yard.watch->wish.often);
  yard.Pass(seconds(6));
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "quarantined");
  EXPECT_EQ(yard.WhyId(task), "device.memory_held");
  yard.Gpu(0).memory_used = 0;
  yard.Look();
  EXPECT_EQ(yard.StateOf(task), "starting");
}

TEST(Foreign, MemoryThatIsFreeAfterAMomentTakesNoDeviceOut) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.Gpu(0).memory_used = 3 * kGiB;
  yard.Look();
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  EXPECT_EQ(yard.StateOf(task), "waiting");
  yard.Pass(seconds(1));
  yard.Gpu(0).memory_used = 0;
  yard.Look();
  EXPECT_EQ(yard.StateOf(task), "starting");
  for (const Event& event : yard.Events()) EXPECT_NE(event.kind, "device.quarantined");
}

// WSL and Windows drivers list processes without their memory.
TEST(Foreign, AProcessThatCannotTellItsMemoryHasWhatNobodyElseAccountsFor) {
  YardHarness yard(YardHarness::Gpus{1});
  DeviceProcess untold = Compute(77, 0), desktop = Compute(78, 300 * kMiB);
  untold.memory.reset();
  desktop.type = DeviceProcess::Type::kGraphics;
  yard.Gpu(0).processes = {desktop, untold};
  yard.Gpu(0).memory_used = 700 * kMiB;
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "free") << "400 MiB are left for it";
  yard.Gpu(0).memory_used = 8 * kGiB;
  yard.Look();
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  EXPECT_EQ(yard.WhyId(task), "device.foreign");
  ASSERT_EQ(yard.DeviceOf("GPU0").foreign.size(), 1u);
  EXPECT_EQ(yard.DeviceOf("GPU0").foreign[0].pid, 77);
}

TEST(Foreign, ButNotWhatOurOwnTaskMayHave) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId task = yard.MustSubmit(SpecWith("0.5"));
  yard.Begin(task);
  DeviceProcess ours = Compute(77, 0), other = Compute(78, 0);
  ours.memory.reset();
  other.memory.reset();
  ours.attempt = yard.AttemptOf(task);
  yard.Gpu(0).processes = {ours, other};
  yard.Gpu(0).memory_used = 8 * kGiB;
  yard.Look();
  EXPECT_TRUE(yard.DeviceOf("GPU0").foreign.empty()) << "nobody knows whose it is";
  ours.memory = 2 * kGiB;
  yard.Gpu(0).processes = {ours, other};
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").foreign.size(), 1u);
}

TEST(Foreign, ManySmallProcessesAreBigTogether) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.Gpu(0).processes = {Compute(77, 450 * kMiB)};
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "free");
  // A desktop whose parts compute as well is one all the same.
  for (int pid : {77, 78, 79}) {
    yard.Gpu(0).processes->resize(pid - 76, Compute(pid, 450 * kMiB));
    yard.Gpu(0).processes->back().draws = true;
  }
  yard.Gpu(0).processes->front().memory.reset();  // nor does it matter what one of it does not tell
  yard.Gpu(0).memory_used = 1400 * kMiB;
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "free");
  yard.Gpu(0).processes = {Compute(77, 450 * kMiB), Compute(78, 460 * kMiB), Compute(79, 450 * kMiB)};
  yard.Look();
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  EXPECT_EQ(yard.WhyId(task), "device.foreign_many");
  EXPECT_EQ(yard.DeviceOf("GPU0").foreign.size(), 3u);
  EXPECT_TRUE(ActOn(yard, DeviceVerb::kRelease, "GPU0"));
  EXPECT_EQ(yard.StateOf(task), "starting") << "all of them are let pass";
}

// A task that does not keep to its CUDA_VISIBLE_DEVICES.
TEST(Foreign, ATaskOfOursOnACardThatIsNotItsIsNamed) {
  YardHarness yard(YardHarness::Gpus{2});
  const TaskId one = yard.MustSubmit(Spec({"one"}));
  const TaskId two = yard.MustSubmit(Spec({"two"}));
  yard.Begin(one);
  yard.Begin(two);
  ASSERT_EQ(yard.LeasesOn("GPU1"), "2 1000/1000 whole");
  yard.Exit(one, 0);
  yard.now += milliseconds(100);
  DeviceProcess astray = Compute(90, 9 * kGiB);
  astray.attempt = yard.AttemptOf(two);
  yard.Gpu(0).processes = {astray};
  yard.Gpu(0).memory_used = 9 * kGiB;
  yard.Look();
  const TaskId next = yard.MustSubmit(Spec({"next"}));
  EXPECT_EQ(yard.WhyId(next), "why.gpus_some_out") << "it starts when the other ends as well";
  const DeviceView device = yard.DeviceOf("GPU0");
  EXPECT_EQ(device.state, "foreign");
  EXPECT_EQ(device.trouble.id, "device.astray");
  ASSERT_EQ(device.tasks.size(), 1u);
  EXPECT_EQ(device.tasks[0].second, two) << "the list of processes tells whose it is";
  EXPECT_TRUE(yard.DeviceOf("GPU1").foreign.empty());

  // That it is there with a little is no reason; a load is.
  yard.Pass(seconds(6));
  astray.memory = 400 * kMiB;
  yard.Gpu(0).processes = {astray};
  yard.Gpu(0).memory_used = 400 * kMiB;
  yard.Gpu(0).utilisation = 0.9;
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").trouble.id, "device.astray");
  yard.Gpu(0).utilisation = 0.1;
  yard.Look();
  EXPECT_EQ(yard.StateOf(next), "starting");
}

TEST(Foreign, ReleaseLetsThosePassThatAreThere) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.Gpu(0).processes = {Compute(77, 6 * kGiB)};
  yard.Look();
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  EXPECT_TRUE(ActOn(yard, DeviceVerb::kRelease, "GPU0"));
  EXPECT_EQ(yard.StateOf(task), "starting");
  yard.Begin(task);
  yard.Exit(task, 0);
  yard.Pass(seconds(6));
  yard.Gpu(0).processes = {Compute(78, 6 * kGiB)};
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "foreign") << "another process is another matter";
}

// ---- Hold and release by hand.

TEST(Hold, NothingNewStartsUntilTheTimeHasCome) {
  YardHarness yard(YardHarness::Gpus{1});
  EXPECT_TRUE(ActOn(yard, DeviceVerb::kHold, "0", yard.now + hours(1)));
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  EXPECT_EQ(yard.WhyId(task), "device.held");
  yard.Restart();
  yard.Look();
  yard.FinishAdoption();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "held") << "a restart does not forget";
  yard.Pass(hours(1));
  EXPECT_EQ(yard.StateOf(task), "starting");
}

TEST(Hold, WhatRunsGoesOn) {
  YardHarness yard(1);
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  yard.Begin(task);
  EXPECT_TRUE(ActOn(yard, DeviceVerb::kHold, "cpu:0"));
  EXPECT_EQ(yard.StateOf(task), "running");
  EXPECT_TRUE(yard.engine->stops.empty());
  EXPECT_TRUE(ActOn(yard, DeviceVerb::kRelease, "cpu:0"));
  EXPECT_EQ(yard.DeviceOf("cpu:0").state, "leased");
}

TEST(Hold, AnUnknownDeviceIsNamedWithThoseThatAre) {
  YardHarness yard(YardHarness::Gpus{2});
  Status held = ActOn(yard, DeviceVerb::kHold, "GPU7");
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().message.id, "act.device_unknown");
  EXPECT_FALSE(ActOn(yard, DeviceVerb::kHold, "GPU-0000000")) << "more than one begins so";
  EXPECT_TRUE(ActOn(yard, DeviceVerb::kHold, FakeGpu(1).id.substr(0, 13)));
}

// ---- Lost, hardware faults, unkillable.

// Case 85: wookayin/gpustat#81, NVIDIA/NVSentinel#155.
TEST(Quarantine, ALostCardLeavesTheOthersAtWork) {
  YardHarness yard(YardHarness::Gpus{2});
  const TaskId a = yard.MustSubmit(Spec({"a"}));
  const TaskId b = yard.MustSubmit(Spec({"b"}));
  yard.Begin(a);
  yard.Begin(b);
  yard.Gpu(0).health = DeviceHealth::kLost;
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "lost");
  ASSERT_EQ(yard.engine->stops.size(), 1u) << "only the one that ran there";
  EXPECT_EQ(yard.engine->stops[0].first, yard.AttemptOf(a));
  EXPECT_EQ(yard.StateOf(b), "running");
  yard.Exit(a, 143, true);
  EXPECT_EQ(yard.StateOf(a), "waiting") << "it runs again elsewhere";
  yard.Exit(b, 0);
  yard.Look();
  EXPECT_EQ(yard.LeasesOn("GPU1"), "1 1000/1000 whole");
  EXPECT_FALSE(ActOn(yard, DeviceVerb::kRelease, "GPU0")) << "it still does not answer";
  yard.Gpu(0).health = DeviceHealth::kGood;
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "lost") << "a person gives it back";
  EXPECT_TRUE(ActOn(yard, DeviceVerb::kRelease, "GPU0"));
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "free");
}

TEST(Quarantine, LostAndHeldAreKnownAfterARestart) {
  YardHarness yard(YardHarness::Gpus{2});
  yard.Gpu(0).health = DeviceHealth::kLost;
  yard.Look();
  yard.Restart();
  yard.FinishAdoption();
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "lost");
  const std::vector<Event> events = yard.Events();
  EXPECT_EQ(
      std::count_if(events.begin(), events.end(), [](const Event& e) { return e.kind == "device.lost"; }), 1);
}

TEST(Quarantine, AnApplicationFaultIsTheTasksAHardwareFaultTheCards) {
  YardHarness yard(YardHarness::Gpus{2});
  const TaskId a = yard.MustSubmit(Spec({"a"}));
  yard.Begin(a);
  yard.report.xids = {{FakeGpu(0).id, 31}};
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "leased");
  yard.report.xids = {{FakeGpu(0).id, 79}};
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "quarantined");
  yard.Exit(a, 1);
  EXPECT_EQ(yard.StateOf(a), "starting") << "a broken card is not the task's fault: it runs on the other";
  EXPECT_EQ(yard.LeasesOn("GPU1"), "1 1000/1000 whole");
}

TEST(Quarantine, WhatTheDriverSawIsTheOutcomeAndTheRuleIsKept) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.See(task, Progress{.done = 3, .total = 20});
  yard.report.xids = {{FakeGpu(0).id, 31}};
  yard.Look();
  yard.Exit(task, 1);
  const Attempt first = yard.RecordOf(task).attempts.at(0);
  EXPECT_EQ(first.outcome->failure, FailureClass::kCudaFault);
  EXPECT_EQ(first.outcome->reason.id, "outcome.xid");
  EXPECT_EQ(first.rule.id, "retry.device_fault") << "it had made progress";
  EXPECT_EQ(yard.StateOf(task), "waiting");
}

TEST(Quarantine, AFailureThatNothingExplainsWaitsForTheDriversNextWord) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  const int looks = yard.watch->looks;
  yard.Exit(task, 1);
  EXPECT_EQ(yard.StateOf(task), "running");
  EXPECT_GT(yard.watch->looks, looks) << "it is asked at once";
  yard.Pass(milliseconds(1));
  yard.report.xids = {{FakeGpu(0).id, 31}};
  yard.Look();
  EXPECT_EQ(yard.OutcomeOf(task)->reason.id, "outcome.xid");
}

TEST(Quarantine, ADriverThatSaysNothingIsNotWaitedForLong) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.Exit(task, 1);
  yard.Pass(seconds(2));
  EXPECT_EQ(yard.OutcomeOf(task)->reason.id, "outcome.exit_code");
}

TEST(Quarantine, OfManyFaultsTheBrokenCardsIsTold) {
  YardHarness yard(YardHarness::Gpus{2});
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.report.xids = {{FakeGpu(0).id, 31}, {FakeGpu(0).id, 79}};
  yard.Look();
  yard.Exit(task, 1);
  const Attempt first = yard.RecordOf(task).attempts.at(0);
  EXPECT_EQ(std::get<int64_t>(first.outcome->reason.args.at(0).second), 79);
  EXPECT_EQ(first.rule.id, "retry.device_broken");
}

TEST(Quarantine, UncorrectableMemoryErrorsTakeACardOut) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.Gpu(0).health = DeviceHealth::kUncorrectable;
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "quarantined");
  EXPECT_EQ(yard.WhyId(yard.MustSubmit(Spec({"train"}))), "device.ecc");
  const Status released = ActOn(yard, DeviceVerb::kRelease, "GPU0");
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().message.id, "act.device_still_ecc") << "the look went well, the count stands";
}

// Case 49: microsoft/pai#3375.
TEST(Quarantine, AProcessThatDoesNotDieTakesItsDeviceOutUntilItIsGone) {
  YardHarness yard(2);
  const TaskId stuck = yard.MustSubmit(Spec({"stuck"}));
  yard.Begin(stuck);
  yard.News(stuck, AttemptUnkillable{});
  EXPECT_EQ(yard.DeviceOf("cpu:0").state, "quarantined");
  const std::vector<Event> events = yard.Events();
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const Event& event) {
    return event.kind == "attempt.stopping" && event.data.find("why.unkillable") != std::string::npos;
  }));
  const TaskId other = yard.MustSubmit(Spec({"other"}));
  EXPECT_EQ(yard.StateOf(other), "starting") << "the other device is untouched";
  yard.Exit(stuck, 1);
  EXPECT_EQ(yard.DeviceOf("cpu:0").state, "free");
}

// ---- The watch and its troubles.

// Case 88: lyulyul/shine-cluster#30.
TEST(Probe, ADriverMismatchLeavesWhatRunsAndStartsNothing) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId running = yard.MustSubmit(Spec({"a"}));
  yard.Begin(running);
  yard.report.state = ProbeState::kMismatch;
  yard.Look();
  EXPECT_EQ(yard.StateOf(running), "running");
  yard.Exit(running, 0);
  yard.Pass(seconds(6));
  const TaskId next = yard.MustSubmit(Spec({"b"}));
  EXPECT_EQ(yard.WhyId(next), "probe.mismatch");
  EXPECT_EQ(yard.yard->Overview().probe_trouble.id, "probe.mismatch");
  yard.report.state = ProbeState::kGood;
  yard.Look();
  EXPECT_EQ(yard.StateOf(next), "starting");
}

// Case 40 of reliability-security.
TEST(Probe, ADriverThatHangsAtTheStartIsWaitedForWithTheDevicesKnown) {
  YardHarness yard(YardHarness::Gpus{2});
  yard.Restart();
  yard.FinishAdoption();
  EXPECT_EQ(yard.DeviceOf("GPU1").state, "unknown") << "known from before, not read yet";
  Result<SubmitReceipt> receipt = yard.Submit(Spec({"big"}, "16"));
  ASSERT_TRUE(receipt) << "nobody knows how many there are";
  const TaskId task = yard.MustSubmit(Spec({"train"}, "2"));
  EXPECT_EQ(yard.WhyId(task), "probe.hanging");
  yard.Look();
  EXPECT_EQ(yard.StateOf(task), "starting");
}

// Case 86: justanhduc/task-spooler#34.
TEST(Probe, OneBadHandleHidesOnlyItself) {
  YardHarness yard(YardHarness::Gpus{4});
  yard.Gpu(2).health = DeviceHealth::kFailing;
  yard.Gpu(2).detail = "Unknown Error";
  yard.Look();
  EXPECT_EQ(yard.StateOf(yard.MustSubmit(Spec({"train"}, "3"))), "starting");
  EXPECT_EQ(yard.DeviceOf("GPU2").state, "unknown");
}

TEST(Probe, ACardOnlyKnownByItsPlaceGetsItsNameLater) {
  YardHarness yard(YardHarness::Gpus{0});
  DeviceReading reading;
  reading.device.id = "pci:0000:00:00.0";
  reading.device.kind = Device::Kind::kGpu;
  reading.device.label = "GPU0";
  reading.device.pci = "0000:00:00.0";
  reading.health = DeviceHealth::kFailing;
  yard.report.devices = {reading};
  yard.report.state = ProbeState::kNoDriver;
  yard.Look();
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  EXPECT_EQ(yard.WhyId(task), "probe.no_driver") << "no CPU slot is made up";
  reading.device = FakeGpu(0);
  reading.health = DeviceHealth::kGood;
  yard.report.devices = {reading};
  yard.report.state = ProbeState::kGood;
  yard.Look();
  EXPECT_EQ(yard.yard->Devices().size(), 1u);
  EXPECT_EQ(yard.StateOf(task), "starting");
}

// Where no bus is to be seen: WSL, some containers.
TEST(Probe, ALostCardOfNoPlaceIsTheOneThatHadItsNumber) {
  YardHarness yard(YardHarness::Gpus{2});
  for (int index : {0, 1}) yard.Gpu(index).device.pci.clear();
  yard.Look();
  yard.Restart();
  yard.Gpu(1).device = {};
  yard.Gpu(1).device.id = "pci:gpu1";
  yard.Gpu(1).device.kind = Device::Kind::kGpu;
  yard.Gpu(1).device.index = 1;
  yard.Gpu(1).device.label = "GPU1";
  yard.Gpu(1).device.usable = false;
  yard.Gpu(1).health = DeviceHealth::kLost;
  yard.Look();
  yard.FinishAdoption();
  ASSERT_EQ(yard.yard->Devices().size(), 2u);
  EXPECT_EQ(yard.yard->Devices()[1].device.id, FakeGpu(1).id);
  EXPECT_EQ(yard.yard->Devices()[1].state, "lost");
}

TEST(Probe, ACardThatIsGoneAfterARestartDoesNotLookLikeTheOneThatHasItsNumberNow) {
  YardHarness yard(YardHarness::Gpus{2});
  yard.Restart();
  yard.report.devices.erase(yard.report.devices.begin());
  yard.Gpu(0).device.index = 0;
  yard.Gpu(0).device.label = "GPU0";
  yard.Look();
  yard.FinishAdoption();
  EXPECT_EQ(yard.DeviceOf("GPU0").device.id, FakeGpu(1).id);
  EXPECT_EQ(yard.DeviceOf("GPU0-lost").device.id, FakeGpu(0).id);
  EXPECT_EQ(yard.DeviceOf("GPU0-lost").state, "lost");
}

TEST(Probe, ANumberThatNoCardHasIsNotACardThatBroke) {
  YardHarness yard(YardHarness::Gpus{1});
  DeviceReading& absent = yard.report.devices.emplace_back();
  absent.device.id = "pci:gpu5";
  absent.device.kind = Device::Kind::kGpu;
  absent.device.index = 5;
  absent.device.label = "GPU5";
  absent.device.usable = false;
  absent.health = DeviceHealth::kAbsent;
  absent.detail = "GPU0";
  yard.Look();
  const DeviceView device = yard.DeviceOf("GPU5");
  EXPECT_EQ(device.state, "unknown");
  EXPECT_EQ(Describe(device.trouble), "device.absent(number=5, devices=GPU0)");
  for (const Event& event : yard.Events()) EXPECT_NE(event.kind, "device.lost");
}

TEST(Probe, NumbersMayChangeTheUuidStays) {
  YardHarness yard(YardHarness::Gpus{2});
  const TaskId task = yard.MustSubmit(Spec({"train"}));
  yard.Begin(task);
  yard.Restart();
  std::swap(yard.Gpu(0), yard.Gpu(1));
  yard.Gpu(0).device.index = 0;
  yard.Gpu(0).device.label = "GPU0";
  yard.Gpu(1).device.index = 1;
  yard.Gpu(1).device.label = "GPU1";
  yard.Look();
  yard.News(task, AttemptRunning{yard.now, 1, true});
  yard.FinishAdoption();
  EXPECT_EQ(yard.LeasesOn("GPU1"), "1 1000/1000 whole");
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "free");
}

// ---- Between yards.

TEST(Host, ADeviceOfAnotherYardIsLeftAloneAndNamed) {
  YardHarness yard(YardHarness::Gpus{2});
  yard.host->others[FakeGpu(0).id] = HostHolder{"bob", "other", 4, "his", yard.now};
  const TaskId first = yard.MustSubmit(Spec({"a"}));
  EXPECT_EQ(yard.LeasesOn("GPU1"), "1 1000/1000 whole") << "the other card is free";
  const TaskId second = yard.MustSubmit(Spec({"b"}));
  EXPECT_EQ(yard.StateOf(first), "starting");
  EXPECT_EQ(yard.WhyId(second), "why.gpus_some_out") << "either end lets it start";
  EXPECT_EQ(yard.DeviceOf("GPU0").trouble.id, "device.elsewhere");
  yard.host->others.clear();
  yard.Look();
  EXPECT_EQ(yard.StateOf(second), "starting");
}

TEST(Host, AGateThatIsBusyIsTriedAgainInAMoment) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.host->again = 1;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Pass(milliseconds(20));
  EXPECT_EQ(yard.StateOf(task), "starting");
}

TEST(Host, ATaskTakesAnotherCardWhileTheGateOfOneIsShutAndNobodyOvertakesIt) {
  YardHarness yard(YardHarness::Gpus{2});
  yard.host->gates[FakeGpu(0).id] = {};
  std::vector<SubmitItem> items(2);
  items[0].spec = Spec({"first"});
  items[1].spec = Spec({"second"});
  yard.SubmitAll(std::move(items));
  EXPECT_EQ(yard.LeasesOn("GPU1"), "1 1000/1000 whole");
  EXPECT_EQ(yard.WhyId(TaskId{2}), "device.gate_busy");
  yard.host->gates.clear();
  yard.Pass(milliseconds(20));
  EXPECT_EQ(yard.LeasesOn("GPU0"), "2 1000/1000 whole");
}

TEST(Host, AGateThatStaysShutIsSomebodysAndTheyAreNamed) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.host->gates[FakeGpu(0).id] = HostHolder{.user = "bob"};
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  for (int i = 0; i < 40; i++) yard.Pass(milliseconds(100));
  EXPECT_EQ(yard.WhyId(task), "device.gate_kept");
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "elsewhere");
  EXPECT_FALSE(ActOn(yard, DeviceVerb::kRelease, "GPU0"));
  yard.host->gates.clear();
  yard.Pass(seconds(1));
  EXPECT_EQ(yard.StateOf(task), "starting");
}

TEST(Host, BriefDecisionsOfOthersAreNotAddedUp) {
  YardHarness yard(YardHarness::Gpus{1});
  for (int i = 0; i < 4; i++) {
    yard.host->again = 2;
    const TaskId task = yard.MustSubmit(Spec({"a"}));
    EXPECT_EQ(yard.WhyId(task), "device.gate_busy");
    yard.Pass(milliseconds(20));
    yard.Begin(task);
    yard.Exit(task, 0);
    yard.Pass(seconds(6));
    yard.Look();
  }
}

TEST(Host, WhatALostRunLeftBehindIsNamedAsOursAndNotReleasedByHand) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId lost = yard.MustSubmit(Spec({"a"}));
  yard.Begin(lost);
  yard.host->left_behind = true;
  yard.News(lost, AttemptLost{});
  yard.Pass(seconds(6));
  yard.report.asked = {FakeGpu(0).id};
  yard.report.elsewhere = {
      {FakeGpu(0).id, HostHolder{.user = "ann", .instance = yard.yard->settings().instance}}};
  yard.Look();
  const DeviceView held = yard.DeviceOf("GPU0");
  EXPECT_EQ(held.state, "elsewhere");
  EXPECT_EQ(held.trouble.id, "device.left_behind");
  EXPECT_FALSE(held.elsewhere) << "it is no other yard's";
  const Status released = ActOn(yard, DeviceVerb::kRelease, "GPU0");
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().message.id, "act.device_left_behind");
  EXPECT_TRUE(yard.host->left.empty()) << "the note says whose it is";

  yard.host->left_behind = false;
  yard.report.elsewhere.clear();
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "free");
  EXPECT_EQ(yard.host->left, (std::vector<std::string>{FakeGpu(0).id}));
}

TEST(Host, WhatIsAnotherYardsIsNotReleasedByHandButAHoldBesideItIs) {
  YardHarness yard(YardHarness::Gpus{1});
  yard.report.asked = {FakeGpu(0).id};
  yard.report.elsewhere = {{FakeGpu(0).id, HostHolder{"bob", "other", 4, "his", yard.now}}};
  yard.Look();
  const Status released = ActOn(yard, DeviceVerb::kRelease, "GPU0");
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().message.id, "act.device_elsewhere");
  EXPECT_TRUE(ActOn(yard, DeviceVerb::kHold, "GPU0"));
  EXPECT_TRUE(ActOn(yard, DeviceVerb::kRelease, "GPU0"));
  EXPECT_EQ(yard.DeviceOf("GPU0").state, "elsewhere");
}

TEST(Host, TheLockGoesWithTheAttempt) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  EXPECT_EQ(yard.engine->launched.at(0).leases.size(), 1u);
  yard.Begin(task);
  yard.Exit(task, 0);
  EXPECT_EQ(yard.host->left, (std::vector<std::string>{FakeGpu(0).id}));
}

TEST(Lease, ACardIsGivenOutAgainOnlyWhenItsMemoryIsFree) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId first = yard.MustSubmit(Spec({"a"}));
  const TaskId second = yard.MustSubmit(Spec({"b"}));
  yard.Begin(first);
  yard.Gpu(0).memory_used = 9 * kGiB;
  yard.Exit(first, 0);
  EXPECT_EQ(yard.WhyId(second), "device.settling");
  EXPECT_GT(yard.watch->looks, 0) << "a look is asked for at once";
  yard.now += milliseconds(100);
  yard.Look();
  EXPECT_EQ(yard.StateOf(second), "waiting");
  yard.Gpu(0).memory_used = 0;
  yard.now += milliseconds(100);
  yard.Look();
  EXPECT_EQ(yard.StateOf(second), "starting");
}

TEST(Lease, WhatATaskLeftOnACardIsNotGivenToTheNext) {
  YardHarness yard(YardHarness::Gpus{1});
  const TaskId first = yard.MustSubmit(Spec({"a"}));
  const TaskId second = yard.MustSubmit(Spec({"b"}));
  yard.Begin(first);
  yard.Gpu(0).memory_used = 9 * kGiB;
  yard.Exit(first, 0);
  yard.now += milliseconds(100);
  yard.Look();
  EXPECT_EQ(yard.WhyId(second), "device.settling");
  yard.Pass(seconds(5));
  EXPECT_EQ(yard.WhyId(second), "device.freeing") << "before the next look, too";
  yard.Look();
  EXPECT_EQ(yard.WhyId(second), "device.freeing");
  yard.Pass(seconds(6));
  yard.Look();
  EXPECT_EQ(yard.WhyId(second), "device.memory_held");
  yard.Gpu(0).memory_used = 0;
  yard.Look();
  EXPECT_EQ(yard.StateOf(second), "starting");
}

TEST(Priority, FirstGoesBeforeAllThatWait) {
  YardHarness yard(1);
  const TaskId running = yard.MustSubmit(Spec({"a"}));
  TaskSpec high = Spec({"b"});
  high.priority = 100;
  yard.MustSubmit(high);
  const TaskId late = yard.MustSubmit(Spec({"c"}));
  EXPECT_TRUE(First(yard, late).at(0).done);
  EXPECT_EQ(First(yard, running).at(0).done.error().message.id, "act.move_running");
  yard.Begin(running);
  yard.Exit(running, 0);
  EXPECT_EQ(yard.StateOf(late), "starting");
}

}  // namespace
}  // namespace ty
