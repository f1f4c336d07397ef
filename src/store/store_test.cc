// What every store promises, the one on disk and the one in memory.
#include "store/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <thread>

#include "store/store_testing.h"

namespace ty {
namespace {

using namespace store_testing;

class Stores : public testing::TestWithParam<std::string> {
 protected:
  Stores() {
    if (GetParam() == "memory")
      desk_.Take(MakeMemoryStore());
    else
      desk_.Take(OpenSqliteStore(folder_.path()).value());
  }

  TemporaryFolder folder_;
  Desk desk_;
};

INSTANTIATE_TEST_SUITE_P(, Stores, testing::Values("memory", "sqlite"),
                         [](const auto& info) { return info.param; });

// ---- One of each change

TEST_P(Stores, AreEmptyAtFirst) {
  const OpenState state = desk_.LoadOpen();
  EXPECT_TRUE(state.tasks.empty() && state.attempts.empty() && state.leases.empty() &&
              state.settings.empty());
  EXPECT_EQ(state.last_task, 0);
  EXPECT_EQ(state.last_event, 0);
  EXPECT_EQ(desk_.Ask([](Rows& rows) { return rows.LastTask().value(); }), std::nullopt);
  EXPECT_EQ(desk_.Ask([](Rows& rows) { return rows.FindTask(TaskId{1}).error().code; }), Code::kNotFound);
  EXPECT_EQ(desk_.Ask([](Rows& rows) { return rows.FindName("nobody").value(); }), std::nullopt);
}

TEST_P(Stores, GiveBackAFullTaskAndItsSpecAsTheyWere) {
  const Task task = FullTask(7);
  const TaskSpec spec = FullSpec();
  ASSERT_TRUE(desk_.Commit(TaskAdded{task, spec}));
  const TaskRecord record = desk_.Find(7);
  EXPECT_TRUE(record.task == task);
  EXPECT_TRUE(*record.spec == spec);
  EXPECT_TRUE(record.attempts.empty());
  ASSERT_EQ(desk_.LoadOpen().tasks.size(), 1u);
  EXPECT_TRUE(desk_.LoadOpen().tasks[0] == task);
}

TEST_P(Stores, GiveBackTheBarestTaskAsItWas) {
  const Task task = WaitingTask(1);
  const TaskSpec spec = PlainSpec();
  ASSERT_TRUE(desk_.Commit(TaskAdded{task, spec}));
  EXPECT_TRUE(desk_.Find(1).task == task);
  EXPECT_TRUE(*desk_.Find(1).spec == spec);
}

TEST_P(Stores, KeepTagsByteForByteAndEvidenceReadable) {
  Task task = EndedTask(1);
  task.tags = {"\xff\xfe", "with \"quotes\", commas", "中文"};
  task.outcome->evidence = "RuntimeError: \xb4\xed\xce\xf3";
  ASSERT_TRUE(desk_.Commit(TaskAdded{task, PlainSpec()}));
  const Task found = desk_.Find(1).task;
  EXPECT_EQ(found.tags, task.tags);
  EXPECT_TRUE(found.outcome->evidence.starts_with("RuntimeError: "));
}

TEST_P(Stores, KeepTheEnvironmentOfASpecByteForByte) {
  TaskSpec spec = PlainSpec();
  spec.environment = {{"EMPTY", ""}, {"BYTES", "a\xff\nb"}, {"EQUALS", "a=b=c"}, {"PATH", "/usr/bin:/bin"}};
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), spec}));
  EXPECT_EQ(desk_.Find(1).spec->environment, spec.environment);
}

TEST_P(Stores, ChangeATask) {
  Task task = WaitingTask(1);
  ASSERT_TRUE(desk_.Commit(TaskAdded{task, PlainSpec()}));
  Task after = FullTask(1);
  after.uid = task.uid;
  after.name = task.name;
  after.submitted = task.submitted;
  after.state = Starting{};
  ASSERT_TRUE(desk_.Commit(TaskChanged{.from = Waiting{}, .attempts_before = 0, .task = after}));
  EXPECT_TRUE(desk_.Find(1).task == after);
}

