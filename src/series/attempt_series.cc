// The order of writes is what makes it safe: a point is in the journal before it is in a chunk, a chunk is
// there before its head, and a journal goes only when a new one and all chunks are on the disk. So the whole
// batches of the journal say which points there are, and heads that know of more are from a time that a power
// cut took back.
#include "series/attempt_series.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/log.h"
#include "posix/files.h"
#include "wire/crc32c.h"

namespace ty {

namespace {

constexpr size_t kLargestFile = size_t{4} << 30;
constexpr int64_t kJournalRoom = 4 << 20;  // a journal is let grow by as much before it is written anew
constexpr size_t kMostSeries = 10'000;
constexpr size_t kMostHeld = 65'536;
constexpr int kPatience = 8;          // so many times points come before a disk that refused is tried again
constexpr size_t kWritten = 1 << 20;  // at a time
// Points of several processes come a little out of order; only more than that is a clock that was set back.
constexpr int64_t kClockSlack = 2000;

template <class T>
void Put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
bool TakeOff(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return true;
}

size_t Padded(size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

SysResult<UniqueFd> OpenToWrite(const std::string& path) {
  return OpenAt(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
}

bool SyncFile(const std::string& path) {
  SysResult<UniqueFd> file = OpenAt(AT_FDCWD, path.c_str(), O_RDONLY);
  if (!file) return file.error() == ENOENT;
  return ::fdatasync(file->get()) == 0;
}

}  // namespace

void Series::See(const Sample& sample) {
  for (size_t axis = 0; last && axis < kAxes; ++axis) {
    const Axis which = static_cast<Axis>(axis);
    if (!GoesUp(last->At(which), sample.At(which), which)) ordered[axis] = false;
  }
  last = sample;
}

// ---- What is there

AttemptSeries::AttemptSeries(SeriesPaths paths) : paths_(std::move(paths)) {
  LoadJournal();
  LoadHeads();
  for (size_t i = 0; i < series_.size(); ++i) {
    Series& series = series_[i];
    const uint64_t sealed = series.heads.size() * kChunk;
    if (sealed < before_[i])
      must_compact_ = true;  // chunks are lost: the numbers of the journal hold no more
    const uint64_t in_chunks = sealed < before_[i] ? 0 : std::min(sealed - before_[i], series.tail.size());
    series.tail.erase(series.tail.begin(), series.tail.begin() + static_cast<int64_t>(in_chunks));
    for (const Sample& sample : series.tail) series.See(sample);
    points_ += series.points();
  }
  before_ = {};
  next_compact_ = journal_size_ + kJournalRoom;
}

void AttemptSeries::LoadJournal() {
  const std::string path = paths_.Journal();
  const SysResult<std::string> bytes = ReadFile(path, kLargestFile);
  if (!bytes) return;
  std::string_view rest = *bytes;
  if (rest.substr(0, sizeof kJournalMark) != std::string_view(kJournalMark, sizeof kJournalMark)) {
    if (rest.size() >= sizeof kJournalMark) Log("series: " + path + " is no journal and is begun anew");
    return;
  }
  rest.remove_prefix(sizeof kJournalMark);
  while (TakeBatch(rest)) {
  }
  journal_size_ = static_cast<int64_t>(bytes->size() - rest.size());
  if (!rest.empty()) Log("series: " + path + ": " + std::to_string(rest.size()) + " torn bytes at its end");
}

// Takes one whole batch off, or leaves all as it is.
bool AttemptSeries::TakeBatch(std::string_view& rest) {
  BatchHead head;
  std::string_view body = rest;
  if (!TakeOff(body, head) || head.magic != BatchHead::kMagic || head.bytes > body.size()) return false;
  const size_t whole = sizeof head + head.bytes;
  constexpr size_t kUnchecked = 2 * sizeof(uint32_t);
  if (Crc32c(rest.substr(kUnchecked, whole - kUnchecked)) != head.crc) return false;
  body = body.substr(0, head.bytes);
  for (uint32_t i = 0; i < head.tags; ++i) {
    TagHead tag;
    if (!TakeOff(body, tag) || tag.series != series_.size() || Padded(tag.bytes) > body.size()) return false;
    AddSeries(std::string(body.substr(0, tag.bytes)), tag.said != 0);
    before_.push_back(tag.before);
    body.remove_prefix(Padded(tag.bytes));
  }
  for (uint32_t i = 0; i < head.entries; ++i) {
    Entry entry;
    if (!TakeOff(body, entry) || entry.series >= series_.size()) return false;
    series_[entry.series].tail.push_back(entry.sample);
  }
  place_ = {head.records, head.log, head.pauses};
  clock_ = {head.first_time, head.last_time, head.set_back};
  if (head.chunks != 0) synced_chunks_ = head.chunks;
  rest.remove_prefix(whole);
  return true;
}

Series& AttemptSeries::AddSeries(std::string tag, bool said) {
  index_.emplace(std::pair(tag, said), static_cast<uint32_t>(series_.size()));
  any_said_ |= said;
  Series& series = series_.emplace_back();
  series.tag = std::move(tag);
  series.said = said;
  return series;
}

// Heads count as long as the journal knows of their points. Chunks that were not synced are looked through.
void AttemptSeries::LoadHeads() {
  const SysResult<std::string> bytes = ReadFile(paths_.Heads(), kLargestFile);
  if (!bytes) return;
  SysResult<UniqueFd> chunks = OpenAt(AT_FDCWD, paths_.Chunks().c_str(), O_RDONLY | O_NOFOLLOW);
  if (!chunks) return;
  std::string chunk(kChunkBytes, '\0');
  std::string_view rest = *bytes;
  for (Head head; TakeOff(rest, head);) {
    if (head.Check() != head.crc || head.series >= series_.size()) break;
    Series& series = series_[head.series];
    if (head.number != series.heads.size()) break;
    if ((head.number + uint64_t{1}) * kChunk > before_[head.series] + series.tail.size()) break;
    if (chunks_ >= synced_chunks_) {
      const ssize_t n =
          ::pread(chunks->get(), chunk.data(), kChunkBytes, int64_t{chunks_} * int64_t{kChunkBytes});
      if (n != static_cast<ssize_t>(kChunkBytes) || Crc32c(chunk) != head.data_crc) break;
    }
    const Extent* x = head.x;
    series.See({x[0].first, head.first, x[1].first, x[2].first});
    for (size_t axis = 0; axis < kAxes; ++axis) series.ordered[axis] &= (head.order >> axis & 1) != 0;
    series.last = Sample{x[0].last, head.last, x[1].last, x[2].last};
    series.heads.push_back(head);
    series.places.push_back(chunks_++);
  }
}

// ---- What comes

void AttemptSeries::Start(int64_t time_ms) {
  if (clock_.first) return;
  clock_.first = clock_.last = time_ms;
}

double AttemptSeries::Clock::Elapsed(int64_t time) {
  if (!first) first = last = time;
  if (time < last - kClockSlack) {
    set_back += last - time;
    last = time;
  }
  last = std::max(last, time);
  return static_cast<double>(std::max<int64_t>(0, time + set_back - *first));
}

void AttemptSeries::Append(std::vector<FoundPoint> points, SourcePlace upto) {
  if (held_.empty()) {
    held_ = std::move(points);
  } else {
    held_.insert(held_.end(), std::make_move_iterator(points.begin()), std::make_move_iterator(points.end()));
  }
  held_place_ = upto;
  if (in_trouble_ && ++passed_over_ % kPatience != 0) return DropWhatIsTooMuch();
  Flush();
}

void AttemptSeries::Flush() {
  if (held_.empty()) return;
  if (must_compact_) Compact();
  const Batch batch = MakeBatch();
  if (must_compact_ || !WriteBatch(batch)) return HoldBack(errno);
  if (in_trouble_) {
    Log("series: " + paths_.Journal() + " can be written again; " + std::to_string(dropped_) +
        " points were dropped");
    in_trouble_ = false;
    dropped_ = passed_over_ = 0;
  }
  held_.clear();
  held_.shrink_to_fit();
  place_ = held_place_;
  Take(batch);
  Seal();
  if (journal_size_ >= next_compact_) Compact();
}

AttemptSeries::Batch AttemptSeries::MakeBatch() {
  Batch batch;
  batch.clock = clock_;
  batch.entries.reserve(held_.size());
  std::map<std::pair<std::string, bool>, uint32_t> added;
  std::pair<std::string, bool> key;
  uint32_t series = 0;
  for (const FoundPoint& point : held_) {
    if (key.first != point.tag || key.second != point.said) {
      key.first = point.tag;
      key.second = point.said;
      if (auto known = index_.find(key); known != index_.end()) {
        series = known->second;
      } else if (auto fresh = added.find(key); fresh != added.end()) {
        series = fresh->second;
      } else if (series_.size() + added.size() < kMostSeries) {
        series = static_cast<uint32_t>(series_.size() + added.size());
        added.emplace(key, series);
        batch.tags.push_back(key);
      } else {
        key.first.clear();
        if (!std::exchange(too_many_told_, true))
          Log("series: " + paths_.Journal() + " has " + std::to_string(kMostSeries) +
              " metrics: points of others are dropped");
        continue;
      }
    }
    const double elapsed = batch.clock.Elapsed(point.time);
    batch.entries.push_back({series, 0, {point.step, point.value, static_cast<double>(point.time), elapsed}});
  }
  return batch;
}

std::string AttemptSeries::Encode(const Batch& batch, const std::vector<uint64_t>& before,
                                  uint32_t chunks) const {
  BatchHead head;
  head.tags = static_cast<uint32_t>(batch.tags.size());
  head.entries = static_cast<uint32_t>(batch.entries.size());
  head.records = held_place_.records;
  head.log = held_place_.log;
  head.pauses = held_place_.pauses;
  head.first_time = batch.clock.first.value_or(0);
  head.last_time = batch.clock.last;
  head.set_back = batch.clock.set_back;
  head.chunks = chunks;
  std::string bytes(sizeof head, '\0');
  bytes.reserve(sizeof head + batch.entries.size() * sizeof(Entry) + batch.tags.size() * 64);
  uint32_t id = before.empty() ? static_cast<uint32_t>(series_.size()) : 0;
  for (const auto& [tag, said] : batch.tags) {
    Put(bytes,
        TagHead{id, said ? 1U : 0U, before.empty() ? 0 : before[id], static_cast<uint32_t>(tag.size()), 0});
    bytes += tag;
    bytes.resize(bytes.size() + Padded(tag.size()) - tag.size());
    ++id;
  }
  bytes.append(reinterpret_cast<const char*>(batch.entries.data()), batch.entries.size() * sizeof(Entry));
  head.bytes = static_cast<uint32_t>(bytes.size() - sizeof head);
  std::memcpy(bytes.data(), &head, sizeof head);
  constexpr size_t kUnchecked = 2 * sizeof(uint32_t);
  head.crc = Crc32c(std::string_view(bytes).substr(kUnchecked));
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

// False with errno; the journal is then as it was, as far as it counts.
bool AttemptSeries::WriteBatch(const Batch& batch) {
  if (batch.entries.empty()) return true;
  std::string bytes = Encode(batch, {}, 0);
  SysResult<UniqueFd> file = OpenToWrite(paths_.Journal());
  if (!file && file.error() == ENOENT && journal_size_ == 0) {
    if (SysStatus made = MakeFolders(paths_.folder); !made) return errno = made.error(), false;
    file = OpenToWrite(paths_.Journal());
  }
  if (!file) return errno = file.error(), false;
  if (!journal_cut_ && ::ftruncate(file->get(), journal_size_) != 0) return false;
  journal_cut_ = true;
  if (journal_size_ == 0) bytes.insert(0, kJournalMark, sizeof kJournalMark);
  if (SysStatus written = WriteAllAt(file->get(), bytes, journal_size_); !written) {
    if (::ftruncate(file->get(), journal_size_) != 0) journal_cut_ = false;
    return errno = written.error(), false;
  }
  journal_size_ += static_cast<int64_t>(bytes.size());
  return true;
}

void AttemptSeries::HoldBack(int error) {
  if (!std::exchange(in_trouble_, true))
    Log("series: " + paths_.Journal() + " cannot be written: " + std::strerror(error));
  DropWhatIsTooMuch();
}

void AttemptSeries::DropWhatIsTooMuch() {
  if (held_.size() <= kMostHeld) return;
  dropped_ += static_cast<int64_t>(held_.size() - kMostHeld);
  held_.resize(kMostHeld);
}

void AttemptSeries::Take(const Batch& batch) {
  for (const auto& [tag, said] : batch.tags) AddSeries(tag, said);
  for (const Entry& entry : batch.entries) {
    Series& series = series_[entry.series];
    series.tail.push_back(entry.sample);
    series.See(entry.sample);
  }
  points_ += static_cast<int64_t>(batch.entries.size());
  clock_ = batch.clock;
}

// ---- Chunks

// Full chunks go to their file. One that cannot be written now stays where it is, in the tail and the
// journal.
void AttemptSeries::Seal() {
  std::string chunks, heads;
  struct Full {
    Series* series;
    Head head;
  };
  std::vector<Full> full;
  auto flush = [&] {
    if (full.empty()) return true;
    if (!WriteChunks(chunks, heads)) return false;
    for (Full& one : full) {
      one.series->heads.push_back(one.head);
      one.series->places.push_back(chunks_++);
    }
    chunks.clear();
    heads.clear();
    full.clear();
    return true;
  };
  for (uint32_t id = 0; id < series_.size(); ++id) {
    Series& series = series_[id];
    if (series.tail.size() < kChunk) continue;
    const size_t sealed = series.heads.size();
    bool going_on = true;
    for (size_t n = 0; going_on && (n + 1) * kChunk <= series.tail.size(); ++n) {
      const std::span<const Sample> samples(series.tail.data() + n * kChunk, kChunk);
      const std::string chunk = EncodeChunk(samples);
      Head head = Summarise(samples);
      head.series = id;
      head.number = static_cast<uint32_t>(sealed + n);
      head.data_crc = Crc32c(chunk);
      head.crc = head.Check();
      chunks += chunk;
      Put(heads, head);
      full.push_back({&series, head});
      if (chunks.size() >= kWritten) going_on = flush();
    }
    going_on = going_on && flush();
    const auto gone = static_cast<int64_t>((series.heads.size() - sealed) * kChunk);
    series.tail.erase(series.tail.begin(), series.tail.begin() + gone);
    if (series.tail.capacity() > 4 * kChunk) series.tail.shrink_to_fit();
    if (!going_on) return;
  }
}

bool AttemptSeries::WriteChunks(const std::string& chunks, const std::string& heads) {
  const SysResult<UniqueFd> chunk_file = OpenToWrite(paths_.Chunks()),
                            head_file = OpenToWrite(paths_.Heads());
  if (!chunk_file || !head_file) return false;
  const int64_t heads_size = int64_t{chunks_} * int64_t{sizeof(Head)};
  if (!heads_cut_ && ::ftruncate(head_file->get(), heads_size) != 0) return false;
  heads_cut_ = WriteAllAt(chunk_file->get(), chunks, int64_t{chunks_} * int64_t{kChunkBytes}).has_value() &&
               WriteAllAt(head_file->get(), heads, heads_size).has_value();
  return heads_cut_;  // else what was written goes before the next ones
}

// The journal anew, with what is in no chunk. The old one counts until the new one and all chunks are safe.
void AttemptSeries::Compact() {
  Batch batch;
  batch.clock = clock_;
  std::vector<uint64_t> before;
  for (uint32_t id = 0; id < series_.size(); ++id) {
    const Series& series = series_[id];
    batch.tags.emplace_back(series.tag, series.said);
    before.push_back(series.heads.size() * kChunk);
    for (const Sample& sample : series.tail) batch.entries.push_back({id, 0, sample});
  }
  const SourcePlace coming = std::exchange(held_place_, place_);
  const std::string bytes = std::string(kJournalMark, sizeof kJournalMark) + Encode(batch, before, chunks_);
  held_place_ = coming;
  const std::string path = paths_.Journal(), fresh = path + ".new";
  const bool done = WriteFileAt(AT_FDCWD, fresh.c_str(), bytes).has_value() && SyncFile(fresh) &&
                    SyncFile(paths_.Chunks()) && SyncFile(paths_.Heads()) &&
                    ::rename(fresh.c_str(), path.c_str()) == 0;
  if (done) {
    journal_size_ = static_cast<int64_t>(bytes.size());
    journal_cut_ = true;
    must_compact_ = false;
    synced_chunks_ = chunks_;
    if (SysResult<UniqueFd> folder = OpenFolder(paths_.folder)) ::fsync(folder->get());
  } else {
    const int error = errno;
    ::unlink(fresh.c_str());
    errno = error;
  }
  // As much again as it costs to write it anew: a point is written twice on average, however many series
  // there are.
  next_compact_ = journal_size_ + std::max<int64_t>(kJournalRoom, static_cast<int64_t>(bytes.size()));
}

size_t AttemptSeries::memory() const {
  size_t bytes = sizeof *this;
  for (const Series& series : series_) {
    bytes += sizeof series + 2 * series.tag.capacity() + 64 + series.heads.capacity() * (sizeof(Head) + 4) +
             series.tail.capacity() * sizeof(Sample);
  }
  return bytes;
}

void SyncSeries(const SeriesPaths& paths) {
  if (!SyncFile(paths.Chunks()) || !SyncFile(paths.Heads()) || !SyncFile(paths.Journal()))
    Log("series: " + paths.Journal() + " could not be synced: " + std::strerror(errno));
}

}  // namespace ty
