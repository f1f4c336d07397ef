#include "ingest/ingest.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <sstream>

namespace ty {
namespace {

// Collects what Ingest tells; a test waits for what it expects to have been told.
class Ear {
 public:
  void Hear(Observation seen) {
    std::lock_guard lock(mutex_);
    if (seen.progress) progress_[seen.attempt] = *seen.progress;
    if (seen.progress || seen.pace) pace_ = seen.pace;
    for (auto& [tag, value] : seen.metrics) metrics_[tag] = value;
    for (Checkpoint& checkpoint : seen.checkpoints) checkpoints_.push_back(checkpoint);
    unreadable_ = seen.unreadable;
    ++count_;
    heard_.notify_all();
  }
  template <class Condition>
  void Await(Condition condition) {
    std::unique_lock lock(mutex_);
    heard_.wait(lock, [&] { return condition(*this); });
  }

  std::map<Ulid, Progress> progress_;
  std::map<std::string, double> metrics_;
  std::optional<Pace> pace_;
  std::vector<Checkpoint> checkpoints_;
  int64_t unreadable_ = 0;
  int count_ = 0;
  std::mutex mutex_;
  std::condition_variable heard_;
};

// Keeps the points as a store does: with the place they were found up to.
class Basket final : public SeriesSink {
 public:
  SourcePlace Begin(AttemptKey, Time) override { return place_; }
  void Append(AttemptKey, std::vector<FoundPoint> points, SourcePlace upto) override {
    std::lock_guard lock(mutex_);
    for (FoundPoint& point : points) points_.push_back(std::move(point));
    place_ = upto;
    came_.notify_all();
  }
  void End(AttemptKey) override { ended_ = true; }
  void AwaitCount(size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return points_.size() >= count; });
  }
  // "step value" of each.
  std::vector<std::string> Told(const std::string& tag) {
    std::lock_guard lock(mutex_);
    std::vector<std::string> told;
    for (const FoundPoint& point : points_) {
      if (point.tag != tag) continue;
      std::ostringstream text;
      text << point.step << " " << point.value;
      told.push_back(text.str());
    }
    return told;
  }

  std::vector<FoundPoint> points_;
  SourcePlace place_;
  std::atomic<bool> ended_ = false;

 private:
  std::mutex mutex_;
  std::condition_variable came_;
};

