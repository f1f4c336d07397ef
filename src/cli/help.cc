#include "cli/help.h"

#include "base/text.h"
#include "msg/cli.h"

namespace ty {
namespace {

std::string About(const Caller& caller, const char* id) {
  return Render(Message{id, {}}, caller.language);
}

void Line(std::string& text, const std::string& left, const std::string& right, int column) {
  text += "  " + left;
  int room = column - DisplayWidth(left);
  if (room < 2) {
    text += "\n  ";
    room = column;
  }
  text += std::string(static_cast<size_t>(room), ' ') + right + "\n";
}

void OptionLines(std::string& text, const Caller& caller, std::span<const Option> options) {
  for (const Option& option : options) {
    if (!*option.about) continue;  // between the program and itself
    std::string names = option.names;
    for (size_t comma = names.find(','); comma != std::string::npos; comma = names.find(',', comma + 2))
      names.replace(comma, 1, ", ");
    if (names.rfind("--", 0) == 0) names = "    " + names;
    if (*option.value) names += std::string(" ") + option.value;
    Line(text, names, About(caller, option.about), 30);
  }
}

}  // namespace

std::string Help(const Caller& caller) {
  std::string text = Render(msg::CliHelpHead{}, caller.language) + "\n\n";
  for (const Command* command : Commands())
    if (*command->about) Line(text, command->name, About(caller, command->about), 12);
  return text + "\n" + Render(msg::CliHelpFoot{}, caller.language) + "\n";
}

std::string HelpOf(const Caller& caller, const Command& command) {
  std::string usage = std::string("trainyard ") + command.name + " [" +
                      Render(msg::CliHelpOptions{}, caller.language) + "]" +
                      (*command.words ? std::string(" ") + command.words : "");
  std::string text = usage + "\n\n" + About(caller, command.about) + "\n\n";
  OptionLines(text, caller, command.options);
  OptionLines(text, caller, kCommonOptions);
  return text;
}

}  // namespace ty