TEST_P(Stores, GiveBackAFullAttemptAsItWas) {
  const Attempt attempt = FullAttempt(1, 1);
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{attempt}));
  ASSERT_EQ(desk_.Find(1).attempts.size(), 1u);
  EXPECT_TRUE(desk_.Find(1).attempts[0] == attempt);
}

TEST_P(Stores, ChangeAnAttemptAndListThemByNumber) {
  Attempt second = StartingAttempt(1, 2), first = StartingAttempt(1, 1);
  ASSERT_TRUE(
      desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{second}, AttemptAdded{first}));
  Attempt after = FullAttempt(1, 1);
  after.uid = first.uid;
  after.created = first.created;
  after.state = AttemptState::kEnded;
  ASSERT_TRUE(desk_.Commit(AttemptChanged{.from = AttemptState::kStarting, .attempt = after}));
  const std::vector<Attempt> attempts = desk_.Find(1).attempts;
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_TRUE(attempts[0] == after);
  EXPECT_TRUE(attempts[1] == second);
}

TEST_P(Stores, GiveBackEachWishOfATaskAlone) {
  const DeviceWish kWishes[] = {{.share = {1, ShareMode::kTogether}},
                                {.share = {500, ShareMode::kTurns}},
                                {.share = {500, ShareMode::kTurns, hours(1)}},
                                {.memory = int64_t{1} << 45},
                                {.exclusive = true},
                                {.ranks = true}};
  int id = 0;
  for (const DeviceWish& wish : kWishes) {
    Task task = WaitingTask(++id);
    task.wish = wish;
    ASSERT_TRUE(desk_.Commit(TaskAdded{task, PlainSpec()}));
    EXPECT_TRUE(desk_.Find(id).task == task) << id;
    task.wish = {};
    task.alone = true;
    ASSERT_TRUE(desk_.Commit(TaskChanged{.from = Waiting{}, .attempts_before = 0, .task = task}));
    EXPECT_TRUE(desk_.Find(id).task == task) << id;
  }
}

TEST_P(Stores, GiveBackTheRanksOfAnAttemptAlone) {
  Attempt starting = StartingAttempt(1, 1);
  starting.processes = 64;
  Attempt over = StartingAttempt(1, 2);
  over.ranks = {{.exit_code = 1, .signal = {}}};
  over.rule = {"retry.used_up", {{"most", int64_t{1}}}};
  ASSERT_TRUE(
      desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{starting}, AttemptAdded{over}));
  EXPECT_TRUE(desk_.Find(1).attempts.at(0) == starting);
  EXPECT_TRUE(desk_.Find(1).attempts.at(1) == over);
}

TEST_P(Stores, LoadOnlyWhatIsOpen) {
  Attempt over = StartingAttempt(2, 1);
  over.state = AttemptState::kEnded;
  const Attempt open = StartingAttempt(3, 1);
  ASSERT_TRUE(desk_.Commit(TaskAdded{EndedTask(2), PlainSpec()}, TaskAdded{WaitingTask(3), PlainSpec()},
                           TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{over}, AttemptAdded{open},
                           LeaseGranted{open.uid, "cpu:0"}, SettingChanged{"queue.paused", "yes"}));
  const OpenState state = desk_.LoadOpen();
  ASSERT_EQ(state.tasks.size(), 2u);
  EXPECT_EQ(state.tasks[0].id.value, 1);
  EXPECT_EQ(state.tasks[1].id.value, 3);
  ASSERT_EQ(state.attempts.size(), 1u);
  EXPECT_TRUE(state.attempts[0] == open);
  EXPECT_EQ(state.leases, std::vector<Lease>({{open.uid, "cpu:0", 1000}}));
  EXPECT_EQ(state.last_task, 3);
  ASSERT_EQ(state.settings.size(), 1u);
  EXPECT_EQ(state.settings[0].second, "yes");
}

TEST_P(Stores, SetASettingAnew) {
  ASSERT_TRUE(desk_.Commit(SettingChanged{"a", "1"}, SettingChanged{"a", "2"}));
  EXPECT_EQ(desk_.LoadOpen().settings[0].second, "2");
}

