#include "cli/cut.h"

#include "base/text.h"
#include "msg/cli.h"

namespace ty {
namespace {

// The names in "-g,--gpus,--devices".
template <class Visit>
void EachName(const Option& option, Visit visit) {
  std::string_view names = option.names;
  while (!names.empty()) {
    size_t comma = names.find(',');
    visit(names.substr(0, comma));
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
  }
}

enum class Eats : unsigned char { kUnknown, kItself, kNext };

Eats LongEats(std::string_view word, const std::vector<Option>& options) {
  size_t equals = word.find('=');
  const Option* option = FindOption(word.substr(0, equals), options);
  if (!option) return Eats::kUnknown;
  if (option->takes == Option::Takes::kNothing)
    return equals == std::string_view::npos ? Eats::kItself : Eats::kUnknown;
  return equals == std::string_view::npos ? Eats::kNext : Eats::kItself;
}

// "-f", "-fq" (flags together), "-nNAME", "-n NAME".
Eats ShortEats(std::string_view word, const std::vector<Option>& options) {
  for (size_t i = 1; i < word.size(); ++i) {
    const Option* option = FindOption("-" + std::string(1, word[i]), options);
    if (!option) return Eats::kUnknown;
    if (option->takes != Option::Takes::kNothing) return i + 1 == word.size() ? Eats::kNext : Eats::kItself;
  }
  return Eats::kItself;
}

}  // namespace

const Option* FindOption(std::string_view name, const std::vector<Option>& options) {
  for (const Option& option : options) {
    bool found = false;
    EachName(option, [&](std::string_view each) { found = found || each == name; });
    if (found) return &option;
  }
  return nullptr;
}

const Option* TakesNext(std::string_view word, const std::vector<Option>& options) {
  if (word.size() < 2 || word[0] != '-') return nullptr;
  bool is_long = word[1] == '-';
  if ((is_long ? LongEats(word, options) : ShortEats(word, options)) != Eats::kNext) return nullptr;
  return is_long ? FindOption(word, options) : FindOption("-" + std::string(1, word.back()), options);
}

bool StartsWithLongDash(std::string_view word) {
  for (const char* dash : {"—", "–", "―", "−", "－", "‐", "‑", "‒", "﹣"})
    if (word.substr(0, 3) == dash) return true;
  return false;
}

Error UnknownOption(std::string_view word, const std::vector<Option>& options, const char* command) {
  std::string name(word.substr(0, word.find('=')));
  if (StartsWithLongDash(word)) return {Code::kInvalid, msg::CliLongDash{.word = std::string(word)}, {}};
  std::vector<std::string> known;
  for (const Option& option : options)
    EachName(option, [&](std::string_view each) {
      if (each.substr(0, 2) == "--") known.emplace_back(each);
    });
  std::string nearest;
  for (const std::string& each : known)
    if (each.substr(1) == name) nearest = each;  // "-wait" lacks a dash
  if (nearest.empty() && name.size() > 2) nearest = Nearest(name, known);
  if (nearest.empty()) return {Code::kInvalid, msg::CliUnknownOption{.option = name, .command = command}, {}};
  return {
      Code::kInvalid, msg::CliUnknownOptionNear{.option = name, .nearest = nearest, .command = command}, {}};
}

Result<Cut> CutCommand(const std::vector<std::string>& words, const std::vector<Option>& options) {
  Cut cut;
  size_t i = 0;
  for (; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      ++i;
      break;
    }
    if (StartsWithLongDash(word)) return tl::unexpected(UnknownOption(word, options, "run"));
    if (word.size() < 2 || word[0] != '-') break;
    Eats eats = word[1] == '-' ? LongEats(word, options) : ShortEats(word, options);
    if (eats == Eats::kUnknown) return tl::unexpected(UnknownOption(word, options, "run"));
    cut.options.push_back(word);
    if (eats != Eats::kNext) continue;
    if (i + 1 == words.size()) return Invalid(msg::CliNeedsValue{.option = word});
    cut.options.push_back(words[++i]);
  }
  cut.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  return cut;
}

}  // namespace ty
