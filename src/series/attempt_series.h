// AttemptSeries is all series of one attempt: chunks and their heads, whose newest part is a journal until a
// chunk is full. What is in memory is what is on disk. Private to series; used under the store's lock.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/paths.h"
#include "posix/fd.h"
#include "series/record.h"

namespace ty {

struct Series {
  std::string tag;
  bool said = false;             // by the helper
  std::vector<Head> heads;       // of its chunks
  std::vector<uint32_t> places;  // of those in the file of chunks
  std::vector<Sample> tail;      // not in a chunk yet
  bool ordered[kAxes] = {true, true, true};
  std::optional<Sample> last;

  int64_t points() const { return static_cast<int64_t>(heads.size() * kChunk + tail.size()); }
  void See(const Sample& sample);  // keeps `ordered` and `last`
};

class AttemptSeries {
 public:
  // Loads what is there. Whatever stands behind the last whole batch is not taken, and gone with the next
  // write.
  explicit AttemptSeries(SeriesPaths paths);

  // Where `elapsed` counts from, unless points have told it before.
  void Start(int64_t time_ms);
  void Append(std::vector<FoundPoint> points, SourcePlace upto);

  void Flush();  // once more what the disk refused

  SourcePlace place() const { return place_; }
  const SeriesPaths& paths() const { return paths_; }
  int64_t points() const { return points_; }
  const std::vector<Series>& series() const { return series_; }
  // What is shown: what the helper said hides what was guessed from the log.
  bool Shows(const Series& series) const { return series.said || !any_said_; }
  size_t memory() const;

 private:
  struct Clock {  // of `elapsed`
    std::optional<int64_t> first;
    int64_t last = 0, set_back = 0;
    double Elapsed(int64_t time);
  };
  struct Batch {
    std::vector<std::pair<std::string, bool>> tags;
    std::vector<Entry> entries;
    Clock clock;
  };

  void LoadJournal();
  bool TakeBatch(std::string_view& rest);
  void LoadHeads();
  Series& AddSeries(std::string tag, bool said);

  Batch MakeBatch();
  bool WriteBatch(const Batch& batch);
  void Take(const Batch& batch);
  void Seal();
  bool WriteChunks(const std::string& chunks, const std::string& heads);
  void Compact();
  void HoldBack(int error);
  void DropWhatIsTooMuch();
  std::string Encode(const Batch& batch, const std::vector<uint64_t>& before, uint32_t chunks) const;

  SeriesPaths paths_;
  std::vector<Series> series_;
  std::map<std::pair<std::string, bool>, uint32_t> index_;
  std::vector<uint64_t> before_;  // while loading
  bool any_said_ = false;
  int64_t points_ = 0;
  Clock clock_;
  SourcePlace place_;

  int64_t journal_size_ = 0;  // what of it counts
  bool journal_cut_ = false;  // it has been made to end there
  uint32_t chunks_ = 0, synced_chunks_ = 0;
  bool heads_cut_ = false;
  bool must_compact_ = false;
  int64_t next_compact_ = 0;

  std::vector<FoundPoint> held_;  // to be written
  SourcePlace held_place_;
  int64_t dropped_ = 0;
  int passed_over_ = 0;
  bool in_trouble_ = false, too_many_told_ = false;
};

// Puts on the disk what was written.
void SyncSeries(const SeriesPaths& paths);

}  // namespace ty