TEST_P(Stores, ListEventsAfterASequenceNumber) {
  ASSERT_TRUE(desk_.Commit(EventAdded{EventOf(1)}, EventAdded{EventOf(2)}, EventAdded{EventOf(3)}));
  const auto events = desk_.Ask([](Rows& rows) { return rows.ListEvents(1, 10).value(); });
  ASSERT_EQ(events.size(), 2u);
  EXPECT_TRUE(events[0] == EventOf(2));
  EXPECT_TRUE(events[1] == EventOf(3));
  EXPECT_EQ(desk_.Ask([](Rows& rows) { return rows.ListEvents(0, 1).value().size(); }), 1u);
  EXPECT_EQ(desk_.LoadOpen().last_event, 3);
}

TEST_P(Stores, EraseATaskButNotItsEventsNorItsNumber) {
  Attempt attempt = StartingAttempt(5, 1);
  attempt.state = AttemptState::kEnded;
  Event event = EventOf(1);
  event.task = TaskId{5};
  ASSERT_TRUE(desk_.Commit(TaskAdded{EndedTask(5), PlainSpec(), "key", "hash"}, AttemptAdded{attempt},
                           EventAdded{event}));
  ASSERT_TRUE(desk_.Commit(TaskErased{TaskId{5}}));
  EXPECT_EQ(desk_.Ask([](Rows& rows) { return rows.FindTask(TaskId{5}).error().code; }), Code::kNotFound);
  EXPECT_EQ(desk_.Ask([](Rows& rows) { return rows.ListEvents(0, 10).value().size(); }), 1u);
  EXPECT_FALSE(desk_.Ask([](Rows& rows) { return rows.FindKey("key").value().has_value(); }));
  EXPECT_EQ(desk_.LoadOpen().last_task, 5);
  EXPECT_EQ(desk_.Ask([](Rows& rows) { return rows.LastTask().value(); }), std::nullopt);
}

// ---- Guards

TEST_P(Stores, RefuseAChangeFromAnotherState) {
  Task task = WaitingTask(1);
  ASSERT_TRUE(desk_.Commit(TaskAdded{task, PlainSpec()}));
  task.state = Running{};
  const Status refused = desk_.Commit(TaskChanged{.from = Starting{}, .attempts_before = 0, .task = task});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInternal);
  EXPECT_EQ(refused.error().message.id, "store.refused");
  EXPECT_NE(std::get<std::string>(refused.error().message.args[0].second).find("task 1 was not starting"),
            std::string::npos);
  EXPECT_TRUE(IsWaiting(desk_.Find(1).task));
}

TEST_P(Stores, RefuseAChangeFromAnotherNumberOfLaunches) {
  Task task = WaitingTask(1);
  task.attempts = 2;
  ASSERT_TRUE(desk_.Commit(TaskAdded{task, PlainSpec()}));
  task.priority = 9;
  EXPECT_FALSE(desk_.Commit(TaskChanged{.from = Waiting{}, .attempts_before = 1, .task = task}));
  EXPECT_TRUE(desk_.Commit(TaskChanged{.from = Waiting{}, .attempts_before = 2, .task = task}));
}

TEST_P(Stores, RefuseAChangeOfATaskThatIsNotThere) {
  EXPECT_FALSE(desk_.Commit(TaskChanged{.from = Waiting{}, .attempts_before = 0, .task = WaitingTask(1)}));
}

TEST_P(Stores, RefuseANewIdentityForATask) {
  Task task = WaitingTask(1);
  ASSERT_TRUE(desk_.Commit(TaskAdded{task, PlainSpec()}));
  for (auto spoil : {+[](Task& t) { t.uid.bytes[0] ^= 1; }, +[](Task& t) { t.name += "x"; },
                     +[](Task& t) { t.submitted += Duration(1); }}) {
    Task other = task;
    spoil(other);
    EXPECT_FALSE(desk_.Commit(TaskChanged{.from = Waiting{}, .attempts_before = 0, .task = other}));
  }
}

TEST_P(Stores, RefuseATaskNumberTwice) {
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
  EXPECT_FALSE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
}

