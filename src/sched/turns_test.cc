#include "sched/turns.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

namespace ty {
namespace {

const Time kStart = FromNanos(1'800'000'000'000'000'000);

Ulid Number(int n) {
  Ulid ulid;
  ulid.bytes[15] = static_cast<uint8_t>(n);
  return ulid;
}
const Ulid kA = Number(1), kB = Number(2), kC = Number(3);

// "freeze a 12 s, thaw b"
std::string Text(const std::vector<Turns::Order>& orders) {
  std::string text;
  for (const Turns::Order& order : orders) {
    if (!text.empty()) text += ", ";
    text += order.freeze ? "freeze " : "thaw ";
    text += static_cast<char>('a' + order.attempt.bytes[15] - 1);
    if (order.freeze) text += " " + std::to_string(ToMillis(order.deadline) / 1000) + " s";
  }
  return text;
}

// Two that share half and half with slices of three seconds; B came later and has the floor, A is frozen.
struct Pair {
  Turns turns;
  Time now = kStart;

  explicit Pair(int a = 500, int b = 500) {
    turns.Join(kA, a, seconds(3), false, now);
    turns.Due(now);
    turns.Join(kB, b, seconds(3), false, now);
    turns.Due(now);
    turns.Frozen(kA, now);
    turns.Due(now);
  }
  std::string After(Duration time) {
    now += time;
    return Text(turns.Due(now));
  }
};

TEST(Turns, OneAloneRunsAndNobodyNeedsToLook) {
  Turns turns;
  EXPECT_TRUE(turns.empty());
  turns.Join(kA, 1000, seconds(3), false, kStart);
  EXPECT_EQ(Text(turns.Due(kStart)), "");
  EXPECT_FALSE(turns.next());
  EXPECT_EQ(turns.size(), 1u);
}

TEST(Turns, OneAloneThatWasAdoptedFrozenIsThawed) {
  Turns turns;
  turns.Join(kA, 1000, seconds(3), true, kStart);
  EXPECT_EQ(turns.next(), kStart);
  EXPECT_EQ(Text(turns.Due(kStart)), "thaw a");
  EXPECT_EQ(Text(turns.Due(kStart)), "") << "each is said once";
  EXPECT_FALSE(turns.next());
}

TEST(Turns, ANewcomerTakesTheFloor) {
  Turns turns;
  turns.Join(kA, 500, seconds(3), false, kStart);
  turns.Due(kStart);
  turns.Join(kB, 500, seconds(3), false, kStart + seconds(1));
  EXPECT_EQ(turns.next(), kStart + seconds(1));
  EXPECT_EQ(Text(turns.Due(kStart + seconds(1))), "freeze a 6 s");
  EXPECT_EQ(turns.next(), kStart + seconds(4)) << "its turn has begun";
}

TEST(Turns, EqualSharersAlternateByTheirSlice) {
  Pair pair;
  EXPECT_EQ(pair.turns.next(), kStart + seconds(3));
  EXPECT_EQ(pair.After(seconds(3)), "freeze b 6 s");
  EXPECT_EQ(pair.After(milliseconds(1)), "") << "A is thawed when B is known to stand";
  pair.turns.Frozen(kB, pair.now);
  EXPECT_EQ(pair.turns.next(), pair.now);
  EXPECT_EQ(pair.After({}), "thaw a");
  pair.turns.Thawed(kA, pair.now + milliseconds(10));
  EXPECT_EQ(pair.After(seconds(3)), "freeze b 6 s") << "only the deadline of the frozen one";
  EXPECT_EQ(pair.After(milliseconds(10)), "freeze a 6 s") << "a turn counts from the thaw";
  pair.turns.Frozen(kA, pair.now);
  EXPECT_EQ(pair.After({}), "thaw b");
}

TEST(Turns, TheNextIsThawedThoughNobodyAnswersTheFreeze) {
  Pair pair;
  EXPECT_EQ(pair.After(seconds(3)), "freeze b 6 s");
  EXPECT_EQ(pair.turns.next(), pair.now + Turns::kConfirmPatience);
  EXPECT_EQ(pair.After(Turns::kConfirmPatience - milliseconds(1)), "");
  EXPECT_EQ(pair.After(milliseconds(1)), "thaw a");
  EXPECT_EQ(pair.After(seconds(3)), "freeze a 6 s") << "and B's turn comes all the same";
  pair.turns.Frozen(kA, pair.now);
  EXPECT_EQ(pair.After({}), "thaw b") << "it may have heard the freeze";
}

TEST(Turns, LeavingHandsOverAtOnce) {
  Pair pair;
  pair.turns.Leave(kB, pair.now + seconds(1));
  EXPECT_EQ(pair.turns.next(), pair.now + seconds(1));
  EXPECT_EQ(pair.After(seconds(1)), "thaw a");
  EXPECT_FALSE(pair.turns.next());
  pair.turns.Leave(kA, pair.now);
  EXPECT_TRUE(pair.turns.empty());
  EXPECT_EQ(pair.After({}), "");
}

TEST(Turns, TheFrozenOneMayLeave) {
  Pair pair;
  pair.turns.Leave(kA, pair.now);
  EXPECT_EQ(pair.After(seconds(60)), "") << "B is alone and goes on";
  EXPECT_FALSE(pair.turns.next());
}

TEST(Turns, OneBeingStoppedIsNotFrozenAgain) {
  Pair pair;
  pair.turns.Stopping(kB, pair.now);
  EXPECT_EQ(pair.After({}), "thaw a") << "it takes no turns any more";
  pair.turns.Thawed(kA, pair.now);
  EXPECT_EQ(pair.After(seconds(60)), "");
  pair.turns.Join(kC, 500, seconds(3), false, pair.now);
  EXPECT_EQ(pair.After({}), "freeze a 6 s");
  pair.turns.Frozen(kA, pair.now);
  EXPECT_EQ(pair.After(seconds(3)), "freeze c 6 s") << "B is passed by";
  pair.turns.Frozen(kC, pair.now);
  EXPECT_EQ(pair.After({}), "thaw a");
  EXPECT_EQ(pair.turns.size(), 3u);
}

TEST(Turns, AFrozenOneBeingStoppedIsLeftToItsSupervisor) {
  Pair pair;
  pair.turns.Stopping(kA, pair.now);
  pair.turns.Thawed(kA, pair.now);
  EXPECT_EQ(pair.After(seconds(10)), "");
}

TEST(Turns, AFreezeIsRenewedAtHalfOfItsDeadline) {
  Pair pair(250, 750);  // B's turn is three slices
  EXPECT_EQ(pair.turns.next(), kStart + seconds(9));
  pair.turns.Join(kC, 250, seconds(3), false, pair.now);
  EXPECT_EQ(pair.After({}), "freeze b 18 s");
  pair.turns.Frozen(kB, pair.now);
  EXPECT_EQ(pair.After(seconds(3)), "freeze c 18 s") << "after C comes A, whose turn it would have been";
  pair.turns.Frozen(kC, pair.now);
  EXPECT_EQ(pair.After({}), "thaw a");
  EXPECT_EQ(pair.After(seconds(3)), "freeze a 18 s");
  pair.turns.Frozen(kA, pair.now);
  EXPECT_EQ(pair.After({}), "thaw b");
  EXPECT_EQ(pair.turns.next(), kStart + seconds(12));
  EXPECT_EQ(pair.After(seconds(6)), "freeze c 18 s") << "nine seconds after the last";
}

TEST(Turns, OneWhoseDeadlinePassedIsFrozenAgain) {
  Pair pair;
  pair.turns.Thawed(kA, pair.now + seconds(1));
  EXPECT_EQ(pair.After(seconds(1)), "freeze a 6 s");
  pair.turns.Frozen(kA, pair.now);
  EXPECT_EQ(pair.After({}), "");
}

TEST(Turns, ARefusedFreezeHoldsUpNobodyAndIsTriedAgainATurnLater) {
  Pair pair;
  EXPECT_EQ(pair.After(seconds(3)), "freeze b 6 s");
  pair.turns.Refused(kB, pair.now);
  EXPECT_EQ(pair.After({}), "thaw a");
  EXPECT_EQ(pair.After(seconds(2)), "");
  EXPECT_EQ(pair.After(seconds(1)), "freeze a 6 s") << "B never stood still";
}

TEST(Turns, WhatIsGrantedNowDecidesHowLongATurnLasts) {
  Pair pair(250, 250);
  EXPECT_EQ(pair.turns.next(), kStart + seconds(3));
  pair.turns.Grant(kB, 500);
  EXPECT_EQ(pair.turns.next(), kStart + seconds(3)) << "A's freeze is renewed";
  EXPECT_EQ(pair.After(seconds(3)), "freeze a 12 s");
  EXPECT_EQ(pair.turns.next(), kStart + seconds(6));
  EXPECT_EQ(pair.After(seconds(3)), "freeze b 12 s");
}

TEST(Turns, TheSmallestSliceCounts) {
  Turns turns;
  turns.Join(kA, 500, seconds(30), false, kStart);
  turns.Join(kB, 500, seconds(1), false, kStart);
  EXPECT_EQ(Text(turns.Due(kStart)), "freeze a 2 s");
  turns.Frozen(kA, kStart);
  EXPECT_EQ(Text(turns.Due(kStart + seconds(1))), "freeze b 2 s");
}

TEST(Turns, NewsOfStrangersChangesNothing) {
  Pair pair;
  pair.turns.Frozen(kC, pair.now);
  pair.turns.Thawed(kC, pair.now);
  pair.turns.Refused(kC, pair.now);
  pair.turns.Stopping(kC, pair.now);
  pair.turns.Leave(kC, pair.now);
  pair.turns.Grant(kC, 10);
  EXPECT_EQ(pair.After({}), "");
  EXPECT_EQ(pair.turns.next(), kStart + seconds(3));
}

// Shims that hear, obey and answer after random delays; some hear nothing at all.
class Yard {
 public:
  explicit Yard(unsigned seed) : random_(seed) {}

