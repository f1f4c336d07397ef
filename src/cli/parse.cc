#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>

#include "base/text.h"
#include "cli/cut.h"
#include "msg/cli.h"

namespace ty {
namespace {

struct Slot {
  std::string key;
  std::vector<std::string> values;
  CLI::Option* option = nullptr;
  bool flag = false;
};

void Register(CLI::App& app, const Option& option, std::deque<Slot>& slots) {
  Slot& slot = slots.emplace_back();
  slot.key = std::string(KeyOf(option));
  slot.flag = option.takes == Option::Takes::kNothing;
  if (slot.flag)
    slot.option = app.add_flag(option.names);
  else
    slot.option = app.add_option(option.names, slot.values)->allow_extra_args(false);
}

// As CLI11 wants them: backwards; "--tag=" as two words, or it would take the next one for the value.
std::vector<std::string> ForCli11(const std::vector<std::string>& words) {
  std::vector<std::string> backwards;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    bool empty_value =
        word->size() > 3 && word->compare(0, 2, "--") == 0 && word->find('=') == word->size() - 1;
    if (empty_value) backwards.emplace_back();
    backwards.push_back(empty_value ? word->substr(0, word->size() - 1) : *word);
  }
  return backwards;
}

// CLI11 keeps words it does not know in order; those that look like options are misspelt ones.
Status TakeWords(const std::vector<std::string>& left, const std::vector<Option>& options,
                 Invocation& invocation) {
  for (const std::string& word : left) {
    bool negative_number = word.size() > 1 && word[0] == '-' && word[1] >= '0' && word[1] <= '9';
    if ((word.size() > 1 && word[0] == '-' && !negative_number) || StartsWithLongDash(word))
      return tl::unexpected(UnknownOption(word, options, invocation.command->name));
    invocation.words.push_back(word);
  }
  return {};
}

}  // namespace

Result<Invocation> Parse(const Command& command, const std::vector<std::string>& words) {
  std::vector<Option> options(command.options.begin(), command.options.end());
  options.insert(options.end(), kCommonOptions.begin(), kCommonOptions.end());

  Cut cut;
  if (command.cuts) {
    auto parts = CutCommand(words, options);
    if (!parts) return Forward(parts.error());
    cut = std::move(*parts);
  } else {
    auto end = std::find(words.begin(), words.end(), "--");
    cut.options.assign(words.begin(), end);
    if (end != words.end()) cut.command.assign(end + 1, words.end());
  }

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::deque<Slot> slots;
  Invocation invocation;
  invocation.command = &command;
  try {
    for (const Option& option : options) Register(app, option, slots);
    app.parse(ForCli11(cut.options));
  } catch (const CLI::ArgumentMismatch& error) {
    std::string name = error.what();
    return Invalid(msg::CliNeedsValue{.option = name.substr(0, name.find(':'))});
  } catch (const CLI::Error& error) {
    return Invalid(msg::CliUsage{.what = error.what(), .command = command.name});
  } catch (const std::exception& error) {
    return Invalid(msg::CliUsage{.what = error.what(), .command = command.name});
  }
  for (Slot& slot : slots)
    if (slot.option->count() > 0) invocation.given[slot.key] = std::move(slot.values);
  if (Status taken = TakeWords(app.remaining(), options, invocation); !taken) return Forward(taken.error());
  for (std::string& word : cut.command) invocation.words.push_back(std::move(word));
  return invocation;
}

}  // namespace ty
