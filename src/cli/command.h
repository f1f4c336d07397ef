// Command is one verb of the command line, described by a light table so that only the one that was named is
// handed to the parser. To add one: a file with its `const Command k…Command`, and its name in commands.h.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ty {

class Caller;
class Invocation;

struct Option {
  enum class Takes : unsigned char { kNothing, kValue, kValues };  // kValues: may be given several times
  const char* names;  // "-n,--name"; the first long one is what code asks for
  Takes takes = Takes::kNothing;
  const char* value = "";  // what stands for the value in the help
  const char* about = "";  // message id
};

struct Command {
  const char* name;
  const char* words;  // what follows the options, for the help: "ID…"
  const char* about;  // message id: one line; empty for one that people do not type
  std::span<const Option> options;
  int (*run)(Caller&, const Invocation&);
  bool cuts = false;  // options stop at the first other word; the rest is kept byte for byte
};

// What was typed after the verb.
class Invocation {
 public:
  const Command* command = nullptr;
  std::map<std::string, std::vector<std::string>, std::less<>> given;  // by the option's name without dashes
  std::vector<std::string> words;

  bool Has(std::string_view option) const { return given.find(option) != given.end(); }
  // The last one given; empty when it was not.
  std::string Value(std::string_view option) const;
  std::vector<std::string> Values(std::string_view option) const;
};

// "name" of "-n,--name".
std::string_view KeyOf(const Option& option);

// Options of every command.
extern const std::span<const Option> kCommonOptions;

std::span<const Command* const> Commands();
const Command* FindCommand(std::string_view name);

// Each is defined in the file of its name.
extern const Command kUpCommand, kDownCommand, kStatusCommand, kDoctorCommand, kRunCommand, kSubmitCommand,
    kLsCommand, kShowCommand, kWhyCommand, kLogsCommand, kWaitCommand, kCancelCommand, kHoldCommand,
    kReleaseCommand, kRetryCommand, kPriorityCommand, kPauseCommand, kResumeCommand, kRmCommand,
    kDevicesCommand, kEventsCommand, kConfigCommand, kVersionCommand, kDemoCommand, kCompletionCommand,
    kCompleteWordsCommand, kRecoverCommand, kOpenCommand;

}  // namespace ty