  void Join(int n, int granted, Duration slice, bool mute) {
    Shim& shim = shims_[Number(n)];
    shim.running = true;
    shim.mute = mute;
    turns_.Join(Number(n), granted, slice, false, now_);
    Act();
  }
  void Leave(int n) {
    shims_.erase(Number(n));
    turns_.Leave(Number(n), now_);
    Act();
  }
  void Stop(int n) {
    Shim& shim = shims_.at(Number(n));
    shim.stopping = shim.running = true;
    turns_.Stopping(Number(n), now_);
    Act();
  }
  bool Has(int n) const { return shims_.count(Number(n)) != 0; }
  Turns& turns() { return turns_; }
  Duration Ran(int n) const { return shims_.at(Number(n)).ran; }
  Duration longest_overlap() const { return longest_overlap_; }
  Duration longest_silence() const { return longest_silence_; }

  void RunUntil(Time end) {
    while (now_ < end) {
      Time at = end;
      if (auto next = turns_.next()) at = std::min(at, std::max(now_, *next));
      for (const auto& [id, shim] : shims_) {
        if (!shim.orders.empty()) at = std::min(at, shim.orders.front().first);
        if (!shim.news.empty()) at = std::min(at, shim.news.front().first);
        if (!shim.running) at = std::min(at, shim.deadline);
      }
      Let(at - now_);
      for (auto& [id, shim] : shims_) Step(id, shim);
      Act();
    }
  }
  Time now() const { return now_; }

