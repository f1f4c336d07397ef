// What the files of an attempt's series are made of (docs/formats/series.md): samples, chunks of 256 of them,
// and the head of each chunk, which says all that a chart needs of it when it lies within one pixel. Private
// to series.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "series/series.h"

namespace ty {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr size_t kAxes = 3;
constexpr size_t kChunk = 256;  // samples
constexpr size_t kChunkBytes = kChunk * 4 * sizeof(double);

struct Sample {
  double step, value, time, elapsed;  // the latter two in milliseconds
  double At(Axis axis) const { return axis == Axis::kStep ? step : axis == Axis::kTime ? time : elapsed; }
};

struct Extent {
  double first, last;        // of the first and the last sample
  double at_least, at_most;  // where the least and the largest finite value are
};

struct Head {
  uint32_t crc;       // CRC-32C of what follows
  uint32_t data_crc;  // of the chunk
  uint32_t series, number;
  uint16_t nan, plus, minus;  // how many values are not finite
  uint16_t order;             // bit per axis: its samples go up
  double sum;                 // of the finite values
  double first, last, least, most;
  double low_step, high_step;
  Extent x[kAxes];

  uint32_t Check() const;
};
static_assert(sizeof(Head) == 176);

// Of at most 256 samples; without identity and checksums. `least` is NaN where no value is finite.
Head Summarise(std::span<const Sample> samples);
// Whether `next` may follow `last` on that axis: steps go up, times do not go down.
bool GoesUp(double last, double next, Axis axis);

// 256 steps, then as many values, times, elapsed times.
std::string EncodeChunk(std::span<const Sample> samples);

// The journal: its first bytes, then batches, each a head with tags and entries behind it.
constexpr char kJournalMark[8] = {'T', 'Y', 'S', 'J', '1', '\n', 0, 0};

struct BatchHead {
  static constexpr uint32_t kMagic = 0x42535954;  // "TYSB"
  uint32_t magic = kMagic;
  uint32_t crc = 0;    // of what follows, the batch's bytes included
  uint32_t bytes = 0;  // behind the head
  uint32_t tags = 0, entries = 0;
  int32_t pauses = 0;
  int64_t records = 0, log = 0;                         // SourcePlace
  int64_t first_time = 0, last_time = 0, set_back = 0;  // of the clock of `elapsed`
  uint32_t chunks = 0;                                  // how many are known to be on the disk
  uint32_t zero = 0;
};
static_assert(sizeof(BatchHead) == 72);

struct TagHead {
  uint32_t series = 0;
  uint32_t said = 0;
  uint64_t before = 0;  // how many of its points are not in this journal, but in chunks
  uint32_t bytes = 0;   // of the tag, which follows, padded to 8
  uint32_t zero = 0;
};
struct Entry {
  uint32_t series = 0, zero = 0;
  Sample sample{};
};
static_assert(sizeof(TagHead) == 24 && sizeof(Entry) == 40);

}  // namespace ty
