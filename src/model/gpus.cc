// The -g grammar: `2`, `1-4`, `{1,2,4}`, `0`.
#include <algorithm>

#include "base/text.h"
#include "model/spec.h"
#include "msg/spec.h"

namespace ty {
namespace {

constexpr int64_t kMost = 4096;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<int> Count(std::string_view text) {
  text = Trimmed(text);
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  std::optional<int64_t> number = ParseInt(text);
  if (!number || *number > kMost) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<std::vector<int>> Choice(std::string_view inside) {
  std::vector<int> counts;
  while (true) {
    size_t comma = inside.find(',');
    std::optional<int> count = Count(inside.substr(0, comma));
    if (!count) return std::nullopt;
    counts.push_back(*count);
    if (comma == std::string_view::npos) break;
    inside.remove_prefix(comma + 1);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::optional<std::vector<int>> Range(std::string_view text, size_t dash) {
  std::optional<int> least = Count(text.substr(0, dash)), most = Count(text.substr(dash + 1));
  if (!least || !most || *least > *most) return std::nullopt;
  std::vector<int> counts;
  for (int count = *least; count <= *most; ++count) counts.push_back(count);
  return counts;
}

std::optional<std::vector<int>> Counts(std::string_view text) {
  text = Trimmed(text);
  if (text.size() >= 2 && text.front() == '{' && text.back() == '}')
    return Choice(text.substr(1, text.size() - 2));
  if (size_t dash = text.find('-'); dash != std::string_view::npos) return Range(text, dash);
  std::optional<int> count = Count(text);
  if (!count) return std::nullopt;
  return std::vector<int>{*count};
}

}  // namespace

Result<DeviceCounts> DeviceCounts::Parse(std::string_view text) {
  std::optional<std::vector<int>> counts = Counts(text);
  // With devices or without is a different task: 0 stands alone.
  if (!counts || (counts->size() > 1 && counts->front() == 0))
    return Invalid(msg::SpecGpus{.text = text.empty() ? "''" : Printable(text), .most = kMost});
  return DeviceCounts{std::move(*counts)};
}

std::string DeviceCounts::Text() const {
  if (counts.empty()) return "1";  // nothing said
  if (counts.size() == 1) return std::to_string(counts.front());
  if (counts.back() - counts.front() == static_cast<int>(counts.size()) - 1)
    return std::to_string(counts.front()) + "-" + std::to_string(counts.back());
  std::string text = "{";
  for (int count : counts) text += (text.size() > 1 ? "," : "") + std::to_string(count);
  return text + "}";
}

}  // namespace ty