TEST_P(Stores, RefuseAnEndWithoutAnOutcome) {
  Task task = EndedTask(1);
  task.outcome.reset();
  EXPECT_FALSE(desk_.Commit(TaskAdded{task, PlainSpec()}));
  task = EndedTask(1);
  task.ended.reset();
  EXPECT_FALSE(desk_.Commit(TaskAdded{task, PlainSpec()}));
}

TEST_P(Stores, RefuseAnAttemptOfNoTaskOrWithAUsedNumber) {
  EXPECT_FALSE(desk_.Commit(AttemptAdded{StartingAttempt(1, 1)}));
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{StartingAttempt(1, 1)}));
  EXPECT_FALSE(desk_.Commit(AttemptAdded{StartingAttempt(1, 1)}));
}

TEST_P(Stores, RefuseAnAttemptsChangeFromAnotherState) {
  Attempt attempt = StartingAttempt(1, 1);
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{attempt}));
  attempt.state = AttemptState::kEnded;
  EXPECT_FALSE(desk_.Commit(AttemptChanged{.from = AttemptState::kRunning, .attempt = attempt}));
  EXPECT_TRUE(desk_.Commit(AttemptChanged{.from = AttemptState::kStarting, .attempt = attempt}));
  EXPECT_FALSE(desk_.Commit(AttemptChanged{.from = AttemptState::kStarting, .attempt = attempt}));
}

TEST_P(Stores, LeaseADeviceToItsWholeAndNoMore) {
  const Attempt a = StartingAttempt(1, 1), b = StartingAttempt(1, 2), c = StartingAttempt(1, 3);
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{a}, AttemptAdded{b},
                           AttemptAdded{c}, LeaseGranted{a.uid, "gpu", 400},
                           LeaseGranted{b.uid, "gpu", 600}));
  EXPECT_FALSE(desk_.Commit(LeaseGranted{c.uid, "gpu", 1}));
  EXPECT_TRUE(desk_.Commit(LeaseGranted{c.uid, "another", 1000}));
  EXPECT_TRUE(desk_.Commit(LeaseReleased{a.uid, "gpu"}, LeaseGranted{c.uid, "gpu", 400}));
  EXPECT_FALSE(desk_.Commit(LeaseReleased{a.uid, "gpu"}));
  EXPECT_FALSE(desk_.Commit(LeaseGranted{a.uid, "third", 0}));
  EXPECT_FALSE(desk_.Commit(LeaseGranted{a.uid, "third", 1001}));
}

TEST_P(Stores, GiveBackLeasesAsTheyWere) {
  const Attempt attempt = StartingAttempt(1, 1);
  const Lease whole{.attempt = attempt.uid, .device = "GPU-1"};
  const Lease full{.attempt = attempt.uid,
                   .device = "GPU-2",
                   .share_milli = 750,
                   .asked_milli = 250,
                   .mode = ShareMode::kTurns,
                   .memory = int64_t{40} << 30,
                   .slice = Duration(3'000'000'001)};
  const Lease together = LeaseOf(attempt, "GPU-3", 1, ShareMode::kTogether);
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{attempt}, LeaseGranted{full},
                           LeaseGranted{together}, LeaseGranted{whole}));
  EXPECT_EQ(desk_.LoadOpen().leases, std::vector<Lease>({whole, full, together}));
}

