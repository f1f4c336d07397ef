// What names mean: of tasks, priorities and variables.
#include <algorithm>
#include <climits>

#include "base/text.h"
#include "model/spec.h"
#include "msg/spec.h"

namespace ty {
namespace {

constexpr int64_t kMostPriority = 1'000'000'000;
constexpr size_t kMostName = 200;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// 12, 12.2 and 3-9 are how people select tasks.
bool LooksLikeId(std::string_view name) {
  auto digits = [&name] {
    size_t count = 0;
    while (count < name.size() && IsDigit(name[count])) ++count;
    name.remove_prefix(count);
    return count > 0;
  };
  if (!digits()) return false;
  if (name.empty()) return true;
  if (name[0] != '.' && name[0] != '-') return false;
  name.remove_prefix(1);
  return digits() && name.empty();
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

bool EndsWithAny(std::string_view word, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return word.ends_with(end); });
}

}  // namespace

Status CheckName(std::string_view name) {
  constexpr const char* kField = "/name";
  if (name.empty()) return Invalid(msg::SpecNameEmpty{}, kField);
  if (name.size() > kMostName)
    return Invalid(msg::SpecNameTooLong{.size = static_cast<int64_t>(name.size()), .most = kMostName},
                   kField);
  if (std::string shown = Printable(name); shown != name)
    return Invalid(msg::SpecNameCharacters{.name = shown}, kField);
  if (LooksLikeId(name)) return Invalid(msg::SpecNameLikeId{.name = std::string(name)}, kField);
  if (name[0] == '@' || name[0] == '-') return Invalid(msg::SpecNameStart{.name = std::string(name)}, kField);
  return {};
}

Result<int> ParsePriority(std::string_view text) {
  if (text == "high") return 100;
  if (text == "normal") return 0;
  if (text == "low") return -100;
  std::optional<int64_t> number = ParseInt(text);
  if (!number || *number > kMostPriority || *number < -kMostPriority)
    return Invalid(msg::SpecPriority{.text = Printable(text), .least = -kMostPriority, .most = kMostPriority},
                   "/priority");
  return static_cast<int>(*number);
}

bool LooksSecret(std::string_view variable) {
  std::string name = Upper(variable);
  if (name == "PWD" || name == "OLDPWD") return false;
  // Word by word: HF_TOKEN is secret, TOKENIZERS_PARALLELISM and MAX_TOKENS are not.
  std::string_view rest = name;
  bool several = rest.find('_') != std::string_view::npos;
  while (!rest.empty()) {
    size_t end = rest.find('_');
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (EndsWithAny(word, {"TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE",
                           "APIKEY", "CREDENTIAL", "CREDENTIALS"}))
      return true;
    if (word == "PWD" || word == "PASS") return true;
    if (several && rest.empty() && (word == "KEY" || word == "KEYS")) return true;
  }
  return false;
}

bool IsScrubbed(std::string_view variable) {
  if (variable == "TRAINYARD_HOME") return false;
  for (std::string_view prefix : {"TRAINYARD_", "PET_", "SLURM_", "TORCHELASTIC_"})
    if (variable.starts_with(prefix)) return true;
  for (std::string_view name : {"RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "ROLE_RANK", "ROLE_NAME",
                                "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE",
                                "MASTER_ADDR", "MASTER_PORT", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})
    if (variable == name) return true;
  return false;
}

}  // namespace ty