class IngestTest : public testing::Test {
 protected:
  IngestTest() {
    char folder[] = "/tmp/ty_ingest_XXXXXX";
    folder_ = mkdtemp(folder);
    Restart();
  }
  void Restart() {
    ingest_.reset();
    ingest_ = MakeIngest([this](Observation seen) { ear_.Hear(std::move(seen)); }, &basket_);
  }
  ~IngestTest() override {
    ingest_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Write(const std::string& file, std::string_view bytes) {
    std::ofstream(folder_ + "/" + file, std::ios::binary | std::ios::app) << bytes;
  }
  Followed Subject(int number = 1, const std::string& log = "log") {
    Followed followed;
    followed.attempt.bytes[15] = static_cast<uint8_t>(number);
    followed.task = TaskId{7};
    followed.number = number;
    followed.log = folder_ + "/" + log;
    followed.out_folder = folder_;
    return followed;
  }
  // All is known when this returns.
  LogTail Finish(const Followed& followed, std::string tail_of = "") {
    std::mutex mutex;
    std::condition_variable finished;
    std::optional<LogTail> tail;
    ingest_->Finish(followed.attempt, std::move(tail_of), [&](LogTail read) {
      std::lock_guard lock(mutex);
      tail = std::move(read);
      finished.notify_all();
    });
    std::unique_lock lock(mutex);
    finished.wait(lock, [&] { return tail.has_value(); });
    return *tail;
  }
  Progress ProgressOf(const Followed& followed) { return ear_.progress_[followed.attempt]; }

  std::string folder_;
  Ear ear_;
  Basket basket_;
  std::unique_ptr<Ingest> ingest_;
};

TEST_F(IngestTest, ReadsAQuickTaskAtItsEnd) {
  const Followed subject = Subject();
  ingest_->Follow(subject);
  Write("log", "epoch 3/20 loss=0.53\nbye\n");
  const LogTail tail = Finish(subject);
  EXPECT_EQ(tail.lines, (std::vector<std::string>{"epoch 3/20 loss=0.53", "bye"}));
  EXPECT_EQ(ProgressOf(subject), (Progress{3, 20.0, "epoch", "training"}));
  EXPECT_EQ(ear_.metrics_["loss"], 0.53);
}

TEST_F(IngestTest, FollowsTheFirstRankAndReadsTheEndOfTheOneThatFailed) {
  const Followed subject = Subject(1, "log.0");
  ingest_->Follow(subject);
  Write("log.0", "epoch 3/20 loss=0.53\n");
  Write("log.1", "epoch 9/20\nTraceback (most recent call last):\n  File \"a\", line 1\nOSError: no disk\n");
  const LogTail tail = Finish(subject, folder_ + "/log.1");
  EXPECT_EQ(tail.exception, "OSError: no disk");
  EXPECT_EQ(tail.lines.back(), "OSError: no disk");
  EXPECT_EQ(ProgressOf(subject), (Progress{3, 20.0, "epoch", "training"}));
}

TEST_F(IngestTest, SeesAGrowingLogWhileItRuns) {
  const Followed subject = Subject();
  ingest_->Follow(subject);
  for (int epoch = 1; epoch <= 3; ++epoch) {
    Write("log", "epoch " + std::to_string(epoch) + "/3 loss=0." + std::to_string(epoch) + "\n");
    ear_.Await([&](Ear& ear) {
      return ear.progress_.count(subject.attempt) && ear.progress_[subject.attempt].done == epoch;
    });
  }
  Write("log", "step without a newline 9");
  EXPECT_EQ(Finish(subject).lines.back(), "step without a newline 9");
}

TEST_F(IngestTest, ShowsABarThatStandsStill) {
  const Followed subject = Subject();
  ingest_->Follow(subject);
  Write("log", "\r 45%|####5     | 45/100 [00:10<00:12, 4.4it/s, loss=nan]");
  ear_.Await([&](Ear& ear) {
    return ear.progress_.count(subject.attempt) && ear.progress_[subject.attempt].done == 45;
  });
  ear_.Await([&](Ear& ear) { return std::isnan(ear.metrics_["loss"]); });
  Finish(subject);
}

TEST_F(IngestTest, ReadsTheHelpersFilesOfThisAttemptAlone) {
  Write("metrics.jsonl",
        R"({"attempt":1,"time":1.5,"step":9,"metrics":{"loss":9}})"
        "\n"
        R"({"attempt":2,"time":1.5,"step":40,"metrics":{"loss":0.53,"acc":"NaN","top":"-Infinity"}})"
        "\n"
        R"({"attempt":2,"time":1.5,"progress":{"done":40,"total":200,"unit":"step"}})"
        "\n"
        R"({"attempt":2,"time":1.5,"progress":{"done":41,"total":200,"un)");
  Write("checkpoints.jsonl", R"({"attempt":1,"time":1.5,"step":10,"path":"/ckpt/1","bytes":5})"
                             "\n"
                             R"({"attempt":2,"time":1.5,"step":40,"path":"/ckpt/2","bytes":123})"
                             "\n"
                             R"({"attempt":2,"time":1.5,"path":"/ckpt/3","bytes":4})"
                             "\n");
  Write("log", "epoch 3/20 loss=7 other=1\n");
  const Followed subject = Subject(2);
  ingest_->Follow(subject);
  Finish(subject);
  EXPECT_EQ(ProgressOf(subject), (Progress{40, 200.0, "step", "training"}))
      << "half a line waits; the helper wins";
  EXPECT_EQ(ear_.metrics_["loss"], 0.53);
  EXPECT_TRUE(std::isnan(ear_.metrics_["acc"]));
  EXPECT_EQ(ear_.metrics_["top"], -INFINITY);
  EXPECT_EQ(ear_.checkpoints_, (std::vector<Checkpoint>{{"/ckpt/2", 40, 123, 2}, {"/ckpt/3", 0, 4, 2}}));
  EXPECT_EQ(ear_.unreadable_, 0);
}

TEST_F(IngestTest, CompletesAHalfWrittenLine) {
  const Followed subject = Subject();
  ingest_->Follow(subject);
  Write("metrics.jsonl", R"({"attempt":1,"progress":{"done":1,"total":2}})"
                         "\n"
                         R"({"attempt":1,"prog)");
  ear_.Await([&](Ear& ear) { return ear.progress_.count(subject.attempt) > 0; });
  Write("metrics.jsonl", R"(ress":{"done":2,"total":2}})"
                         "\n");
  ear_.Await([&](Ear& ear) { return ear.progress_[subject.attempt].done == 2; });
  Finish(subject);
  EXPECT_EQ(ear_.unreadable_, 0);
}

