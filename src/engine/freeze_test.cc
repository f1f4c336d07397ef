// Freezing and thawing, as the daemon asks for it and as anybody trusted may.
#include "engine/testing.h"
#include "posix/sockets.h"
#include "wire/control.h"

namespace ty {
namespace {

// The control socket as anybody trusted may use it.
class Caller {
 public:
  explicit Caller(const AttemptFolder& folder) {
    auto at = OpenFolder(folder.paths().folder);
    auto link = ConnectPackets(at->get(), "ctl.sock");
    EXPECT_TRUE(link);
    if (link) link_ = std::move(*link);
  }
  wire::News Ask(const std::string& packet, wire::NewsKind expected) {
    EXPECT_TRUE(SendPacket(link_.get(), packet));
    for (;;) {
      if (!WaitReadable(link_.get(), 30'000)) break;
      const auto answer = ReceivePacket(link_.get());
      if (!answer || answer->empty()) break;
      if (auto news = wire::DecodeNews(*answer); news && news->kind == expected) return *news;
    }
    ADD_FAILURE() << "no answer to " << packet;
    return {};
  }

 private:
  UniqueFd link_;
};

TEST_P(LocalEngineTest, FreezesUntilTheDeadlineEvenWithNobodyThere) {
  const Ulid attempt = LaunchScript("while :; do echo x; sleep 0.02; done");
  desk_->Wait<AttemptRunning>(attempt);
  engine_.reset();
  ASSERT_TRUE(Eventually([&] { return !Log(attempt).empty(); }));
  {
    Caller caller(Folder(attempt));
    caller.Ask(R"({"format":1,"verb":"FREEZE","deadline_ms":600000})", wire::NewsKind::kDone);
    EXPECT_TRUE(caller.Ask(R"({"format":1,"verb":"STATUS"})", wire::NewsKind::kState).frozen);
    caller.Ask(R"({"format":1,"verb":"FREEZE","deadline_ms":600})", wire::NewsKind::kDone);
  }
  const size_t frozen_at = Log(attempt).size();
  EXPECT_TRUE(Eventually([&] { return Log(attempt).size() > frozen_at + 20; }));
  Open();
  Adopt({Row(attempt)});
  desk_->Wait<AttemptRunning>(attempt);
  Caller(Folder(attempt)).Ask(R"({"format":1,"verb":"FREEZE","deadline_ms":600000})", wire::NewsKind::kDone);
  engine_->Stop(attempt, {.reason = "thaws first"});
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.signal, SIGTERM);
}

TEST_P(LocalEngineTest, AFrozenTaskStandsStillUntilItIsThawed) {
  // Forks all the time, out of its session too, and one process lives on in a child forever: nobody may slip
  // through.
  const Ulid attempt = LaunchScript(
      "hop() { echo h; hop & }; hop; while :; do echo a; setsid sh -c 'echo b; (echo c)' & sh -c 'echo d'; "
      "done");
  ASSERT_TRUE(Eventually([&] { return Log(attempt).size() > 100; }));
  for (int round = 1; round <= 2; ++round) {
    engine_->Freeze(attempt, minutes(10));
    ASSERT_TRUE(Eventually([&] { return desk_->Count<AttemptFrozen>(attempt) == round; }));
    std::string log;
    LetOthersRun();  // the kernel freezes in its own time
    log = Log(attempt);
    LetOthersRun();
    EXPECT_EQ(Log(attempt).size(), log.size());
    engine_->Thaw(attempt);
    ASSERT_TRUE(Eventually([&] { return desk_->Count<AttemptThawed>(attempt) == round; }));
    EXPECT_TRUE(Eventually([&] { return Log(attempt).size() > log.size() + 100; }));
  }
  EXPECT_EQ(desk_->Count<AttemptFreezeRefused>(attempt), 0);
}

TEST_P(LocalEngineTest, ThawsByItselfWhenTheDaemonThatFrozeItIsGone) {
  const Ulid attempt = LaunchScript("while :; do echo x; sleep 0.01; done");
  ASSERT_TRUE(Eventually([&] { return !Log(attempt).empty(); }));
  engine_->Freeze(attempt, milliseconds(300));
  desk_->Wait<AttemptFrozen>(attempt);
  engine_.reset();
  const size_t frozen_at = Log(attempt).size();
  EXPECT_TRUE(Eventually([&] { return Log(attempt).size() > frozen_at + 20; }));
  Open();
  Adopt({Row(attempt)});
  EXPECT_FALSE(desk_->Wait<AttemptRunning>(attempt)->frozen);
}

TEST_P(LocalEngineTest, FindsAnAdoptedTaskFrozenAndThawsIt) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  engine_->Freeze(attempt, minutes(10));
  desk_->Wait<AttemptFrozen>(attempt);
  Restart({Row(attempt)});
  EXPECT_TRUE(desk_->Wait<AttemptRunning>(attempt)->frozen);
  engine_->Thaw(attempt);
  desk_->Wait<AttemptThawed>(attempt);
  EXPECT_EQ(desk_->Count<AttemptFrozen>(attempt), 0);
}

TEST_P(LocalEngineTest, FreezingTheFrozenRenewsTheDeadlineAndIsNotToldAgain) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  engine_->Freeze(attempt, minutes(10));
  engine_->Freeze(attempt, minutes(20));
  engine_->Freeze(attempt, milliseconds(50));
  desk_->Wait<AttemptThawed>(attempt);
  EXPECT_EQ(desk_->Count<AttemptFrozen>(attempt), 1);
  EXPECT_EQ(desk_->Count<AttemptThawed>(attempt), 1);
}

TEST_P(LocalEngineTest, SaysWhenItCannotFreeze) {
  const Ulid unknown = Ulid::Make(FromNanos(WallNanos()));
  engine_->Freeze(unknown, seconds(1));
  EXPECT_EQ(desk_->Wait<AttemptFreezeRefused>(unknown)->error, ENOTCONN);
  engine_->Thaw(unknown);

  const Ulid endless = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(endless);
  engine_->Freeze(endless, Duration{});
  EXPECT_EQ(desk_->Wait<AttemptFreezeRefused>(endless)->error, EINVAL);

  const Ulid stopping = LaunchScript("trap '' TERM; echo ready; while :; do sleep 0.02; done");
  ASSERT_TRUE(Eventually([&] { return Log(stopping) == "ready\n"; }));
  engine_->Stop(stopping, {.reason = "x", .grace = minutes(1)});
  engine_->Freeze(stopping, seconds(1));
  EXPECT_EQ(desk_->Wait<AttemptFreezeRefused>(stopping)->error, EBUSY);
  EXPECT_EQ(desk_->Count<AttemptFrozen>(stopping), 0);
}

TEST_P(LocalEngineTest, SaysThatAStopThawedWhatWasFrozen) {
  const Ulid attempt = LaunchScript("trap 'exit 4' TERM; echo ready; while :; do sleep 0.02; done");
  ASSERT_TRUE(Eventually([&] { return Log(attempt) == "ready\n"; }));
  engine_->Freeze(attempt, minutes(10));
  desk_->Wait<AttemptFrozen>(attempt);
  engine_->Stop(attempt, {.reason = "x"});
  EXPECT_EQ(desk_->Wait<AttemptExited>(attempt)->record.exit_code, 4);
  EXPECT_EQ(desk_->Count<AttemptThawed>(attempt), 1);
}

TEST_P(LocalEngineTest, DoesNotCountFrozenTimeAgainstTheLimit) {
  LaunchOrder order = Order({"/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.02; done"});
  order.time_limit = seconds(6);
  const Ulid attempt = Launch(std::move(order));
  desk_->Wait<AttemptRunning>(attempt);
  Caller caller(Folder(attempt));
  caller.Ask(R"({"format":1,"verb":"FREEZE","deadline_ms":7000})", wire::NewsKind::kFrozen);
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (home_ + "/go").c_str(), ""));
  const ExitRecord record = desk_->Wait<AttemptExited>(attempt)->record;
  EXPECT_EQ(record.stopped_by, ExitRecord::StoppedBy::kNobody);
  EXPECT_EQ(record.exit_code, 0);
  EXPECT_GE(record.ended - record.started, milliseconds(6900));
}

TEST_P(LocalEngineTest, AnswersWhatItDoesNotUnderstandWithAnError) {
  const Ulid attempt = LaunchScript("exec sleep 1000");
  desk_->Wait<AttemptRunning>(attempt);
  Caller caller(Folder(attempt));
  caller.Ask(R"({"format":2,"verb":"DANCE"})", wire::NewsKind::kError);
  caller.Ask("garbage \xff", wire::NewsKind::kError);
  caller.Ask(R"({"format":1,"verb":"FREEZE"})", wire::NewsKind::kError);
  EXPECT_EQ(caller.Ask(R"({"format":1,"verb":"PING"})", wire::NewsKind::kState).record->attempt,
            attempt.Text());
  caller.Ask(R"({"format":1,"verb":"KILL"})", wire::NewsKind::kDone);
  EXPECT_TRUE(desk_->Wait<AttemptExited>(attempt)->record.killed_by_shim);
}

}  // namespace
}  // namespace ty
