// What was removed from the middle of a log. Beside `log` lies `log.gaps`: records of 16 bytes, u64 from and
// u64 to, little-endian; the highest bit of `to` says why. A record is there before its bytes go; later ones
// may cover earlier ones. docs/formats/attempt.md describes it for others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ty {

struct LogGap {
  enum class Why : uint8_t { kDiskFull, kLimit };
  int64_t from = 0, to = 0;  // bytes of the log
  Why why = Why::kDiskFull;
  int64_t size() const { return to - from; }
  bool operator==(const LogGap&) const = default;
};
using LogGaps = std::vector<LogGap>;  // in order, apart from each other

std::string EncodeGap(const LogGap& gap);  // 16 bytes
// Merged; the newest says why. What is no record, or half of one, is passed over.
LogGaps DecodeGaps(std::string_view records);

// As a header says it: "8388608-1402000000:disk, …", or "…:limit".
std::string GapsText(const LogGaps& gaps);
LogGaps ParseGaps(std::string_view text);

// The gap that holds this byte, or the next one behind it; nullptr: none.
const LogGap* GapFrom(const LogGaps& gaps, int64_t offset);

inline constexpr size_t kGapRecord = 16;
inline constexpr size_t kMostGapBytes = 1 << 20;  // of a log.gaps file, to be read from its end

}  // namespace ty