 private:
  struct Shim {
    bool running = false, mute = false, stopping = false;
    Time deadline;
    std::deque<std::pair<Time, Turns::Order>> orders;
    std::deque<std::pair<Time, bool>> news;  // frozen or thawed
    Duration ran{};
  };

  Duration Delay() { return milliseconds(random_() % 90); }
  template <class What>
  void Post(std::deque<std::pair<Time, What>>& queue, What what) {
    Time at = now_ + Delay();
    if (!queue.empty()) at = std::max(at, queue.back().first);
    queue.emplace_back(at, what);
  }
  void Act() {
    for (const Turns::Order& order : turns_.Due(now_)) {
      Shim& shim = shims_.at(order.attempt);
      EXPECT_FALSE(shim.stopping && order.freeze) << "one that is being stopped was frozen";
      if (!shim.mute) Post(shim.orders, order);
    }
    if (auto next = turns_.next()) {
      EXPECT_GT(*next, now_) << "nothing is left to say";
    }
  }
  void Step(Ulid id, Shim& shim) {
    while (!shim.orders.empty() && shim.orders.front().first <= now_) {
      const Turns::Order order = shim.orders.front().second;
      shim.orders.pop_front();
      if (shim.stopping) continue;
      if (order.freeze) shim.deadline = now_ + order.deadline;
      if (order.freeze != shim.running) continue;
      shim.running = !order.freeze;
      Post(shim.news, order.freeze);
    }
    if (!shim.running && shim.deadline <= now_) {
      ADD_FAILURE() << "a deadline passed though the yard lives";
      shim.running = true;
      Post(shim.news, false);
    }
    while (!shim.news.empty() && shim.news.front().first <= now_) {
      const bool frozen = shim.news.front().second;
      shim.news.pop_front();
      frozen ? turns_.Frozen(id, now_) : turns_.Thawed(id, now_);
    }
  }
  void Let(Duration time) {
    int running = 0, there = 0;
    for (auto& [id, shim] : shims_) {
      if (shim.running) shim.ran += time;
      if (shim.stopping || shim.mute) continue;
      ++there;
      running += shim.running;
    }
    overlap_ = running > 1 ? overlap_ + time : Duration{};
    silence_ =
        there > 0 && there == static_cast<int>(shims_.size()) && running == 0 ? silence_ + time : Duration{};
    longest_overlap_ = std::max(longest_overlap_, overlap_);
    longest_silence_ = std::max(longest_silence_, silence_);
    now_ += time;
  }

