#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "cli/caller.h"
#include "cli/command.h"
#include "cli/cut.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "msg/cli.h"

namespace ty {
namespace {

// The words before the verb that are common options move behind it: `trainyard --lang zh ls`.
std::vector<std::string> VerbFirst(std::vector<std::string> words) {
  size_t verb = 0;
  while (verb < words.size() && words[verb].size() > 1 && words[verb][0] == '-') {
    bool takes_next = words[verb] == "--lang" || words[verb] == "--config";
    verb += takes_next && verb + 1 < words.size() ? 2 : 1;
  }
  if (verb == 0 || verb >= words.size()) return words;
  std::vector<std::string> moved = {words[verb]};
  moved.insert(moved.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(verb));
  moved.insert(moved.end(), words.begin() + static_cast<std::ptrdiff_t>(verb) + 1, words.end());
  return moved;
}

// The language must be known before the first complaint: it is looked for ahead of the parser.
std::string AskedLanguage(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].rfind("--lang=", 0) == 0) return words[i].substr(7);
    if (words[i] == "--lang" && i + 1 < words.size()) return words[i + 1];
  }
  return {};
}

Language SpeakFor(const std::string& option, const std::string& config) {
  return ChooseLanguage(option.empty() ? config : option, Environment("LC_ALL"), Environment("LC_MESSAGES"),
                        Environment("LANG"));
}

Error UnknownCommand(const std::string& word) {
  if (StartsWithLongDash(word)) return {Code::kInvalid, msg::CliLongDash{.word = word}, {}};
  if (word[0] == '-') return {Code::kInvalid, msg::CliUnknownOption{.option = word, .command = ""}, {}};
  std::vector<std::string> names;
  for (const Command* command : Commands())
    if (*command->about) names.emplace_back(command->name);
  std::string nearest = Nearest(word, names);
  if (nearest.empty()) return {Code::kInvalid, msg::CliUnknownCommand{.word = word}, {}};
  return {Code::kInvalid, msg::CliUnknownCommandNear{.word = word, .nearest = nearest}, {}};
}

Status FindState(Caller& caller, const Invocation& invocation) {
  auto config = ReadConfig(invocation.Value("config"));
  if (!config) return Forward(config.error());
  caller.config = std::move(*config);
  caller.state = StatePaths::FromEnvironment();
  if (Environment("TRAINYARD_HOME").empty() && !caller.config.state.empty())
    caller.state.home = caller.config.state;
  return {};
}

int RunCommand(Caller& caller, const Command& command, std::vector<std::string> words) {
  auto invocation = Parse(command, words);
  if (!invocation) return caller.Complain(invocation.error());
  if (invocation->Has("help")) {
    caller.Print(HelpOf(caller, command));
    return kDone;
  }
  std::string lang = invocation->Value("lang");
  if (!lang.empty() && !ParseLanguage(lang))
    return caller.Complain({Code::kInvalid, msg::CliLanguage{.value = lang}, {}});
  caller.json = invocation->Has("json");
  if (Status found = FindState(caller, *invocation); !found) return caller.Complain(found.error());
  caller.language = SpeakFor(lang, caller.config.language);
  return command.run(caller, *invocation);
}

int Run(Caller& caller, int argc, char** argv) {
  std::vector<std::string> words = VerbFirst({argv + (argc > 0 ? 1 : 0), argv + argc});
  caller.language = SpeakFor(AskedLanguage(words), {});
  bool helps = words.empty() || words[0] == "-h" || words[0] == "--help" || words[0] == "help" ||
               words[0].rfind("--lang", 0) == 0;
  if (helps) {
    const Command* command = words.size() > 1 && words[0] == "help" ? FindCommand(words[1]) : nullptr;
    caller.Print(command ? HelpOf(caller, *command) : Help(caller));
    return words.empty() ? kRefused : kDone;
  }
  if (words[0] == "--version" || words[0] == "-V") words[0] = "version";
  const Command* command = FindCommand(words[0]);
  if (!command) return caller.Complain(UnknownCommand(words[0]));
  words.erase(words.begin());
  return RunCommand(caller, *command, std::move(words));
}

}  // namespace

int RunCli(int argc, char** argv, DaemonMain daemon, RecoverMain recover) {
  Caller caller;
  caller.daemon = daemon;
  caller.recover = recover;
  LookAround(caller);
  int code = Run(caller, argc, argv);
  // What could not be written was not done.
  if ((fflush(stdout) != 0 || ferror(stdout)) && code == kDone && errno != EPIPE) {
    fprintf(stderr, "trainyard: stdout: %s\n", strerror(errno));
    return kFailed;
  }
  return code;
}

}  // namespace ty
