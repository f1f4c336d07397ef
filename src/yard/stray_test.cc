// Runs that live and that no row tells of; runs that cannot be killed, found after a restart.
#include <gtest/gtest.h>

#include "testing/yard_harness.h"

namespace ty {
namespace {

StrayFound OnSlot(const std::string& slot) {
  StrayFound stray;
  stray.task = TaskId{9};
  stray.command = "python3 train.py";
  stray.devices = std::vector<std::string>{slot};
  return stray;
}

// As the engine tells it: before adoption is done.
void Find(YardHarness& yard, const Ulid& uid, StrayFound stray) {
  yard.inbox->Post(AttemptNews{uid, std::move(stray)});
  yard.Settle();
}

TEST(Strays, KeepTheirDevicesFromEverybodyUntilTheyAreGone) {
  YardHarness yard(2);
  yard.Restart();
  const Ulid uid = Ulid::Make(yard.now);
  Find(yard, uid, OnSlot("cpu:0"));
  yard.FinishAdoption();
  EXPECT_EQ(yard.DeviceOf("cpu:0").state, "foreign");
  EXPECT_EQ(yard.DeviceOf("cpu:0").trouble.id, "stray.device");
  const TaskId first = yard.MustSubmit(Spec({"a"})), second = yard.MustSubmit(Spec({"b"}));
  yard.Settle();
  EXPECT_TRUE(yard.Launched(first));
  EXPECT_EQ(yard.LeasesOn("cpu:0"), "");
  EXPECT_FALSE(yard.Launched(second));
  const YardView view = yard.yard->Overview();
  ASSERT_EQ(view.strays.size(), 1u);
  EXPECT_EQ(view.strays[0].uid, uid);
  EXPECT_EQ(view.strays[0].task, TaskId{9});
  EXPECT_EQ(view.strays[0].devices, std::vector<std::string>{"cpu:0"});
  EXPECT_TRUE(view.put_aside.empty());

  yard.inbox->Post(AttemptNews{uid, StrayGone{}});
  yard.Settle();
  EXPECT_TRUE(yard.Launched(second));
  EXPECT_TRUE(yard.yard->Overview().strays.empty());
}

TEST(Strays, OfAnOlderVersionHoldTheSlotsWhoseCpusTheyRunOn) {
  YardHarness yard(2);
  yard.Restart();
  StrayFound stray;
  stray.cpus = yard.DeviceOf("cpu:1").device.cpus;
  ASSERT_FALSE(stray.cpus.empty());
  Find(yard, Ulid::Make(yard.now), stray);
  EXPECT_EQ(yard.DeviceOf("cpu:0").state, "free");
  EXPECT_EQ(yard.DeviceOf("cpu:1").state, "foreign");
}

TEST(Strays, LetAPersonHaveTheDeviceAllTheSame) {
  YardHarness yard(1);
  yard.Restart();
  Find(yard, Ulid::Make(yard.now), OnSlot("cpu:0"));
  yard.FinishAdoption();
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  EXPECT_FALSE(yard.Launched(task));
  ActOnDevices release;
  release.verb = DeviceVerb::kRelease;
  release.devices = {"cpu:0"};
  release.reply = [](auto) {};
  yard.inbox->Post(std::move(release));
  yard.Settle();
  EXPECT_TRUE(yard.Launched(task));
}

TEST(Strays, HoldACardThatIsSeenOnlyLater) {
  YardHarness yard(YardHarness::Gpus{1});
  const std::string card = yard.Gpu(0).device.id;
  yard.Restart();
  Find(yard, Ulid::Make(yard.now), OnSlot(card));
  yard.FinishAdoption();
  yard.Look();
  EXPECT_EQ(yard.DeviceOf("GPU0").trouble.id, "stray.device");
}

TEST(Unkillable, IsSaidAfterARestartTooAndTakesTheDeviceOutOfService) {
  YardHarness yard(1);
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.DoOne(Verb::kCancel, task);
  yard.Restart();
  AttemptRunning running;
  running.started = yard.now;
  running.adopted = true;
  running.unkillable = true;
  yard.News(task, running);
  yard.FinishAdoption();
  EXPECT_EQ(yard.yard->Describe(task)->reason.id, "why.unkillable");
  EXPECT_EQ(yard.DeviceOf("cpu:0").state, "quarantined");
  // The news of it may come on top: it is told once.
  const size_t told = yard.EventKinds(task).size();
  yard.News(task, AttemptUnkillable{});
  EXPECT_EQ(yard.EventKinds(task).size(), told);
}

}  // namespace
}  // namespace ty