TEST_F(IngestTest, CountsLinesThatCannotBeRead) {
  Write("metrics.jsonl", "not json\n\n{\"attempt\":1}\n[1]\n{\"attempt\":1,\"progress\":{\"done\":-1}}\n" +
                             std::string(2 << 20, 'x') + "\n" + R"({"attempt":1,"metrics":{"loss":0.5}})" +
                             "\n");
  Write("checkpoints.jsonl", R"({"attempt":1,"path":"relative"})"
                             "\n");
  const Followed subject = Subject();
  ingest_->Follow(subject);
  Finish(subject);
  EXPECT_EQ(ear_.unreadable_, 6);
  EXPECT_EQ(ear_.metrics_["loss"], 0.5);
}

TEST_F(IngestTest, DoesNotReportAKnownCheckpointAgain) {
  for (int step : {10, 20, 30}) {
    Write("checkpoints.jsonl",
          R"({"attempt":1,"step":)" + std::to_string(step) + R"(,"path":"/c","bytes":1})" + "\n");
  }
  Followed subject = Subject();
  subject.known = Checkpoint{"/c", 20, 1, 1};
  ingest_->Follow(subject);
  Finish(subject);
  EXPECT_EQ(ear_.checkpoints_, (std::vector<Checkpoint>{{"/c", 30, 1, 1}}));
}

TEST_F(IngestTest, ReadsALogThatWasCutShortAnew) {
  const Followed subject = Subject();
  ingest_->Follow(subject);
  Write("log", "epoch 1/9\nsome more text to be cut\n");
  ear_.Await([&](Ear& ear) { return ear.progress_.count(subject.attempt) > 0; });
  std::filesystem::resize_file(folder_ + "/log", 0);
  Write("log", "epoch 2/9\n");
  ear_.Await([&](Ear& ear) { return ear.progress_[subject.attempt].done == 2; });
  Finish(subject);
}

TEST_F(IngestTest, FollowsManyAndKeepsThemApart) {
  std::vector<Followed> subjects;
  for (int i = 1; i <= 50; ++i) {
    subjects.push_back(Subject(i, "log" + std::to_string(i)));
    ingest_->Follow(subjects.back());
    Write("log" + std::to_string(i), "step " + std::to_string(i) + "/100\n");
  }
  for (int i = 50; i >= 1; --i) {
    Finish(subjects[i - 1]);
    EXPECT_EQ(ProgressOf(subjects[i - 1]).done, i);
  }
}

TEST_F(IngestTest, FinishOfSomethingUnknownAnswers) {
  EXPECT_TRUE(Finish(Subject(9)).lines.empty());
}

TEST_F(IngestTest, ClosesWhileFollowing) {
  ingest_->Follow(Subject());
  ingest_->Follow(Subject(2));
  ingest_.reset();
}

// Case 14 of training GUIs, CM#181: every update of a bar is no line.
TEST_F(IngestTest, TakesAFloodOfBarUpdatesInOneState) {
  const Followed subject = Subject();
  std::string flood;
  for (int i = 1; i <= 200000; ++i) {
    flood += "\r " + std::to_string(i / 2000) + "%|###   | " + std::to_string(i) +
             "/200000 [00:10<00:12, 4.4it/s, loss=0.5]";
  }
  Write("log", flood);
  ingest_->Follow(subject);
  const LogTail tail = Finish(subject);
  EXPECT_EQ(ProgressOf(subject).done, 200000);
  ASSERT_EQ(tail.lines.size(), 1u);
  EXPECT_EQ(tail.lines[0], " 100%|###   | 200000/200000 [00:10<00:12, 4.4it/s, loss=0.5]");
  EXPECT_LE(ear_.count_, 20);
}

