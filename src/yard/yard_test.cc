#include "yard/yard.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "msg/why.h"
#include "testing/yard_harness.h"

namespace ty {
namespace {

TEST(Yard, StartsATaskOnlyAfterItsRowIsDurable) {
  YardHarness yard;
  size_t launched_at_commit = 99;
  std::vector<SubmitItem> items(1);
  items[0].spec = Spec({"train"});
  yard.inbox->Post(
      Submit{std::move(items), {}, {}, [&](auto) { launched_at_commit = yard.engine->launched.size(); }});
  yard.yard->Turn(yard.now);
  EXPECT_EQ(yard.engine->launched.size(), 0u) << "the commit has been handed over, its receipt not read";
  yard.Settle();
  EXPECT_EQ(yard.engine->launched.size(), 1u);
  EXPECT_LE(launched_at_commit, 1u);
}

TEST(Yard, SubmitAndStartShareOneCommit) {
  YardHarness yard;
  const size_t before = yard.store->batches.size();
  yard.MustSubmit(Spec({"train"}));
  EXPECT_EQ(yard.store->batches.size(), before + 1);
}

TEST(Yard, EndOfOneAndStartOfTheNextShareOneCommit) {
  YardHarness yard(1);
  const TaskId first = yard.MustSubmit(Spec({"a"}));
  const TaskId second = yard.MustSubmit(Spec({"b"}));
  yard.Begin(first);
  EXPECT_FALSE(yard.Launched(second));
  const size_t before = yard.store->batches.size();
  yard.Exit(first, 0);
  EXPECT_EQ(yard.store->batches.size(), before + 1);
  EXPECT_TRUE(yard.Launched(second));
  EXPECT_EQ(yard.StateOf(first), "ended");
}

TEST(Yard, SaysWhereAReceiptStartsOrWhyItWaits) {
  YardHarness yard(1);
  EXPECT_EQ(yard.Submit(Spec({"a"}))->state, "starting");
  Result<SubmitReceipt> second = yard.Submit(Spec({"b"}));
  EXPECT_EQ(second->state, "waiting");
  EXPECT_FALSE(second->reason.empty());
}

TEST(Yard, NamesATaskAfterItsScript) {
  YardHarness yard(0 + 1);
  EXPECT_EQ(yard.Submit(Spec({"/usr/bin/python3", "/home/ann/my train.py", "--lr", "1"}))->name, "my_train");
  EXPECT_EQ(yard.Submit(Spec({"sh", "-c", "exit 7"}))->name, "sh");
  EXPECT_EQ(yard.Submit(Spec({"/opt/12"}))->name, "task-12");
}

TEST(Yard, KeepsTheKernelsExitCodeAsTheOutcome) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"sh"}));
  yard.Begin(task);
  yard.Exit(task, 7);
  EXPECT_EQ(yard.OutcomeOf(task)->kind, OutcomeKind::kFailed);
  EXPECT_EQ(yard.OutcomeOf(task)->exit_code, 7);
  EXPECT_EQ(yard.RecordOf(task).attempts.size(), 1u);
}

TEST(Yard, CancelsAWaitingTaskAtOnceAndARunningOneThroughItsShim) {
  YardHarness yard(1);
  const TaskId running = yard.MustSubmit(Spec({"a"}));
  const TaskId waiting = yard.MustSubmit(Spec({"b"}));
  yard.Begin(running);
  yard.Do(Verb::kCancel, {running, waiting});
  EXPECT_EQ(yard.OutcomeOf(waiting)->kind, OutcomeKind::kCancelled);
  EXPECT_EQ(yard.StateOf(running), "stopping");
  ASSERT_EQ(yard.engine->stops.size(), 1u);
  yard.Exit(running, 143, true);
  EXPECT_EQ(yard.OutcomeOf(running)->kind, OutcomeKind::kCancelled);
}

