// What a kill, a power cut or a full disk leaves behind, and what becomes of it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/paths.h"
#include "series/record.h"
#include "series/series.h"

namespace ty {
namespace {

namespace fs = std::filesystem;

constexpr AttemptKey kKey{TaskId{7}, 1};

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void Spill(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// A writer whose source says how many points it has had: value and step of each point are its number.
class DiskTest : public testing::Test {
 protected:
  DiskTest() {
    char folder[] = "/tmp/ty_series_XXXXXX";
    home_ = mkdtemp(folder);
    files_ = SeriesPaths{StatePaths{home_}.Series(kKey.task), kKey.attempt};
    Reopen();
  }
  ~DiskTest() override {
    store_.reset();
    fs::remove_all(home_);
  }
  // Returns which point the source is to go on with.
  int64_t Reopen() {
    store_.reset();
    store_ = OpenSeriesStore(home_);
    return store_->Begin(kKey, FromNanos(0)).records;
  }
  void Write(int64_t from, int64_t to, int64_t batch, const std::string& tag = "loss") {
    for (int64_t at = from; at < to; at += batch) {
      std::vector<FoundPoint> points;
      for (int64_t i = at; i < std::min(to, at + batch); ++i)
        points.push_back({tag, static_cast<double>(i), 1000 + i, static_cast<double>(i), true});
      store_->Append(kKey, std::move(points), {std::min(to, at + batch), 0, 0});
    }
  }
  // The points are 0, 1, 2, … each once; how many.
  int64_t CountWhole(const std::string& tag = "loss") {
    PointsQuery query;
    query.tag = tag;
    query.pixels = 1'000'000;
    const PointsAnswer answer = store_->Points(kKey.task, query);
    if (answer.parts.empty()) return 0;
    const std::vector<Dot>& dots = answer.parts[0].dots;
    for (size_t i = 0; i < dots.size(); ++i) {
      const auto number = static_cast<double>(i);
      if (dots[i].x != number || dots[i].y != number)
        ADD_FAILURE() << "at " << i << ": " << dots[i].x << " " << dots[i].y;
    }
    EXPECT_EQ(store_->List(kKey.task).items[0].parts[0].points, answer.parts[0].points)
        << "none is there twice";
    return answer.parts[0].points;
  }
  // The source goes on from where the store says; afterwards all is there once.
  void GoOnTo(int64_t total) {
    Write(Reopen(), total, 7);
    EXPECT_EQ(CountWhole(), total);
    Reopen();
    EXPECT_EQ(CountWhole(), total);
  }

  std::string home_;
  SeriesPaths files_;
  std::unique_ptr<SeriesStore> store_;
};

TEST_F(DiskTest, AJournalTornAtAnyByteKeepsItsWholeBatches) {
  Write(0, 40, 10);
  const std::string whole = Slurp(files_.Journal());
  Write(40, 50, 10);
  const std::string more = Slurp(files_.Journal());
  for (size_t cut = whole.size(); cut < more.size(); ++cut) {
    store_.reset();
    Spill(files_.Journal(), more.substr(0, cut));
    EXPECT_EQ(Reopen(), 40);
    EXPECT_EQ(CountWhole(), 40);
    GoOnTo(60);
  }
}

TEST_F(DiskTest, AJournalWithABadByteAnywhereInItsLastBatchKeepsTheOthers) {
  Write(0, 40, 10);
  const size_t good = fs::file_size(files_.Journal());
  Write(40, 50, 10);
  const std::string more = Slurp(files_.Journal());
  for (size_t at = good; at < more.size(); ++at) {
    store_.reset();
    std::string bad = more;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    Spill(files_.Journal(), bad);
    EXPECT_EQ(Reopen(), 40);
    GoOnTo(60);
  }
}

TEST_F(DiskTest, ABatchBehindATornOneIsNotTakenForItsSuccessor) {
  Write(0, 30, 10);
  const size_t second =
      fs::file_size(files_.Journal()) - (fs::file_size(files_.Journal()) - sizeof kJournalMark) / 3;
  std::string bytes = Slurp(files_.Journal());
  bytes[second - 20] = static_cast<char>(bytes[second - 20] ^ 1);
  store_.reset();
  Spill(files_.Journal(), bytes);
  GoOnTo(30);
}

TEST_F(DiskTest, AJournalTornAtItsVeryStartIsBegunAnew) {
  Write(0, 10, 10);
  const std::string bytes = Slurp(files_.Journal());
  for (size_t cut = 0; cut < sizeof kJournalMark + 30; ++cut) {
    store_.reset();
    Spill(files_.Journal(), bytes.substr(0, cut));
    EXPECT_EQ(Reopen(), 0);
    GoOnTo(20);
  }
  store_.reset();
  Spill(files_.Journal(), "this was something else entirely");
  GoOnTo(20);
}

// What the kill of a process can leave: all of the journal, and the others up to some byte.
TEST_F(DiskTest, HeadsAndChunksTornAtAnyPlaceAreMadeAnewFromTheJournal) {
  Write(0, 3 * kChunk + 50, 100);
  const std::string heads = Slurp(files_.Heads()), chunks = Slurp(files_.Chunks());
  ASSERT_EQ(heads.size(), 3 * sizeof(Head));
  ASSERT_EQ(chunks.size(), 3 * kChunkBytes);
  const std::string journal = Slurp(files_.Journal());
  for (size_t cut = heads.size() - 2 * sizeof(Head); cut <= heads.size(); ++cut) {
    store_.reset();
    Spill(files_.Journal(), journal);
    Spill(files_.Chunks(), chunks);
    Spill(files_.Heads(), heads.substr(0, cut));
    Reopen();
    EXPECT_EQ(CountWhole(), 3 * kChunk + 50);
    if (cut % 50 == 0) GoOnTo(4 * kChunk + 9);
  }
  for (size_t cut = kChunkBytes; cut < chunks.size(); cut += 997) {
    store_.reset();
    Spill(files_.Journal(), journal);
    Spill(files_.Heads(), heads);
    std::string torn = chunks.substr(0, cut);
    if (cut % 2 == 0) torn.resize(chunks.size());  // zeros, as a power cut leaves them
    Spill(files_.Chunks(), torn);
    Reopen();
    EXPECT_EQ(CountWhole(), 3 * kChunk + 50);
    GoOnTo(4 * kChunk + 9);
  }
}

// A power cut may take the journal's end back and leave chunks that were made from it.
TEST_F(DiskTest, ChunksThatTheJournalDoesNotKnowOfAreGone) {
  Write(0, 200, 10);
  const std::string early = Slurp(files_.Journal());
  Write(200, 5 * kChunk, 10);
  store_.reset();
  Spill(files_.Journal(), early);
  EXPECT_EQ(Reopen(), 200);
  EXPECT_EQ(CountWhole(), 200);
  GoOnTo(6 * kChunk + 3);
}

TEST_F(DiskTest, TheJournalIsWrittenAnewBeforeItGrowsLarge) {
  Write(0, 400'000, 3000);
  EXPECT_LT(fs::file_size(files_.Journal()), 5u << 20);
  EXPECT_EQ(fs::file_size(files_.Chunks()), 400'000 / kChunk * kChunkBytes);
  EXPECT_FALSE(fs::exists(files_.Journal() + ".new"));
  EXPECT_EQ(CountWhole(), 400'000);
  EXPECT_EQ(Reopen(), 400'000);
  EXPECT_EQ(CountWhole(), 400'000);
  Spill(files_.Journal() + ".new", "half a jour");  // killed while it was made
  GoOnTo(500'000);
}

TEST_F(DiskTest, ChunksLostToADamagedDiskDoNotMakeTheRestWrong) {
  Write(0, 200'000, 3000);
  const std::string heads = Slurp(files_.Heads());
  store_.reset();
  Spill(files_.Heads(), heads.substr(0, 10 * sizeof(Head)));
  const int64_t next = Reopen();
  EXPECT_EQ(next, 200'000);
  const int64_t left = store_->List(kKey.task).items[0].parts[0].points;
  EXPECT_LT(left, 200'000);
  Write(next, next + 1000, 100);
  Reopen();
  EXPECT_EQ(store_->List(kKey.task).items[0].parts[0].points, left + 1000) << "none is there twice";
}

// A limit on the size of files is a full disk to whoever writes.
class FullDisk {
 public:
  explicit FullDisk(rlim_t room) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full{room, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(DiskTest, AFullDiskHoldsPointsBackUntilThereIsRoom) {
  Write(0, 100, 10);
  {
    const FullDisk full(fs::file_size(files_.Journal()) + 30);
    Write(100, 200, 10);
    EXPECT_EQ(CountWhole(), 100);
    EXPECT_EQ(fs::file_size(files_.Journal()) % 8, 0u) << "no half batch stays";
  }
  Write(200, 280, 10);
  EXPECT_EQ(CountWhole(), 280);
  GoOnTo(300);
}

TEST_F(DiskTest, WhatWasHeldBackIsWrittenAtTheEnd) {
  Write(0, 100, 10);
  {
    const FullDisk full(fs::file_size(files_.Journal()));
    Write(100, 110, 10);
  }
  store_->End(kKey);
  EXPECT_EQ(CountWhole(), 110);
}

TEST_F(DiskTest, ADaemonThatEndsOnAFullDiskReadsAgainWhatItHeldBack) {
  Write(0, 100, 10);
  {
    const FullDisk full(fs::file_size(files_.Journal()));
    Write(100, 200, 10);
    EXPECT_EQ(Reopen(), 100);
  }
  GoOnTo(300);
}

TEST_F(DiskTest, ADiskThatStaysFullCostsPointsButNoMemory) {
  Write(0, 100, 10);
  {
    const FullDisk full(fs::file_size(files_.Journal()));
    Write(100, 300'000, 1000);
  }
  store_->End(kKey);
  const int64_t kept = store_->List(kKey.task).items[0].parts[0].points;
  EXPECT_EQ(kept, 100 + 65'536);
}

TEST_F(DiskTest, AChunkThatCannotBeWrittenWaitsInTheJournal) {
  fs::create_directories(files_.Chunks());
  Write(0, 900, 10);
  EXPECT_EQ(CountWhole(), 900);
  Reopen();
  EXPECT_EQ(CountWhole(), 900);
  fs::remove(files_.Chunks());
  GoOnTo(1000);
  EXPECT_EQ(fs::file_size(files_.Chunks()), 3 * kChunkBytes);
}

TEST_F(DiskTest, ATaskThatWasRemovedTakesNoMorePoints) {
  Write(0, 10, 10);
  fs::remove_all(files_.folder);
  Write(10, 20, 10);
  EXPECT_FALSE(fs::exists(files_.folder));
}

}  // namespace
}  // namespace ty
