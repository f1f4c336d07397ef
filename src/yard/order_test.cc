// Where people put tasks in the queue is where they stand and in which order they start, after a restart too.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "testing/yard_harness.h"

namespace ty {
namespace {

using Ids = std::vector<int64_t>;

class Order : public ::testing::Test {
 protected:
  Order() { first_ = yard_.MustSubmit(Spec({"busy"})); }

  int64_t Wait(int priority = 0) {
    TaskSpec spec = Spec({"wait"});
    spec.priority = priority;
    return yard_.MustSubmit(spec).value;
  }

  std::vector<ActAnswer> Put(const Ids& tasks, int64_t beside, bool behind) {
    std::vector<ActAnswer> answers;
    Act act;
    act.verb = Verb::kPriority;
    for (int64_t id : tasks) act.tasks.push_back(TaskId{id});
    act.beside = TaskId{beside};
    act.behind = behind;
    act.reply = [&](std::vector<ActAnswer> given) { answers = std::move(given); };
    yard_.inbox->Post(std::move(act));
    yard_.Settle();
    return answers;
  }

  Ids Listed(size_t page = 1000) const {
    Ids ids;
    OpenFilter filter;
    filter.state = "waiting";
    filter.limit = static_cast<int>(page);
    while (true) {
      const std::vector<TaskView> views = yard_.yard->ListOpen(filter);
      for (const TaskView& view : views) ids.push_back(view.task.id.value);
      if (views.size() < page) return ids;
      filter.after = ids.back();
    }
  }

  // Everything that waits, in the order in which it starts.
  Ids Started() {
    Ids started;
    while (true) {
      const std::vector<TaskId> running = yard_.yard->Running();
      if (running.empty()) return started;
      if (running.front() != first_) started.push_back(running.front().value);
      yard_.Begin(running.front());
      yard_.Exit(running.front(), 0);
    }
  }

  YardHarness yard_{1};
  TaskId first_;
};

TEST_F(Order, ATaskGoesRightBeforeOrBehindAnother) {
  const int64_t a = Wait(), b = Wait(), c = Wait(), d = Wait();
  EXPECT_EQ(Listed(), (Ids{a, b, c, d}));
  Put({d}, b, false);
  EXPECT_EQ(Listed(), (Ids{a, d, b, c}));
  Put({a}, c, true);
  EXPECT_EQ(Listed(), (Ids{d, b, c, a}));
  Put({a}, a, true);
  EXPECT_EQ(Listed(), (Ids{d, b, c, a}));
  const int64_t next = Wait();
  EXPECT_EQ(Listed().back(), next) << "who is submitted next comes last";
}

TEST_F(Order, SeveralKeepTheOrderInWhichTheyAreNamed) {
  const int64_t a = Wait(), b = Wait(), c = Wait(), d = Wait();
  Put({d, b}, a, false);
  EXPECT_EQ(Listed(), (Ids{d, b, a, c}));
  Put({c, d}, b, true);
  EXPECT_EQ(Listed(), (Ids{b, c, d, a}));
}

TEST_F(Order, ItTakesThePriorityOfTheOther) {
  const int64_t low = Wait(-100), normal = Wait(), high = Wait(100);
  Put({low}, high, true);
  EXPECT_EQ(Listed(), (Ids{high, low, normal}));
  EXPECT_EQ(yard_.RecordOf(TaskId{low}).task.priority, 100);
  yard_.DoOne(Verb::kPriority, TaskId{low}, 0);
  EXPECT_EQ(Listed(), (Ids{high, low, normal})) << "by its number again";
}

TEST_F(Order, OnlyWaitingTasksHaveAPlace) {
  const int64_t waits = Wait();
  EXPECT_EQ(Put({first_.value}, waits, false)[0].done.error().message.id, "act.move_running");
  EXPECT_EQ(Put({waits}, first_.value, false)[0].done.error().message.id, "act.move_beside");
  EXPECT_EQ(Put({waits}, 99, true)[0].done.error().code, Code::kConflict);
  EXPECT_EQ(Listed(), Ids{waits});
}

TEST_F(Order, TheChangeIsTold) {
  const int64_t a = Wait(), b = Wait();
  Put({b}, a, false);
  EXPECT_EQ(yard_.EventKinds(TaskId{b}), (std::vector<std::string>{"task.submitted", "task.changed"}));
}

// Thousands of moves to wherever: always as in a plain list, and started in that order.
TEST_F(Order, RandomMovesGiveTheOrderOfAPlainList) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    std::mt19937 random(seed);
    auto pick = [&](size_t count) { return random() % count; };
    Ids list;
    for (int i = 0; i < 40; ++i) list.push_back(Wait());
    for (int move = 0; move < 1500; ++move) {
      // Often to the same few places, where the room runs out.
      const size_t to = pick(3) == 0 ? pick(list.size()) : pick(2) == 0 ? 0 : list.size() - 1;
      const int64_t id = list[pick(list.size())], beside = list[to];
      const bool behind = pick(2) == 0;
      ASSERT_TRUE(Put({id}, beside, behind)[0].done);
      if (id != beside) {
        list.erase(std::find(list.begin(), list.end(), id));
        list.insert(std::find(list.begin(), list.end(), beside) + (behind ? 1 : 0), id);
      }
      if (pick(100) == 0) list.push_back(Wait());
      if (pick(500) == 0) {
        yard_.Restart();
        yard_.FinishAdoption();
      }
      ASSERT_EQ(Listed(), list) << seed << " move " << move;
    }
    EXPECT_EQ(Listed(7), list) << "page by page";
    EXPECT_EQ(Started(), list);
    first_ = yard_.MustSubmit(Spec({"busy"}));
  }
}