TEST(Yard, CancelledBeforeTheOrderWentOutNeverRuns) {
  YardHarness yard;
  std::vector<SubmitItem> items(1);
  items[0].spec = Spec({"a"});
  TaskId id;
  yard.inbox->Post(Submit{std::move(items), {}, {}, [&](auto receipts) { id = receipts->front().id; }});
  yard.yard->Turn(yard.now);  // recorded, the receipt still to be read
  Act act;
  act.verb = Verb::kCancel;
  act.tasks = {TaskId{1}};
  act.reply = [](auto) {};
  // The cancel is drained in the same turn as the receipt, before it.
  std::vector<Input> receipts = yard.inbox->Drain();
  yard.inbox->Post(std::move(act));
  for (Input& input : receipts) yard.inbox->Post(std::move(input));
  yard.Settle();
  EXPECT_EQ(yard.engine->launched.size(), 0u);
  EXPECT_EQ(yard.OutcomeOf(TaskId{1})->kind, OutcomeKind::kCancelled);
  EXPECT_EQ(yard.yard->Overview().devices_free, 2);
}

TEST(Yard, AnEndThatCameBeforeTheStopKeepsItsOwnOutcome) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.Do(Verb::kCancel, {task});
  yard.Exit(task, 0, /*stopped=*/false);
  EXPECT_EQ(yard.OutcomeOf(task)->kind, OutcomeKind::kSucceeded);
}

TEST(Yard, ASecondCancelDoesNotWaitForTheGracePeriod) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.Do(Verb::kCancel, {task});
  yard.Do(Verb::kCancel, {task});
  ASSERT_EQ(yard.engine->stops.size(), 2u);
  EXPECT_GT(yard.engine->stops[0].second.grace, Duration{});
  EXPECT_EQ(yard.engine->stops[1].second.grace, Duration{});
}

TEST(Yard, SaysOfAStoppingTaskWhoAskedAndWhenItIsKilled) {
  YardHarness yard;
  TaskSpec spec = Spec({"a"});
  spec.stop_signal = SIGUSR1;
  spec.grace = seconds(60);
  const TaskId task = yard.MustSubmit(std::move(spec));
  yard.Begin(task);
  yard.Do(Verb::kCancel, {task});
  EXPECT_EQ(yard.engine->stops.at(0).second.reason, "cancelled") << "what scripts find in the stop file";
  auto reason = [&] { return yard.yard->Describe(task)->reason; };
  EXPECT_EQ(reason(), Message(msg::WhyCancelling{.left = seconds(65), .task = "1"}))
      << "TERM has its 5 s too";
  yard.Pass(seconds(60));
  EXPECT_EQ(reason(), Message(msg::WhyCancelling{.left = seconds(5), .task = "1"}));
  yard.Pass(seconds(5));
  EXPECT_EQ(reason().id, "why.killing");
}

TEST(Yard, ASecondCancelIsToldToEndItSooner) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.Do(Verb::kCancel, {task});
  EXPECT_EQ(yard.yard->Describe(task)->reason.id, "why.cancelling");
  yard.Do(Verb::kCancel, {task});
  EXPECT_EQ(yard.yard->Describe(task)->reason.id, "why.killing");
}

TEST(Yard, HeldTasksWaitUntilReleased) {
  YardHarness yard;
  TaskSpec spec = Spec({"a"});
  spec.hold = true;
  const TaskId task = yard.MustSubmit(spec);
  EXPECT_FALSE(yard.Launched(task));
  yard.Do(Verb::kRelease, {task});
  EXPECT_TRUE(yard.Launched(task));
  EXPECT_FALSE(yard.DoOne(Verb::kHold, task)) << "it runs";
}

TEST(Yard, BeginsNoEarlierThanAsked) {
  YardHarness yard;
  TaskSpec spec = Spec({"a"});
  spec.begin = yard.now + hours(1);
  const TaskId task = yard.MustSubmit(spec);
  EXPECT_EQ(yard.yard->next_wakeup(), spec.begin);
  yard.Pass(minutes(59));
  EXPECT_FALSE(yard.Launched(task));
  yard.Pass(minutes(1));
  EXPECT_TRUE(yard.Launched(task));
}

TEST(Yard, FollowsADependencyAndEndsAChainWithTheReason) {
  YardHarness yard;
  const TaskId first = yard.MustSubmit(Spec({"a"}));
  TaskSpec spec = Spec({"b"});
  spec.after = {{first, Dependency::On::kOk}};
  const TaskId second = yard.MustSubmit(spec);
  spec.after = {{second, Dependency::On::kOk}};
  const TaskId third = yard.MustSubmit(spec);
  spec.after = {{second, Dependency::On::kAny}};
  const TaskId whatever = yard.MustSubmit(spec);
  EXPECT_FALSE(yard.Launched(second));
  yard.Begin(first);
  yard.Exit(first, 1);
  EXPECT_EQ(yard.OutcomeOf(second)->reason.id, "outcome.dependency");
  EXPECT_EQ(yard.OutcomeOf(third)->failure, FailureClass::kDependency);
  EXPECT_TRUE(yard.Launched(whatever));
}

