#include "cli/command.h"

#include "cli/commands.h"

namespace ty {
namespace {

constexpr Option kCommon[] = {
    {"--lang", Option::Takes::kValue, "en|zh", "cli.option_lang"},
    {"--json", Option::Takes::kNothing, "", "cli.option_json"},
    {"--config", Option::Takes::kValue, "FILE", "cli.option_config"},
    {"-h,--help", Option::Takes::kNothing, "", "cli.option_help"},
};

}  // namespace

const std::span<const Option> kCommonOptions(kCommon);

std::string Invocation::Value(std::string_view option) const {
  auto found = given.find(option);
  return found == given.end() || found->second.empty() ? std::string() : found->second.back();
}

std::vector<std::string> Invocation::Values(std::string_view option) const {
  auto found = given.find(option);
  return found == given.end() ? std::vector<std::string>() : found->second;
}

std::string_view KeyOf(const Option& option) {
  std::string_view names = option.names;
  size_t start = names.find("--");
  names.remove_prefix(start == std::string_view::npos ? 1 : start + 2);
  return names.substr(0, names.find(','));
}

std::span<const Command* const> Commands() {
  return kCommands;
}

const Command* FindCommand(std::string_view name) {
  for (const Command* command : kCommands)
    if (name == command->name) return command;
  return nullptr;
}

}  // namespace ty
