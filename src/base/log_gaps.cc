#include "base/log_gaps.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace ty {

namespace {

constexpr uint64_t kLimitBit = uint64_t{1} << 63;

// Puts `gap` among the others, which it may cover or touch.
void Merge(LogGaps& gaps, LogGap gap) {
  if (gap.from < 0 || gap.to <= gap.from) return;
  auto first =
      std::find_if(gaps.begin(), gaps.end(), [&](const LogGap& other) { return other.to >= gap.from; });
  auto last = first;
  for (; last != gaps.end() && last->from <= gap.to; ++last) {
    gap.from = std::min(gap.from, last->from);
    gap.to = std::max(gap.to, last->to);
  }
  gaps.insert(gaps.erase(first, last), gap);
}

}  // namespace

std::string EncodeGap(const LogGap& gap) {
  const uint64_t words[2] = {
      static_cast<uint64_t>(gap.from),
      static_cast<uint64_t>(gap.to) | (gap.why == LogGap::Why::kLimit ? kLimitBit : 0)};
  return {reinterpret_cast<const char*>(words), sizeof words};
}

LogGaps DecodeGaps(std::string_view records) {
  LogGaps gaps;
  for (; records.size() >= kGapRecord; records.remove_prefix(kGapRecord)) {
    uint64_t words[2];
    std::memcpy(words, records.data(), sizeof words);
    Merge(gaps, {static_cast<int64_t>(words[0]), static_cast<int64_t>(words[1] & ~kLimitBit),
                 (words[1] & kLimitBit) != 0 ? LogGap::Why::kLimit : LogGap::Why::kDiskFull});
  }
  return gaps;
}

std::string GapsText(const LogGaps& gaps) {
  std::string text;
  for (const LogGap& gap : gaps) {
    if (!text.empty()) text += ", ";
    text += std::to_string(gap.from) + "-" + std::to_string(gap.to) +
            (gap.why == LogGap::Why::kLimit ? ":limit" : ":disk");
  }
  return text;
}

LogGaps ParseGaps(std::string_view text) {
  LogGaps gaps;
  while (!text.empty()) {
    std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    const size_t dash = one.find('-'), colon = one.find(':');
    if (dash == std::string_view::npos || colon == std::string_view::npos || colon < dash) continue;
    const auto from = ParseInt(one.substr(0, dash)), to = ParseInt(one.substr(dash + 1, colon - dash - 1));
    if (!from || !to) continue;
    Merge(gaps,
          {*from, *to, one.substr(colon + 1) == "limit" ? LogGap::Why::kLimit : LogGap::Why::kDiskFull});
  }
  return gaps;
}

const LogGap* GapFrom(const LogGaps& gaps, int64_t offset) {
  for (const LogGap& gap : gaps) {
    if (gap.to > offset) return &gap;
  }
  return nullptr;
}

}  // namespace ty