TEST(Yard, AVeryLongChainEndsWithoutRecursion) {
  YardHarness yard;
  TaskSpec spec = Spec({"a"});
  const TaskId first = yard.MustSubmit(spec);
  std::vector<SubmitItem> items(20000);
  for (size_t i = 0; i < items.size(); i++) {
    items[i].spec = Spec({"b"});
    if (i == 0) items[i].spec.after = {{first, Dependency::On::kOk}};
    if (i > 0) items[i].after_items = {{i - 1, Dependency::On::kOk}};
  }
  ASSERT_TRUE(yard.SubmitAll(std::move(items)));
  yard.Begin(first);
  yard.Exit(first, 1);
  EXPECT_EQ(yard.yard->Overview().waiting, 0);
}

TEST(Yard, RefusesARingAndAnUnknownOrImpossibleDependency) {
  YardHarness yard;
  std::vector<SubmitItem> ring(2);
  ring[0].spec = ring[1].spec = Spec({"a"});
  ring[0].after_items = {{1, Dependency::On::kOk}};
  ring[1].after_items = {{0, Dependency::On::kOk}};
  EXPECT_EQ(yard.SubmitAll(std::move(ring)).error().message.id, "submit.cycle");
  TaskSpec spec = Spec({"a"});
  spec.after = {{TaskId{77}, Dependency::On::kOk}};
  Result<SubmitReceipt> unknown = yard.Submit(spec);
  EXPECT_EQ(unknown.error().message.id, "submit.unknown_dependency");
  EXPECT_EQ(unknown.error().field, "/after/0/task");
  const TaskId failed = yard.MustSubmit(Spec({"a"}));
  yard.Begin(failed);
  yard.Exit(failed, 3);
  spec.after = {{failed, Dependency::On::kOk}};
  EXPECT_EQ(yard.Submit(spec).error().message.id, "submit.dependency_never");
  EXPECT_EQ(yard.yard->Overview().waiting, 0);
}

TEST(Yard, RefusesABulkWholeWhenOneLineIsWrong) {
  YardHarness yard;
  std::vector<SubmitItem> items(3);
  for (SubmitItem& item : items) item.spec = Spec({"a"});
  items[1].spec.gpus = *DeviceCounts::Parse("9");
  Result<std::vector<SubmitReceipt>> answer = yard.SubmitAll(std::move(items));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().field, "/1/resources/gpus");
  EXPECT_EQ(yard.engine->launched.size(), 0u);
}

TEST(Yard, AnswersARepeatedRequestWithTheSameTask) {
  YardHarness yard;
  const TaskId first = yard.Submit(Spec({"a"}), "key", "hash")->id;
  Result<SubmitReceipt> again = yard.Submit(Spec({"a"}), "key", "hash");
  EXPECT_EQ(again->id, first);
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(yard.Submit(Spec({"b"}), "key", "other").error().code, Code::kConflict);
  EXPECT_EQ(yard.engine->launched.size(), 1u);
}

TEST(Yard, RetriesADataLoadingFailureFromItsCheckpointAfterTheDelay) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.See(task, Progress{3, 20, "epoch", ""});
  yard.SaveCheckpoint(task, "/out/3.pt", 3);
  yard.ingest->tail.exception = "OSError: [Errno 5] Input/output error: 'shard-3'";
  yard.Exit(task, 1);
  EXPECT_EQ(yard.StateOf(task), "waiting");
  yard.Pass(seconds(9));
  EXPECT_EQ(yard.engine->launched.size(), 1u);
  yard.Pass(seconds(1));
  ASSERT_EQ(yard.engine->launched.size(), 2u);
  const std::vector<std::string>& variables = yard.engine->launched[1].environment;
  EXPECT_NE(std::find(variables.begin(), variables.end(), "TRAINYARD_RESUME=/out/3.pt"), variables.end());
  EXPECT_NE(std::find(variables.begin(), variables.end(), "TRAINYARD_ATTEMPT=2"), variables.end());
  yard.Begin(task);
  yard.ingest->tail = {};
  yard.Exit(task, 0);
  const TaskRecord record = yard.RecordOf(task);
  EXPECT_EQ(record.task.outcome->kind, OutcomeKind::kSucceeded);
  ASSERT_EQ(record.attempts.size(), 2u);
  EXPECT_EQ(record.attempts[0].outcome->failure, FailureClass::kDataLoading);
  EXPECT_EQ(record.attempts[1].resume, "/out/3.pt");
}