TEST_F(IngestTest, AFloodDelaysNobodyElse) {
  const Followed noisy = Subject(1, "noisy"), quiet = Subject(2, "quiet");
  const std::string line = "step 1/2 " + std::string(200, 'z') + "\n";
  std::string flood;
  while (flood.size() < (40u << 20)) flood += line;
  Write("noisy", flood);
  ingest_->Follow(noisy);
  ingest_->Follow(quiet);
  Write("quiet", "step 3/9\n");
  ear_.Await([&](Ear& ear) { return ear.progress_.count(quiet.attempt) > 0; });
  Finish(quiet);
  Finish(noisy);
  EXPECT_EQ(ProgressOf(noisy).done, 1);
}

// Case 62: bytes of any kind.
TEST_F(IngestTest, SurvivesNoiseAndAnEndlessLine) {
  std::mt19937 random(3);
  std::string noise(4 << 20, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  Write("log", noise + "\n" + std::string(10 << 20, 'x'));
  Write("metrics.jsonl", noise);
  Write("checkpoints.jsonl", noise);
  const Followed subject = Subject();
  ingest_->Follow(subject);
  const LogTail tail = Finish(subject);
  ASSERT_FALSE(tail.lines.empty());
  EXPECT_EQ(tail.lines.back().substr(0, 3), "xxx");
  EXPECT_TRUE(ear_.checkpoints_.empty());
  EXPECT_GT(ear_.unreadable_, 0);
}

// ---- Points

std::string RecordOf(int step, const std::string& value, int attempt = 1) {
  return R"({"attempt":)" + std::to_string(attempt) + R"(,"time":1796040000.25,"step":)" +
         std::to_string(step) + R"(,"metrics":{"loss":)" + value + "}}\n";
}

std::vector<std::string> Upto(int count) {
  std::vector<std::string> told;
  for (int i = 0; i < count; ++i) told.push_back(std::to_string(i) + " " + std::to_string(i) + ".5");
  return told;
}

TEST_F(IngestTest, KeepsEveryPointTheHelperWrites) {
  const Followed subject = Subject(2);
  Write("metrics.jsonl", RecordOf(0, "9", 1) + RecordOf(0, "0.5", 2) + RecordOf(1, "1.5", 2));
  ingest_->Follow(subject);
  basket_.AwaitCount(2);
  Write("metrics.jsonl", RecordOf(2, "2.5", 2) + RecordOf(3, R"("NaN")", 2) +
                             R"({"attempt":2,"metrics":{"acc":1}})" + "\n" +
                             R"({"attempt":2,"metrics":{"acc":2},"time":"NaN"})" + "\n");
  Finish(subject);
  EXPECT_EQ(basket_.Told("loss"), (std::vector<std::string>{"0 0.5", "1 1.5", "2 2.5", "3 nan"}));
  EXPECT_EQ(basket_.Told("acc"), (std::vector<std::string>{"0 1", "1 2"}))
      << "without a step they are numbered";
  EXPECT_EQ(basket_.points_[0].time, 1'796'040'000'250);
  EXPECT_GT(basket_.points_.back().time, 1'796'000'000'000 - 400LL * 86'400'000) << "the time it came at";
  EXPECT_TRUE(basket_.points_[0].said);
  EXPECT_TRUE(basket_.ended_);
}

TEST_F(IngestTest, KeepsEveryPointThatIsPrinted) {
  const Followed subject = Subject();
  ingest_->Follow(subject);
  std::string log;
  for (int i = 0; i < 3000; ++i)
    log += "step " + std::to_string(i) + "/9000 loss=" + std::to_string(i) + ".5\n";
  Write("log", log + "loss=7\n");
  Finish(subject);
  std::vector<std::string> told = Upto(3000);
  told.push_back("2999 7");
  EXPECT_EQ(basket_.Told("loss"), told) << "a line without a step has the one before";
  EXPECT_FALSE(basket_.points_[0].said);
}

TEST_F(IngestTest, NumbersWhatIsPrintedWithoutAnyStep) {
  const Followed subject = Subject();
  ingest_->Follow(subject);
  Write("log", "loss: 5\nloss: 5\nloss: nan\n");
  Finish(subject);
  EXPECT_EQ(basket_.Told("loss"), (std::vector<std::string>{"0 5", "1 5", "2 nan"}));
}

TEST_F(IngestTest, ABarThatIsDrawnAgainIsNoNewPoint) {
  const Followed subject = Subject();
  ingest_->Follow(subject);
  for (int i = 0; i < 5; ++i) Write("log", "\r 45%|####5     | 45/100 [00:10<00:12, 4.4it/s, loss=nan]");
  Write("log", "\r 46%|####6     | 46/100 [00:10<00:12, 4.4it/s, loss=0.5]\n");
  Finish(subject);
  EXPECT_EQ(basket_.Told("loss"), (std::vector<std::string>{"45 nan", "46 0.5"}));
}

TEST_F(IngestTest, AnotherDaemonGoesOnWithTheHelpersFileAtAnyByte) {
  std::string all;
  for (int i = 0; i < 12; ++i) all += RecordOf(i, std::to_string(i) + ".5");
  const Followed subject = Subject();
  std::string written = all.substr(0, 200);
  Write("metrics.jsonl", written);
  for (size_t at = written.size(); at <= all.size(); at += 37) {
    Write("metrics.jsonl", all.substr(written.size(), at - written.size()));
    written = all.substr(0, at);
    ingest_->Follow(subject);
    basket_.AwaitCount(static_cast<size_t>(std::count(written.begin(), written.end(), '\n')));
    Restart();
  }
  Write("metrics.jsonl", all.substr(written.size()));
  ingest_->Follow(subject);
  Finish(subject);
  EXPECT_EQ(basket_.Told("loss"), Upto(12));
}

TEST_F(IngestTest, AnotherDaemonGoesOnWithTheLogAtAnyByte) {
  std::string all;
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i);
    all += "\r  1%|   | " + n + "/99 [00:10<00:12, 4.4it/s, loss=" + n + ".5]" + (i % 3 == 2 ? "\n" : "");
  }
  const Followed subject = Subject();
  std::string written;
  for (size_t at = 30; at < all.size(); at += 41) {
    Write("log", all.substr(written.size(), at - written.size()));
    written = all.substr(0, at);
    ingest_->Follow(subject);
    basket_.AwaitCount(at / 60);
    Restart();
  }
  Write("log", all.substr(written.size()));
  ingest_->Follow(subject);
  Finish(subject);
  const std::vector<std::string> told = basket_.Told("loss"), wanted = Upto(12);
  for (const std::string& point : wanted) EXPECT_EQ(std::count(told.begin(), told.end(), point), 1) << point;
}

