#include "cli/complete.h"

#include <algorithm>

#include "cli/cut.h"

namespace ty {
namespace {

using About = std::function<std::string(const char*)>;

bool Begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

std::vector<std::string> Split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  while (true) {
    size_t at = text.find(mark);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Those tasks that the command can do something with.
const char* StateFor(std::string_view command) {
  struct Pair {
    const char *command, *state;
  };
  static constexpr Pair kStates[] = {{"cancel", "open"},      {"hold", "waiting"}, {"release", "held"},
                                     {"priority", "waiting"}, {"retry", "ended"},  {"rm", "ended"}};
  for (const Pair& pair : kStates)
    if (command == pair.command) return pair.state;
  return "";
}

bool IsChoice(std::string_view word) {
  return !word.empty() && word[0] >= 'a' && word[0] <= 'z' &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos;
}

void Append(std::vector<Candidate>& to, std::vector<Candidate> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// What a value may be, by how the help writes it: "high|normal|low|N", "FILE.yaml", "ID…".
Completion Values(std::string_view shape, const char* state, const YardWords& known) {
  Completion values;
  for (const std::string& part : Split(shape, '|')) {
    if (Begins(part, "ID")) {
      Append(values.words, known.tasks(state));
    } else if (Begins(part, "DEVICE")) {
      Append(values.words, known.devices());
    } else if (Begins(part, "TAG")) {
      Append(values.words, known.tags());
    } else if (Begins(part, "STATE")) {
      for (const char* word : {"open", "waiting", "held", "running", "ended", "succeeded", "failed",
                               "cancelled", "timeout", "lost"})
        values.words.push_back({word, {}});
    } else if (Begins(part, "F[")) {
      for (const char* word : {"0.5", "0.5:turns", "0.25", "0.25:turns"}) values.words.push_back({word, {}});
    } else if (Begins(part, "FILE")) {
      values.also = Completion::Also::kFiles;
    } else if (Begins(part, "DIR")) {
      values.also = Completion::Also::kFolders;
    } else if (IsChoice(part)) {
      values.words.push_back({part, {}});
    }
  }
  return values;
}

// The shape of the word number `at` behind the options: the last of "high|low ID…" stands for all that
// follow.
std::string ShapeOfWord(std::string_view words, size_t at) {
  std::string plain;
  for (char c : words)
    if (c != '[' && c != ']') plain += c;
  std::vector<std::string> shapes = Split(plain, ' ');
  if (at < shapes.size()) return shapes[at];
  bool repeats = plain.size() >= 3 && plain.substr(plain.size() - 3) == "…";
  return repeats ? shapes.back() : std::string();
}

Completion CommandNames(const About& about) {
  Completion names;
  for (const Command* command : Commands())
    if (*command->about) names.words.push_back({command->name, about(command->about)});
  names.words.push_back({"help", about("cli.option_help")});
  return names;
}

Completion OptionNames(const std::vector<Option>& options, const Invocation& given, const About& about) {
  Completion names;
  for (const Option& option : options) {
    if (!*option.about) continue;
    if (option.takes != Option::Takes::kValues && given.Has(KeyOf(option))) continue;
    for (const std::string& name : Split(option.names, ','))
      names.words.push_back({name, about(option.about)});
  }
  return names;
}

// The word at the cursor decides; a flood of names that do not begin so helps nobody.
Completion Fitting(Completion all, std::string_view cursor) {
  auto misses = [&](const Candidate& candidate) { return !Begins(candidate.word, cursor); };
  all.words.erase(std::remove_if(all.words.begin(), all.words.end(), misses), all.words.end());
  return all;
}

// "--lang=z": the whole word is replaced, so the name stays before each value.
Completion BehindEquals(const std::string& cursor, size_t equals, const std::vector<Option>& options,
                        const char* state, const YardWords& known) {
  const Option* option = FindOption(std::string_view(cursor).substr(0, equals), options);
  if (!option || option->takes == Option::Takes::kNothing) return {};
  Completion values = Values(option->value, state, known);
  for (Candidate& value : values.words) value.word.insert(0, cursor, 0, equals + 1);
  values.also = Completion::Also::kNothing;
  return Fitting(std::move(values), cursor);
}

// Where the options before the cursor leave off.
struct Read {
  Invocation given;
  std::vector<std::string> words;
  const Option* pending = nullptr;  // the cursor is at its value
  bool only_words = false;          // "--" was typed
  size_t command_at = 0;            // of a command that cuts: where the task's own words begin; 0: not yet
};

Read ReadBefore(const std::vector<std::string>& typed, size_t from, const std::vector<Option>& options,
                bool cuts) {
  Read read;
  for (size_t i = from; i + 1 < typed.size(); ++i) {
    const std::string& word = typed[i];
    if (read.pending) {
      read.pending = nullptr;
    } else if (read.only_words || word.size() < 2 || word[0] != '-') {
      if (cuts && read.command_at == 0) read.command_at = i + 1;
      read.words.push_back(word);
      read.only_words = read.only_words || cuts;
    } else if (word == "--") {
      read.only_words = true;
      if (cuts) read.command_at = i + 2;
    } else {
      const Option* option = FindOption(word.substr(0, word.find('=')), options);
      if (option) read.given.given[std::string(KeyOf(*option))];
      read.pending = TakesNext(word, options);
      if (read.pending) read.given.given[std::string(KeyOf(*read.pending))];
    }
  }
  return read;
}

std::vector<Option> OptionsOf(const Command* command) {
  std::vector<Option> options;
  if (command) options.assign(command->options.begin(), command->options.end());
  options.insert(options.end(), kCommonOptions.begin(), kCommonOptions.end());
  return options;
}

}  // namespace

Completion Complete(const std::vector<std::string>& typed, const YardWords& known, const About& about) {
  if (typed.empty()) return Complete({""}, known, about);
  const std::string& cursor = typed.back();

  // Common options may stand before the verb: trainyard --lang zh ls.
  std::vector<Option> options = OptionsOf(nullptr);
  size_t verb = 0;
  const Option* pending = nullptr;
  for (; verb + 1 < typed.size(); ++verb) {
    if (!pending && (typed[verb].empty() || typed[verb][0] != '-')) break;
    pending = pending ? nullptr : TakesNext(typed[verb], options);
  }
  if (verb + 1 == typed.size()) {
    if (pending) return Fitting(Values(pending->value, "", known), cursor);
    if (!cursor.empty() && cursor[0] == '-') return Fitting(OptionNames(options, {}, about), cursor);
    return Fitting(CommandNames(about), cursor);
  }
  if (typed[verb] == "help") return Fitting(CommandNames(about), cursor);
  const Command* command = FindCommand(typed[verb]);
  if (!command) return {};

  options = OptionsOf(command);
  const char* state = StateFor(command->name);
  Read read = ReadBefore(typed, verb + 1, options, command->cuts);
  if (read.pending) return Fitting(Values(read.pending->value, state, known), cursor);
  if (read.command_at > 0) return {.also = Completion::Also::kCommand, .command_at = read.command_at};
  if (!read.only_words && !cursor.empty() && cursor[0] == '-') {
    size_t equals = cursor.find('=');
    if (equals != std::string::npos) return BehindEquals(cursor, equals, options, state, known);
    return Fitting(OptionNames(options, read.given, about), cursor);
  }
  if (command->cuts) return {.also = Completion::Also::kCommand, .command_at = typed.size()};
  // priority with an option for the place names no level.
  const bool placed = read.given.Has("first") || read.given.Has("before") || read.given.Has("after");
  size_t at = read.words.size() + (placed ? 1 : 0);
  return Fitting(Values(ShapeOfWord(command->words, at), state, known), cursor);
}

}  // namespace ty
