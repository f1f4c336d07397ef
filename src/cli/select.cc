#include "cli/select.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "msg/cli.h"

namespace ty {
namespace {

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The two numbers of "3-9" or "12.2".
std::optional<std::pair<int64_t, int64_t>> Split(std::string_view word, char mark) {
  size_t at = word.find(mark);
  if (at == std::string_view::npos || !AllDigits(word.substr(0, at)) || !AllDigits(word.substr(at + 1)))
    return std::nullopt;
  auto first = ParseInt(word.substr(0, at)), second = ParseInt(word.substr(at + 1));
  if (!first || !second) return std::nullopt;
  return std::pair{*first, *second};
}

}  // namespace

AttemptChoice ChooseAttempt(std::string_view word) {
  if (auto pair = Split(word, '.'); pair && pair->second > 0 && pair->second < 1000000)
    return {std::to_string(pair->first), static_cast<int>(pair->second)};
  return {std::string(word), 0};
}

Result<std::vector<std::string>> SpreadRanges(const std::vector<std::string>& words) {
  constexpr int64_t kMost = 10000;
  std::vector<std::string> tasks;
  std::unordered_set<std::string> seen;
  auto add = [&](std::string task) {
    if (seen.insert(task).second) tasks.push_back(std::move(task));
  };
  for (const std::string& word : words) {
    auto range = Split(word, '-');
    if (!range) {
      add(word);
      continue;
    }
    if (range->second < range->first)
      return Invalid(msg::CliRangeBackwards{.range = word, .last = range->second, .first = range->first});
    if (range->second - range->first >= kMost)
      return Invalid(msg::CliRangeLong{.range = word, .most = kMost});
    for (int64_t id = range->first; id <= range->second; ++id) add(std::to_string(id));
  }
  return tasks;
}

Result<AfterChoice> ParseAfter(std::string_view text) {
  size_t colon = text.rfind(':');
  AfterChoice choice{std::string(text.substr(0, colon)), "ok"};
  if (colon != std::string_view::npos) choice.on = std::string(text.substr(colon + 1));
  if (choice.task.empty() || (choice.on != "ok" && choice.on != "fail" && choice.on != "any"))
    return Invalid(msg::CliAfter{.value = std::string(text)}, "/after");
  return choice;
}

}  // namespace ty