TEST_P(Stores, ChangeWhatALeaseIsGrantedAndNothingElseOfIt) {
  const Attempt a = StartingAttempt(1, 1), b = StartingAttempt(1, 2);
  Lease first = LeaseOf(a, "gpu", 500, ShareMode::kTurns), second = LeaseOf(b, "gpu", 250, ShareMode::kTurns);
  first.memory = 1000;
  first.share_milli = 1000;
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{a}, AttemptAdded{b},
                           LeaseGranted{first}));
  EXPECT_FALSE(desk_.Commit(LeaseGranted{second}));
  // The first shrinks for the second, and grows when it leaves.
  ASSERT_TRUE(
      desk_.Commit(LeaseChanged{a.uid, "gpu", 667}, LeaseGranted{second}, LeaseChanged{b.uid, "gpu", 333}));
  first.share_milli = 667;
  second.share_milli = 333;
  EXPECT_EQ(desk_.LoadOpen().leases, std::vector<Lease>({first, second}));
  EXPECT_FALSE(desk_.Commit(LeaseChanged{a.uid, "gpu", 668}));
  EXPECT_FALSE(desk_.Commit(LeaseChanged{b.uid, "gpu", 500}, LeaseChanged{a.uid, "gpu", 500}));
  ASSERT_TRUE(desk_.Commit(LeaseReleased{b.uid, "gpu"}, LeaseChanged{a.uid, "gpu", 1000}));
  first.share_milli = 1000;
  EXPECT_EQ(desk_.LoadOpen().leases, std::vector<Lease>({first}));
}

TEST_P(Stores, RefuseToChangeALeaseThatIsNotThereOrToNothing) {
  const Attempt a = StartingAttempt(1, 1), b = StartingAttempt(1, 2);
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{a}, AttemptAdded{b},
                           LeaseGranted{LeaseOf(a, "gpu", 500, ShareMode::kTurns)}));
  const Status refused = desk_.Commit(LeaseChanged{b.uid, "gpu", 100});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInternal);
  EXPECT_NE(std::get<std::string>(refused.error().message.args[0].second).find("had no lease on gpu"),
            std::string::npos);
  EXPECT_FALSE(desk_.Commit(LeaseChanged{a.uid, "another", 100}));
  EXPECT_FALSE(desk_.Commit(LeaseChanged{a.uid, "gpu", 0}));
  EXPECT_FALSE(desk_.Commit(LeaseChanged{a.uid, "gpu", 1001}));
  EXPECT_EQ(desk_.LoadOpen().leases.at(0).share_milli, 500);
}

TEST_P(Stores, RefuseALeaseThatAsksForWhatNoDeviceHas) {
  const Attempt a = StartingAttempt(1, 1);
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}, AttemptAdded{a}));
  const Lease good = LeaseOf(a, "gpu", 500, ShareMode::kTogether);
  for (auto spoil : {+[](Lease& l) { l.asked_milli = 0; }, +[](Lease& l) { l.asked_milli = 1001; },
                     +[](Lease& l) { l.memory = -1; }, +[](Lease& l) { l.slice = {}; }}) {
    Lease bad = good;
    spoil(bad);
    EXPECT_FALSE(desk_.Commit(LeaseGranted{bad}));
  }
  EXPECT_TRUE(desk_.Commit(LeaseGranted{good}));
}

TEST_P(Stores, RefuseALeaseOfNoAttempt) {
  EXPECT_FALSE(desk_.Commit(LeaseGranted{UidOf(9), "gpu", 1000}));
}

TEST_P(Stores, EraseOnlyWhatHasEndedAndHoldsNothing) {
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec()}));
  EXPECT_FALSE(desk_.Commit(TaskErased{TaskId{1}}));
  EXPECT_FALSE(desk_.Commit(TaskErased{TaskId{2}}));
  const Attempt attempt = StartingAttempt(3, 1);
  ASSERT_TRUE(desk_.Commit(TaskAdded{EndedTask(3), PlainSpec()}, AttemptAdded{attempt},
                           LeaseGranted{attempt.uid, "gpu"}));
  EXPECT_FALSE(desk_.Commit(TaskErased{TaskId{3}}));
  EXPECT_EQ(desk_.Find(3).attempts.size(), 1u);
}

TEST_P(Stores, NumberEventsUpwardsOnly) {
  ASSERT_TRUE(desk_.Commit(EventAdded{EventOf(5)}));
  EXPECT_FALSE(desk_.Commit(EventAdded{EventOf(5)}));
  EXPECT_FALSE(desk_.Commit(EventAdded{EventOf(4)}));
  EXPECT_TRUE(desk_.Commit(EventAdded{EventOf(6)}));
}