// ---- What a submit would say

Result<PreviewAnswer> Preview(YardHarness& yard, TaskSpec spec) {
  std::optional<Result<PreviewAnswer>> answer;
  ty::Preview preview;
  preview.spec = std::move(spec);
  preview.reply = [&](Result<PreviewAnswer> given) { answer = std::move(given); };
  yard.inbox->Post(std::move(preview));
  yard.Settle();
  return *answer;
}

TEST(Preview, SaysWhatTheReceiptWouldAndQueuesNothing) {
  YardHarness yard(2);
  const size_t events = yard.Events().size();
  const PreviewAnswer free = *Preview(yard, Spec({"python3", "train.py"}));
  EXPECT_TRUE(free.starts_now);
  EXPECT_EQ(free.receipt.name, "train");
  EXPECT_EQ(free.receipt.devices_message.id, "receipt.sees");
  EXPECT_TRUE(free.receipt.reason.id.empty());
  EXPECT_EQ(yard.yard->Overview().waiting, 0);
  EXPECT_EQ(yard.Events().size(), events);
  EXPECT_EQ(yard.MustSubmit(Spec({"a"})).value, 1) << "no number is used up";

  const PreviewAnswer both = *Preview(yard, Spec({"b"}, "2"));
  EXPECT_FALSE(both.starts_now);
  EXPECT_EQ(both.receipt.devices_message.id, "receipt.wants");
  const TaskId real = yard.MustSubmit(Spec({"b"}, "2"));
  EXPECT_EQ(both.receipt.reason.id, yard.WhyId(real));
  EXPECT_TRUE(Preview(yard, Spec({"c"}))->starts_now) << "it may pass the other";
}

TEST(Preview, RefusesWhatASubmitWouldRefuse) {
  YardHarness yard(2);
  const std::vector<Error> faults = Preview(yard, Spec({"a"}, "3")).value().faults;
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults.front().message.id, yard.Submit(Spec({"a"}, "3")).error().message.id);
  TaskSpec behind = Spec({"a"}, "3");
  behind.cpus = 1000;
  behind.after = {{TaskId{7}, Dependency::On::kOk}};
  const PreviewAnswer refused = Preview(yard, behind).value();
  std::string fields;
  for (const Error& fault : refused.faults) fields += fault.field + " ";
  EXPECT_EQ(fields, "/resources/gpus /resources/cpus /after/0/task ") << "all of them";
}

TEST(Preview, WhatIsHeldOrPausedDoesNotStart) {
  YardHarness yard(2);
  TaskSpec held = Spec({"a"});
  held.hold = true;
  EXPECT_FALSE(Preview(yard, held)->starts_now);
  EXPECT_EQ(Preview(yard, held)->receipt.reason.id, "why.held");
  yard.inbox->Post(PauseQueue{true, [](const Status&) {}});
  yard.Settle();
  EXPECT_EQ(Preview(yard, Spec({"a"}))->receipt.reason.id, "why.paused");
}

}  // namespace
}  // namespace ty
