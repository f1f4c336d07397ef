// The --share grammar: `0.5`, `0.5:together`, `0.5:turns`, `0.5:turns:3s`, `1`.
#include "model/lease.h"

#include "base/text.h"
#include "model/length.h"
#include "msg/spec.h"

namespace ty {
namespace {

constexpr const char* kField = "/resources/share";
constexpr Duration kLeastSlice = seconds(1), kMostSlice = hours(1);

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// "0.5" is 500, "1" is 1000: decimal text, so that nothing is rounded.
std::optional<int> Thousandths(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view part = point == std::string_view::npos ? "" : text.substr(point + 1);
  if (whole.size() > 1 || part.size() > 3 || (point != std::string_view::npos && part.empty()))
    return std::nullopt;
  if (whole.empty() && part.empty()) return std::nullopt;
  int milli = 0;
  for (char c : std::string(whole.empty() ? "0" : whole) + std::string(part)) {
    if (!IsDigit(c)) return std::nullopt;
    milli = milli * 10 + (c - '0');
  }
  for (size_t digits = part.size(); digits < 3; ++digits) milli *= 10;
  if (milli < 1 || milli > kWholeDevice) return std::nullopt;
  return milli;
}

std::string Fraction(int milli) {
  if (milli == kWholeDevice) return "1";
  std::string text = "0." + std::to_string(1000 + milli).substr(1);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

// What stands before the next colon, which goes too.
std::string_view TakePiece(std::string_view& rest) {
  const size_t colon = rest.find(':');
  const std::string_view piece = rest.substr(0, colon);
  rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  return piece;
}

}  // namespace

std::string_view Name(ShareMode mode) {
  switch (mode) {
    case ShareMode::kWhole:
      return "whole";
    case ShareMode::kTogether:
      return "together";
    case ShareMode::kTurns:
      return "turns";
  }
  return "";
}

std::optional<ShareMode> ParseShareMode(std::string_view name) {
  for (ShareMode mode : {ShareMode::kWhole, ShareMode::kTogether, ShareMode::kTurns})
    if (Name(mode) == name) return mode;
  return std::nullopt;
}

Result<Share> Share::Parse(std::string_view text) {
  const auto refused = [text] { return Invalid(msg::SpecShare{.text = Printable(text)}, kField); };
  if (text.ends_with(':')) return refused();
  std::string_view rest = text;
  const std::optional<int> part = Thousandths(TakePiece(rest));
  if (!part) return refused();
  Share share;
  share.milli = *part;
  if (share.milli < kWholeDevice) share.mode = ShareMode::kTogether;
  if (rest.empty()) return share;

  const std::optional<ShareMode> mode = ParseShareMode(TakePiece(rest));
  if (!mode || *mode == ShareMode::kWhole) return refused();
  if (share.milli == kWholeDevice)
    return Invalid(msg::SpecShareWhole{.text = Printable(text), .mode = std::string(Name(*mode))}, kField);
  share.mode = *mode;
  if (rest.empty()) return share;

  // The rest is a length, which may be a clock with colons of its own.
  const std::optional<Duration> slice = ParseDuration(rest);
  const bool fits = slice && *slice >= kLeastSlice && *slice <= kMostSlice;
  if (*mode == ShareMode::kTogether) {
    if (!slice) return refused();
    return Invalid(msg::SpecShareNoSlice{.text = Printable(text),
                                         .share = Fraction(share.milli),
                                         .slice = fits ? std::string(rest) : "30s"},
                   kField);
  }
  if (!fits)
    return Invalid(msg::SpecShareSlice{.text = Printable(rest), .share = Fraction(share.milli)}, kField);
  share.slice = *slice;
  return share;
}

std::string Share::Text() const {
  if (mode == ShareMode::kWhole) return {};
  std::string text = Fraction(milli);
  if (mode == ShareMode::kTurns) text += ":turns";
  if (mode == ShareMode::kTurns && slice != Share().slice) text += ":" + LengthText(slice);
  return text;
}

}  // namespace ty