TEST(Yard, AnAttemptThatNeverStartedGoesBackUncounted) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.News(task, AttemptNotStarted{});
  EXPECT_TRUE(yard.Launched(task)) << "it has a new attempt at once";
  EXPECT_EQ(yard.RecordOf(task).task.retries, 0);
}

TEST(Yard, HoldsALostTaskWithoutACheckpoint) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.News(task, AttemptLost{AttemptLost::Why::kShimDied});
  const TaskRecord record = yard.RecordOf(task);
  EXPECT_TRUE(record.task.held);
  EXPECT_TRUE(record.task.held_reason);
  EXPECT_EQ(yard.yard->Overview().devices_free, 2);
}

TEST(Yard, AdoptsBeforeItSchedules) {
  YardHarness yard(1);
  const TaskId running = yard.MustSubmit(Spec({"a"}));
  const TaskId waiting = yard.MustSubmit(Spec({"b"}));
  yard.Begin(running);
  yard.Restart();
  yard.Settle();
  EXPECT_EQ(yard.engine->launched.size(), 0u);
  EXPECT_EQ(yard.WhyId(waiting), "why.adopting");
  EXPECT_EQ(yard.engine->adopting.size(), 1u);
  yard.News(running, AttemptRunning{yard.now, 4242, true});
  yard.FinishAdoption();
  EXPECT_EQ(yard.engine->launched.size(), 0u) << "the only device is still leased";
  yard.Exit(running, 5);
  EXPECT_EQ(yard.OutcomeOf(running)->exit_code, 5);
  EXPECT_TRUE(yard.Launched(waiting));
}

TEST(Yard, StopsAgainWhatWasBeingStoppedWhenTheDaemonDied) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.Do(Verb::kCancel, {task});
  yard.Restart();
  yard.News(task, AttemptRunning{yard.now, 4242, true});
  yard.FinishAdoption();
  EXPECT_EQ(yard.engine->stops.size(), 1u);
}

TEST(Yard, PausedQueueStartsNothingAndSaysSo) {
  YardHarness yard;
  yard.inbox->Post(PauseQueue{true, [](Status) {}});
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  EXPECT_FALSE(yard.Launched(task));
  yard.Restart();
  yard.FinishAdoption();
  EXPECT_FALSE(yard.Launched(task)) << "the pause outlives the daemon";
  yard.inbox->Post(PauseQueue{false, [](Status) {}});
  yard.Settle();
  EXPECT_TRUE(yard.Launched(task));
}

TEST(Yard, RetryBringsAnEndedTaskBackAndRemoveForgetsIt) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  EXPECT_FALSE(yard.DoOne(Verb::kRetry, task)) << "it has not ended";
  EXPECT_FALSE(yard.DoOne(Verb::kRemove, task));
  yard.Begin(task);
  yard.Exit(task, 1);
  EXPECT_TRUE(yard.DoOne(Verb::kRetry, task));
  EXPECT_EQ(yard.engine->launched.size(), 2u);
  yard.Begin(task);
  yard.Exit(task, 0);
  EXPECT_EQ(yard.RecordOf(task).attempts.size(), 2u);
  EXPECT_TRUE(yard.DoOne(Verb::kRemove, task));
  EXPECT_EQ(yard.engine->removed.size(), 2u);
  EXPECT_EQ(yard.DoOne(Verb::kCancel, task).error().code, Code::kNotFound);
}

TEST(Yard, TasksWithoutADeviceCountAgainstTheCores) {
  YardHarness yard(1, 2);
  const TaskId first = yard.MustSubmit(Spec({"a"}, "0"));
  const TaskId second = yard.MustSubmit(Spec({"b"}, "0"));
  const TaskId third = yard.MustSubmit(Spec({"c"}, "0"));
  EXPECT_TRUE(yard.Launched(first) && yard.Launched(second));
  EXPECT_FALSE(yard.Launched(third));
  yard.Begin(first);
  yard.Exit(first, 0);
  EXPECT_TRUE(yard.Launched(third));
}