TEST_F(IngestTest, ABarThatStoodStillBeforeARestartIsOnePoint) {
  const Followed subject = Subject();
  Write("log", "\r 45%|####5     | 45/100 [00:10<00:12, 4.4it/s, loss=0.5]");
  ingest_->Follow(subject);
  basket_.AwaitCount(1);
  Restart();
  ingest_->Follow(subject);
  Write("log", "\r 46%|####6     | 46/100 [00:10<00:12, 4.4it/s, loss=0.25]");
  Finish(subject);
  EXPECT_EQ(basket_.Told("loss"), (std::vector<std::string>{"45 0.5", "46 0.25"}));
}

TEST_F(IngestTest, AFileThatIsBegunAnewHasNewPoints) {
  const Followed subject = Subject();
  Write("metrics.jsonl", RecordOf(0, "1") + RecordOf(1, "2") + R"({"attempt":1,"half)");
  ingest_->Follow(subject);
  basket_.AwaitCount(2);
  std::filesystem::resize_file(folder_ + "/metrics.jsonl", 0);
  Write("metrics.jsonl", RecordOf(0, "3"));
  basket_.AwaitCount(3);
  Restart();
  ingest_->Follow(subject);
  Finish(subject);
  EXPECT_EQ(basket_.Told("loss"), (std::vector<std::string>{"0 1", "1 2", "0 3"}));
  EXPECT_EQ(ear_.unreadable_, 0);
}

