// Ten thousand random steps on the real Yard: tasks come, are cancelled, fail and end, the daemon starts
// anew, cards are lost and come back, shares come and go. After each step what is leased is what runs, in
// memory as in the store, and no device is ever given out beyond the whole of it.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "testing/yard_harness.h"

namespace ty {
namespace {

class RandomLedger : public testing::TestWithParam<unsigned> {
 protected:
  void Step();
  void CheckInvariants();
  void Come();
  void EndOne(int code);
  void StartAnew();
  void LoseOrFind();

  int Pick(int n) { return static_cast<int>(random_() % n); }
  TaskId PickRunning() {
    const std::vector<TaskId> running = yard_.yard->Running();
    return running.empty() ? TaskId{} : running[Pick(static_cast<int>(running.size()))];
  }

  std::mt19937 random_{GetParam()};
  YardHarness yard_{YardHarness::Gpus{4}};
  bool obeyed_ = false;  // every order to freeze or thaw was carried out
};

void RandomLedger::Come() {
  if (yard_.yard->Overview().waiting > 12) return;
  const char* counts[] = {"1", "1", "1", "2", "3", "{1,2,4}", "0"};
  TaskSpec spec = Spec({"train"}, counts[Pick(7)]);
  spec.priority = Pick(3) * 100;
  const bool one = spec.gpus.Most() == 1;
  if (one && Pick(2) == 0) {
    const char* shares[] = {"0.5", "0.3", "0.25:turns:2s", "0.5:turns:5s", "0.9:turns"};
    spec.wish.share = *Share::Parse(shares[Pick(5)]);
  } else if (spec.gpus.Most() > 0 && Pick(3) == 0) {
    spec.wish.ranks = true;
  }
  if (Pick(4) == 0 && spec.gpus.Most() > 0) spec.wish.memory = (int64_t{1} + Pick(20)) << 30;
  (void)yard_.Submit(spec);
}

void RandomLedger::EndOne(int code) {
  const TaskId id = PickRunning();
  if (id.value == 0) return;
  const Attempt attempt = *yard_.yard->Describe(id)->attempt;
  if (attempt.state == AttemptState::kStarting) return yard_.Begin(id);
  yard_.Exit(id, code, attempt.state == AttemptState::kStopping);
}

// Open attempts are adopted: most still run, one or the other was lost.
void RandomLedger::StartAnew() {
  yard_.Restart();
  if (Pick(2) == 0) yard_.Look();
  for (TaskId id : yard_.yard->Running()) {
    if (Pick(8) == 0) {
      yard_.News(id, AttemptLost{});
    } else {
      yard_.News(id, AttemptRunning{yard_.now, 7, true, yard_.IsFrozen(yard_.AttemptOf(id))});
    }
  }
  yard_.FinishAdoption();
  yard_.Look();
  yard_.Obey();
}

void RandomLedger::LoseOrFind() {
  const int card = Pick(4);
  DeviceReading& gpu = yard_.Gpu(card);
  if (gpu.health == DeviceHealth::kGood && Pick(3) == 0) {
    gpu.health = DeviceHealth::kLost;
    return yard_.Look();
  }
  gpu.health = DeviceHealth::kGood;
  yard_.Look();
  ActOnDevices act;
  act.verb = DeviceVerb::kRelease;
  act.devices = {"GPU" + std::to_string(card)};
  act.reply = [](auto) {};
  yard_.inbox->Post(std::move(act));
  yard_.Settle();
}

void RandomLedger::Step() {
  obeyed_ = false;
  switch (Pick(12)) {
    case 0:
    case 1:
    case 2:
      return Come();
    case 3:
    case 4:
    case 5:
      return EndOne(0);
    case 6:
      return EndOne(1);
    case 7: {
      const TaskId id = PickRunning();
      if (id.value > 0) (void)yard_.DoOne(Verb::kCancel, id);
      return;
    }
    case 8:
      if (Pick(10) == 0) return StartAnew();
      return yard_.Look();
    case 9:
      if (Pick(4) == 0) return LoseOrFind();
      return yard_.Look();
    default:
      yard_.Pass(milliseconds(Pick(3000)));
      yard_.Obey();
      obeyed_ = true;
  }
}

void RandomLedger::CheckInvariants() {
  OpenState state;
  yard_.store->Read([&](Rows& rows) { state = *rows.LoadOpen(); });
  std::map<std::string, int> granted, asked;
  std::map<std::string, std::set<ShareMode>> modes;
  std::map<Ulid, std::set<std::string>> held;
  for (const Lease& lease : state.leases) {
    granted[lease.device] += lease.share_milli;
    asked[lease.device] += lease.asked_milli;
    modes[lease.device].insert(lease.mode);
    ASSERT_TRUE(held[lease.attempt].insert(lease.device).second);
    ASSERT_GE(lease.share_milli, lease.asked_milli);
  }
  for (const auto& [device, sum] : granted) {
    ASSERT_EQ(sum, 1000) << device << ": what is left over goes to those who are there";
    ASSERT_LE(asked[device], 1000);
    ASSERT_EQ(modes[device].size(), 1u) << "modes never mix";
  }
  // What is leased is what runs.
  size_t leasing = 0;
  for (const Attempt& attempt : state.attempts) {
    ASSERT_EQ(held[attempt.uid], std::set<std::string>(attempt.devices.begin(), attempt.devices.end()));
    leasing += !attempt.devices.empty();
  }
  size_t holders = 0;
  for (const auto& [uid, devices] : held) holders += !devices.empty();
  ASSERT_EQ(holders, leasing);
  // Memory says what the disk says.
  std::map<std::string, int> in_memory;
  for (const DeviceView& device : yard_.yard->Devices()) {
    int awake = 0, taking_turns = 0;
    for (const LeaseView& lease : device.leases) {
      in_memory[device.device.id] += lease.share_milli;
      taking_turns += lease.mode == ShareMode::kTurns;
      awake += lease.mode == ShareMode::kTurns && !lease.frozen;
    }
    if (obeyed_) {
      ASSERT_TRUE(taking_turns == 0 || awake > 0) << "somebody has the floor";
    }
  }
  ASSERT_EQ(in_memory, granted);
}

TEST_P(RandomLedger, WhatIsLeasedIsWhatRuns) {
  for (int step = 0; step < 2500; step++) {
    Step();
    CheckInvariants();
    if (HasFatalFailure()) {
      ADD_FAILURE() << "at step " << step;
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLedger, testing::Range(0u, 4u));

}  // namespace
}  // namespace ty