TEST_P(Stores, KeepAnIdempotencyKeyForOneTask) {
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), PlainSpec(), "key", "hash"}));
  const Status refused = desk_.Commit(TaskAdded{WaitingTask(2), PlainSpec(), "key", "other"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_EQ(refused.error().message.id, "store.key_taken");
  EXPECT_TRUE(desk_.Commit(TaskAdded{WaitingTask(3), PlainSpec()}, TaskAdded{WaitingTask(4), PlainSpec()}));
  const auto kept = desk_.Ask([](Rows& rows) { return rows.FindKey("key").value(); });
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->task.value, 1);
  EXPECT_EQ(kept->request_hash, "hash");
  EXPECT_FALSE(desk_.Ask([](Rows& rows) { return rows.FindKey("").value().has_value(); }));
}

// ---- Whole or not at all

TEST_P(Stores, LeaveNothingOfABatchWithOneBadChange) {
  const Attempt attempt = StartingAttempt(1, 1);
  const Task before = WaitingTask(1);
  ASSERT_TRUE(desk_.Commit(TaskAdded{before, PlainSpec()}, AttemptAdded{attempt},
                           LeaseGranted{attempt.uid, "a"}, SettingChanged{"s", "before"},
                           TaskAdded{EndedTask(2), PlainSpec()}));
  Task after = before;
  after.state = Starting{};
  Attempt ended = attempt;
  ended.state = AttemptState::kEnded;
  TaskSpec another = PlainSpec();
  another.environment = {{"ONLY", "here"}};
  EXPECT_FALSE(desk_.Commit(
      TaskAdded{WaitingTask(9), another, "key", "hash"},
      TaskChanged{.from = Waiting{}, .attempts_before = 0, .task = after},
      AttemptChanged{.from = AttemptState::kStarting, .attempt = ended}, AttemptAdded{StartingAttempt(1, 2)},
      LeaseChanged{attempt.uid, "a", 500}, LeaseReleased{attempt.uid, "a"}, LeaseGranted{attempt.uid, "b"},
      EventAdded{EventOf(1)}, TaskErased{TaskId{2}}, SettingChanged{"s", "after"}, TaskErased{TaskId{77}}));
  const OpenState state = desk_.LoadOpen();
  ASSERT_EQ(state.tasks.size(), 1u);
  EXPECT_TRUE(state.tasks[0] == before);
  ASSERT_EQ(state.attempts.size(), 1u);
  EXPECT_TRUE(state.attempts[0] == attempt);
  EXPECT_EQ(state.leases, std::vector<Lease>({{attempt.uid, "a", 1000}}));
  EXPECT_EQ(state.last_event, 0);
  EXPECT_EQ(state.last_task, 2);
  EXPECT_EQ(state.settings[0].second, "before");
  EXPECT_EQ(desk_.Find(2).task.id.value, 2);
  EXPECT_FALSE(desk_.Ask([](Rows& rows) { return rows.FindKey("key").value().has_value(); }));
  // The environment that went with it is not taken for stored.
  EXPECT_TRUE(desk_.Commit(TaskAdded{WaitingTask(9), another, "key", "hash"}));
  EXPECT_EQ(desk_.Find(9).spec->environment, another.environment);
}

TEST_P(Stores, LeaveOutOneBadBatchAmongManyOfAGroup) {
  constexpr int kBatches = 60, kBad = 25;
  std::vector<std::pair<uint64_t, bool>> receipts;
  {
    auto gate = desk_.Block();  // all are queued before the first is looked at: one transaction
    for (int i = 1; i <= kBatches; ++i) {
      Batch batch{.number = static_cast<uint64_t>(i)};
      batch.changes.push_back(TaskAdded{WaitingTask(i), PlainSpec()});
      if (i == kBad) batch.changes.push_back(TaskErased{TaskId{4711}});
      batch.specs_wanted = {TaskId{i}};
      desk_.store().Commit(std::move(batch), [&receipts, i](Receipt receipt) {
        receipts.emplace_back(receipt.number, receipt.committed.has_value());
        EXPECT_EQ(receipt.specs.size(), i == kBad ? 0u : 1u);
      });
    }
  }
  const OpenState state = desk_.LoadOpen();
  ASSERT_EQ(receipts.size(), static_cast<size_t>(kBatches));
  for (int i = 1; i <= kBatches; ++i)
    EXPECT_EQ(receipts[static_cast<size_t>(i - 1)], (std::pair<uint64_t, bool>(i, i != kBad)));
  EXPECT_EQ(state.tasks.size(), static_cast<size_t>(kBatches - 1));
  EXPECT_TRUE(std::ranges::none_of(state.tasks, [](const Task& task) { return task.id.value == kBad; }));
}