TEST(Yard, NewPriorityMovesATaskToTheFront) {
  YardHarness yard(1);
  const TaskId running = yard.MustSubmit(Spec({"a"}));
  const TaskId second = yard.MustSubmit(Spec({"b"}));
  const TaskId third = yard.MustSubmit(Spec({"c"}));
  yard.Do(Verb::kPriority, {third}, 100);
  yard.Begin(running);
  yard.Exit(running, 0);
  EXPECT_TRUE(yard.Launched(third));
  EXPECT_FALSE(yard.Launched(second));
}

TEST(Yard, TheTasksVariablesWinOverTheShellsButNeverOverOurs) {
  YardHarness yard;
  TaskSpec spec = Spec({"a"});
  spec.environment = {{"FOO", "shell"}, {"PATH", "/bin"}};
  spec.variables = {{"FOO", "mine"}, {"TRAINYARD_TASK", "99"}, {"PYTHONUNBUFFERED", "0"}};
  yard.MustSubmit(spec);
  const std::vector<std::string>& variables = yard.engine->launched[0].environment;
  auto has = [&](const std::string& v) {
    return std::find(variables.begin(), variables.end(), v) != variables.end();
  };
  EXPECT_TRUE(has("FOO=mine"));
  EXPECT_TRUE(has("TRAINYARD_TASK=1"));
  EXPECT_TRUE(has("PYTHONUNBUFFERED=0"));
  EXPECT_TRUE(has("CUDA_VISIBLE_DEVICES="));
}