  std::mt19937 random_;
  Time now_ = kStart;
  Turns turns_;
  std::map<Ulid, Shim> shims_;
  Duration overlap_{}, longest_overlap_{}, silence_{}, longest_silence_{};
};

TEST(Turns, QuarterAndThreeQuartersGetTimeOneToThree) {
  Yard yard(1);
  yard.Join(1, 250, seconds(3), false);
  yard.Join(2, 750, seconds(3), false);
  yard.RunUntil(kStart + hours(1));
  const double ratio = static_cast<double>(yard.Ran(2).count()) / static_cast<double>(yard.Ran(1).count());
  EXPECT_NEAR(ratio, 3.0, 0.1);
}

TEST(Turns, ADeadSharerDoesNotStopTheOthers) {
  Yard yard(2);
  yard.Join(1, 300, seconds(2), false);
  yard.Join(2, 300, seconds(2), true);
  yard.Join(3, 300, seconds(2), false);
  yard.RunUntil(kStart + minutes(10));
  EXPECT_GT(yard.Ran(1), minutes(3));
  EXPECT_GT(yard.Ran(3), minutes(3));
  EXPECT_LE(yard.longest_overlap(), milliseconds(200));
}

class RandomTurns : public testing::TestWithParam<unsigned> {};

// Whoever comes, goes, is stopped or gets more: never are two at work for longer than it takes to hear an
// answer, and never does the device stand still for longer.
TEST_P(RandomTurns, NeverLetTwoRunForLong) {
  std::mt19937 random(GetParam());
  Yard yard(GetParam() + 1000);
  std::vector<int> there;
  int next = 1;
  for (int step = 0; step < 200; ++step) {
    yard.RunUntil(yard.now() + milliseconds(random() % 8000));
    const unsigned what = random() % 10;
    if (there.empty() || (what < 4 && there.size() < 5 && next < 200)) {
      there.push_back(next);
      yard.Join(next++, 100 + static_cast<int>(random() % 400), seconds(1 + random() % 5), false);
      continue;
    }
    const size_t at = random() % there.size();
    if (what < 7) {
      yard.turns().Grant(Number(there[at]), 100 + static_cast<int>(random() % 900));
    } else {
      if (what == 7) {
        yard.Stop(there[at]);
        yard.RunUntil(yard.now() + milliseconds(random() % 3000));
      }
      yard.Leave(there[at]);
      there.erase(there.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  EXPECT_LE(yard.longest_overlap(), Turns::kConfirmPatience);
  EXPECT_LE(yard.longest_silence(), Turns::kConfirmPatience);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTurns, testing::Range(0u, 40u));

}  // namespace
}  // namespace ty