TEST_P(Stores, RefuseInAGroupWhatFollowsFromARefusedBatch) {
  std::vector<bool> committed;
  {
    auto gate = desk_.Block();
    const auto note = [&](Receipt receipt) { committed.push_back(receipt.committed.has_value()); };
    Task task = WaitingTask(1);
    desk_.store().Commit({1, Changes(TaskAdded{task, PlainSpec()}, TaskErased{TaskId{9}}), {}}, note);
    task.state = Starting{};
    desk_.store().Commit({2, Changes(TaskChanged{Waiting{}, 0, task}), {}}, note);
    desk_.store().Commit({3, Changes(TaskAdded{WaitingTask(2), PlainSpec()}), {}}, note);
  }
  EXPECT_EQ(desk_.LoadOpen().tasks.size(), 1u);
  EXPECT_EQ(committed, std::vector<bool>({false, false, true}));
}

TEST_P(Stores, CommitAnEmptyBatch) {
  EXPECT_TRUE(desk_.Commit());
}

// ---- Order and threads

TEST_P(Stores, AnswerAReadAfterEveryBatchHandedOverBefore) {
  for (int i = 1; i <= 20; ++i) {
    desk_.store().Commit({static_cast<uint64_t>(i), Changes(TaskAdded{WaitingTask(i), PlainSpec()}), {}},
                         [](Receipt) {});
    EXPECT_EQ(desk_.Find(i).task.id.value, i);
  }
}

TEST_P(Stores, TakeBatchesFromManyThreads) {
  constexpr int kThreads = 4, kEach = 50;
  std::atomic<int> committed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 1; i <= kEach; ++i)
        desk_.store().Commit({0, Changes(TaskAdded{WaitingTask(t * kEach + i), PlainSpec()}), {}},
                             [&](Receipt receipt) { committed += receipt.committed.has_value(); });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(desk_.LoadOpen().tasks.size(), static_cast<size_t>(kThreads * kEach));
  EXPECT_EQ(committed, kThreads * kEach);
}

TEST_P(Stores, FinishWhatWasHandedOverBeforeTheyClose) {
  int answered = 0;
  {
    auto gate = desk_.Block();
    for (int i = 1; i <= 10; ++i)
      desk_.store().Commit({0, Changes(TaskAdded{WaitingTask(i), PlainSpec()}), {}},
                           [&](Receipt receipt) { answered += receipt.committed.has_value(); });
    desk_.store().Read([&](Rows& rows) { answered += static_cast<int>(rows.LoadOpen()->tasks.size()); });
  }
  desk_.Close();
  EXPECT_EQ(answered, 20);
}

TEST_P(Stores, GiveTheSpecsALaunchWants) {
  TaskSpec spec = FullSpec();
  ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(1), spec}));
  // More submits than any store keeps at hand.
  std::vector<Change> many;
  for (int i = 2; i <= 200; ++i) many.push_back(TaskAdded{WaitingTask(i), PlainSpec()});
  ASSERT_TRUE(desk_.CommitAll(std::move(many)));
  TaskSpec newest = PlainSpec();
  newest.argv = {"newest"};
  const Receipt receipt = desk_.CommitFully({.number = 4,
                                             .changes = Changes(TaskAdded{WaitingTask(201), newest}),
                                             .specs_wanted = {TaskId{201}, TaskId{1}, TaskId{999}}});
  ASSERT_TRUE(receipt.committed);
  EXPECT_EQ(receipt.number, 4u);
  ASSERT_EQ(receipt.specs.size(), 2u);  // 999 was never there
  EXPECT_EQ(receipt.specs[0].first.value, 201);
  EXPECT_TRUE(*receipt.specs[0].second == newest);
  EXPECT_EQ(receipt.specs[1].first.value, 1);
  EXPECT_TRUE(*receipt.specs[1].second == spec);
}