TEST_F(IngestTest, WhatIsNewInALongLogIsReadEvenWhenTheRestIsPassedOver) {
  const Followed subject = Subject();
  const std::string line = std::string(1000, 'z') + "\n";
  std::string log;
  while (log.size() < (70u << 20)) log += line;
  Write("log", log);
  basket_.place_.log = static_cast<int64_t>(log.size());
  std::string more = "step 1/99999 loss=1\n";
  while (more.size() < (10u << 20)) more += line;
  Write("log", more);
  ingest_->Follow(subject);
  Finish(subject);
  EXPECT_EQ(basket_.Told("loss"), (std::vector<std::string>{"1 1"}));
}

// ---- How fast it goes, told by a daemon that comes back

// A record of log.idx: the log was `size` long `ago` before now.
std::string IndexRecord(int64_t size, Duration ago) {
  const int64_t record[2] = {size, ToNanos(std::chrono::system_clock::now() - ago)};
  return std::string(reinterpret_cast<const char*>(record), sizeof record);
}

double SecondsPerUnit(const Pace& pace) {
  return std::chrono::duration<double>(pace.took).count() / pace.done;
}

TEST_F(IngestTest, WorkOfBeforeARestartTakesTheTimeItTook) {
  std::string log, index;
  for (int i = 1; i <= 600; ++i) {
    log += "\r" + std::to_string(i) + "/10000 [01:00<10:00, 1.00it/s] loss=0.5" + std::string(1000, ' ');
    index += IndexRecord(static_cast<int64_t>(log.size()), seconds(10) * (600 - i) + minutes(3));
  }
  Write("log.idx", index);
  Write("log", log);  // more than one piece
  ASSERT_GT(log.size(), size_t{512} << 10);
  const Followed subject = Subject();
  ingest_->Follow(subject);
  ear_.Await([&](Ear& ear) { return ear.progress_[subject.attempt].done == 600 && ear.pace_; });
  EXPECT_NEAR(SecondsPerUnit(*ear_.pace_), 10, 0.5);
  EXPECT_GT(ear_.pace_->age, minutes(2));  // nothing came since
}

TEST_F(IngestTest, TheHelpersRecordsBringTheirTimeAlong) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::string records;
  for (int i = 1; i <= 100; ++i) {
    char line[200];
    snprintf(line, sizeof line,
             R"({"attempt":1,"time":%.3f,"progress":{"done":%d,"total":1000,"unit":"step"}})"
             "\n",
             now - 7 * (100 - i), i);
    records += line;
  }
  Write("metrics.jsonl", records);
  const Followed subject = Subject();
  ingest_->Follow(subject);
  ear_.Await([&](Ear& ear) { return ear.progress_[subject.attempt].done == 100 && ear.pace_; });
  EXPECT_NEAR(SecondsPerUnit(*ear_.pace_), 7, 0.1);
}

TEST_F(IngestTest, ALogWithoutAnIndexTellsNoPaceOfWhatIsOld) {
  std::string log;
  for (int i = 1; i <= 600; ++i) log += "epoch " + std::to_string(i) + "/1000 loss=0.5\n";
  Write("log", log);
  const Followed subject = Subject();
  ingest_->Follow(subject);
  ear_.Await([&](Ear& ear) { return ear.progress_[subject.attempt].done == 600; });
  EXPECT_EQ(ear_.pace_, std::nullopt);
}

TEST_F(IngestTest, TheIndexOfAVeryLongTrainingIsReadWhole) {
  std::string log, index;
  for (int i = 1; i <= 100; ++i) {
    log += "epoch " + std::to_string(i) + "/1000 loss=0.5" + std::string(1000, '.') + "\n";
    for (int k = 999; k >= 0; --k) {
      index += IndexRecord(static_cast<int64_t>(log.size()) - k, seconds(1000 * (100 - i) + k));
    }
  }
  Write("log.idx", IndexRecord(1 << 30, hours(100)) + index);  // begun anew once
  Write("log", log);
  const Followed subject = Subject();
  ingest_->Follow(subject);
  ear_.Await([&](Ear& ear) { return ear.progress_[subject.attempt].done == 100 && ear.pace_; });
  EXPECT_NEAR(SecondsPerUnit(*ear_.pace_), 1000, 30);
}

}  // namespace
}  // namespace ty