TEST(Yard, TakesInNothingNewWhileTheDiskIsLowAndGoesOnByItselfAfterwards) {
  YardHarness yard(1);
  const TaskId running = yard.MustSubmit(Spec({"a"}));
  const TaskId next = yard.MustSubmit(Spec({"b"}));
  yard.Begin(running);
  yard.inbox->Post(StoreHealth{.low = true, .room = 1000, .need = 2000});
  yard.Settle();
  const Result<SubmitReceipt> refused = yard.Submit(Spec({"c"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_EQ(refused.error().message.id, "store.low");
  EXPECT_EQ(yard.DoOne(Verb::kHold, next).error().message.id, "store.low");
  EXPECT_EQ(yard.DoOne(Verb::kPriority, next, 5).error().message.id, "store.low");
  EXPECT_TRUE(yard.yard->Overview().store.low);

  yard.Exit(running, 0);
  EXPECT_EQ(yard.StateOf(running), "ended") << "the end is kept";
  EXPECT_FALSE(yard.Launched(next));
  EXPECT_EQ(yard.WhyId(next), "why.read_only");
  EXPECT_TRUE(yard.DoOne(Verb::kRemove, running)) << "it makes room";

  yard.inbox->Post(StoreHealth{});
  yard.Settle();
  EXPECT_TRUE(yard.Launched(next));
  EXPECT_TRUE(yard.Submit(Spec({"c"})));
}

// A list is put together from open tasks here and ended ones there: none may be in neither.
TEST(Yard, AnswersQuestionsOnceTheStoreHasWhatTheTurnChanged) {
  YardHarness yard;
  const size_t before = yard.store->batches.size();
  size_t handed_over = 0;
  std::vector<SubmitItem> items(1);
  items[0].spec = Spec({"train"});
  yard.inbox->Post(Submit{std::move(items), {}, {}, [](auto) {}});
  yard.inbox->Post(Ask{[&](const Yard&) { handed_over = yard.store->batches.size(); }});
  yard.yard->Turn(yard.now);
  EXPECT_EQ(handed_over, before + 1);
}

TEST(Yard, StopsWhenTheStateFileCanNoLongerBeReliedOn) {
  YardHarness yard;
  yard.inbox->Post(StoreHealth{.broken = "disk I/O error"});
  yard.Settle();
  ASSERT_TRUE(yard.yard->broken());
  EXPECT_EQ(yard.yard->broken()->message.id, "store.broken");
}

TEST(Yard, RefusesEvenACancelWhenNothingCanBeWritten) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.inbox->Post(StoreHealth{.low = true, .stuck = true, .room = 0, .need = 2000});
  yard.Settle();
  EXPECT_EQ(yard.DoOne(Verb::kCancel, task).error().message.id, "store.stuck");
  EXPECT_TRUE(yard.engine->stops.empty());
}

TEST(Yard, SaysThatTheDiskIsReadOnlyAndNotThatItIsFull) {
  YardHarness yard(1);
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  const TaskId waiting = yard.MustSubmit(Spec({"b"}));
  yard.Begin(task);
  yard.inbox->Post(StoreHealth{.low = true, .read_only = true});
  yard.Settle();
  EXPECT_EQ(yard.Submit(Spec({"c"})).error().message.id, "store.read_only");
  EXPECT_EQ(yard.DoOne(Verb::kCancel, task).error().message.id, "store.read_only");
  yard.inbox->Post(StoreHealth{});
  yard.Settle();
  yard.Exit(task, 0);
  EXPECT_EQ(yard.StateOf(waiting), "starting");
}

TEST(Yard, AnswersARepeatedRequestWhileTheDiskIsLow) {
  YardHarness yard;
  const TaskId first = yard.Submit(Spec({"a"}), "key", "hash")->id;
  yard.inbox->Post(StoreHealth{.low = true});
  yard.Settle();
  EXPECT_EQ(yard.Submit(Spec({"a"}), "key", "hash")->id, first);
}

TEST(Yard, AFailedCommitIsToldAndStopsTheYard) {
  YardHarness yard;
  yard.store->refuse_next = Error{Code::kUnavailable, Message{"store.disk_full", {}}, {}};
  EXPECT_FALSE(yard.Submit(Spec({"a"})));
  EXPECT_TRUE(yard.yard->broken());
  EXPECT_EQ(yard.engine->launched.size(), 0u);
}

TEST(Yard, ATaskThatFoundNoProcessLeftStaysQueuedAndIsTriedAgain) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.News(task, AttemptRefused{Error{Code::kUnavailable, Message{"engine.spawn", {{"error", "x"}}}, {}}});
  EXPECT_EQ(yard.StateOf(task), "waiting");
  EXPECT_FALSE(yard.RecordOf(task).task.held);
  yard.Pass(seconds(6));
  EXPECT_TRUE(yard.Launched(task));
  EXPECT_EQ(yard.RecordOf(task).task.retries, 0);
}

TEST(Yard, ATaskThatCanNeverBeLaunchedAsItIsIsHeldWithTheReason) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.News(task, AttemptRefused{Error{Code::kInternal, Message{"engine.folder", {{"path", "/x"}}}, {}}});
  EXPECT_TRUE(yard.RecordOf(task).task.held);
  EXPECT_EQ(yard.WhyId(task), "engine.folder");
}

TEST(Yard, CountsRetriesAcrossRestarts) {
  YardHarness yard;
  TaskSpec spec = Spec({"a"});
  spec.retry.max = 1;
  spec.retry.on = RetryPolicy::On::kAny;
  const TaskId task = yard.MustSubmit(spec);
  yard.Begin(task);
  yard.Exit(task, 1);
  yard.Restart();
  yard.FinishAdoption();
  yard.Pass(seconds(11));
  yard.Begin(task);
  yard.Exit(task, 1);
  EXPECT_EQ(yard.StateOf(task), "ended");
  EXPECT_EQ(yard.RecordOf(task).attempts.size(), 2u);
}

TEST(Yard, EventsAreNumberedWithoutGapAndTellTheStory) {
  YardHarness yard;
  const TaskId task = yard.MustSubmit(Spec({"a"}));
  yard.Begin(task);
  yard.See(task, Progress{1, 2, "epoch", ""});
  yard.Exit(task, 0);
  EXPECT_EQ(yard.EventKinds(task),
            (std::vector<std::string>{"task.submitted", "attempt.planned", "lease.granted", "attempt.started",
                                      "progress.mark", "progress.mark", "attempt.ended", "lease.released",
                                      "task.ended"}));
  std::vector<Event> events;
  yard.store->Read([&](Rows& rows) { events = *rows.ListEvents(0, 1000); });
  for (size_t i = 0; i < events.size(); i++) EXPECT_EQ(events[i].seq, static_cast<int64_t>(i + 1));
}

}  // namespace
}  // namespace ty