// ---- Questions

TEST_P(Stores, FindTheNewestOfAName) {
  ASSERT_TRUE(desk_.Commit(TaskAdded{NamedTask(1, "a"), PlainSpec()},
                           TaskAdded{NamedTask(2, "b"), PlainSpec()},
                           TaskAdded{NamedTask(3, "a"), PlainSpec()}));
  EXPECT_EQ(desk_.Ask([](Rows& rows) { return rows.FindName("a").value(); }), TaskId{3});
  EXPECT_EQ(desk_.Ask([](Rows& rows) { return rows.FindName("A").value(); }), std::nullopt);
  EXPECT_EQ(desk_.Ask([](Rows& rows) { return rows.LastTask().value(); }), TaskId{3});
}

class EndedTasks : public Stores {
 protected:
  // Tasks 1..4 ended in the order 2, 4, 1, 3; 1 and 3 in the same instant; 5 is open.
  void SetUp() override {
    Add(1, 30, OutcomeKind::kSucceeded, {"x"});
    Add(2, 10, OutcomeKind::kFailed, {"x", "y"});
    Add(3, 30, OutcomeKind::kSucceeded, {});
    Add(4, 20, OutcomeKind::kCancelled, {"y"});
    ASSERT_TRUE(desk_.Commit(TaskAdded{WaitingTask(5), PlainSpec()}));
  }
  void Add(int id, int seconds_after, OutcomeKind kind, std::vector<std::string> tags) {
    Task task = EndedTask(id);
    task.ended = kNoon + seconds(seconds_after);
    task.outcome->kind = kind;
    task.tags = std::move(tags);
    ASSERT_TRUE(desk_.Commit(TaskAdded{task, PlainSpec()}));
  }
  std::string List(const EndedFilter& filter) {
    return desk_.Ask([&](Rows& rows) {
      const Result<std::vector<Task>> tasks = rows.ListEnded(filter);
      if (!tasks) return tasks.error().message.id;
      std::string ids;
      for (const Task& task : *tasks) ids += std::to_string(task.id.value) + " ";
      return ids;
    });
  }
};
INSTANTIATE_TEST_SUITE_P(, EndedTasks, testing::Values("memory", "sqlite"),
                         [](const auto& info) { return info.param; });

TEST_P(EndedTasks, AreListedTheLastToEndFirst) {
  EXPECT_EQ(List({}), "3 1 4 2 ");
}

TEST_P(EndedTasks, AreFilteredByTimeTagAndKind) {
  EXPECT_EQ(List({.since = kNoon + seconds(20)}), "3 1 4 ");
  EXPECT_EQ(List({.tag = "x"}), "1 2 ");
  EXPECT_EQ(List({.kinds = {OutcomeKind::kFailed}}), "2 ");
  EXPECT_EQ(List({.kinds = {OutcomeKind::kFailed, OutcomeKind::kCancelled, OutcomeKind::kLost}}), "4 2 ");
  EXPECT_EQ(List({.tag = "y", .kinds = {OutcomeKind::kCancelled}}), "4 ");
  EXPECT_EQ(List({.tag = "z"}), "");
}

TEST_P(EndedTasks, ArePagedWithoutSkippingOrRepeating) {
  EXPECT_EQ(List({.limit = 1}), "3 ");
  EXPECT_EQ(List({.before = 3, .limit = 2}), "1 4 ");
  EXPECT_EQ(List({.before = 4, .limit = 2}), "2 ");
  EXPECT_EQ(List({.before = 2}), "");
  EXPECT_EQ(List({.limit = 0}), "");
}

TEST_P(EndedTasks, ArePagedPastAnErasedTask) {
  ASSERT_TRUE(desk_.Commit(TaskErased{TaskId{1}}));
  EXPECT_EQ(List({.before = 1, .before_ended = kNoon + seconds(30)}), "4 2 ");
  EXPECT_EQ(List({.before = 1}), "task.unknown");
}

}  // namespace
}  // namespace ty
