// trainyard complete-words: what the completion scripts ask at each press of Tab. One candidate a line, a
// tab, what it is; then perhaps a line that begins with a colon, for what the shell adds itself:
//   :files   :folders   :command N (word N of the line is a command's name)
// It is silent and starts nothing: without a yard only what needs none is offered.
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/caller.h"
#include "cli/commands.h"
#include "cli/complete.h"
#include "cli/http.h"
#include "cli/link.h"
#include "cli/task_text.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr int kPatience_s = 1;

// Null when the yard is down or slow.
json::value AskYard(const Caller& caller, const std::string& target) {
  if (caller.state.home.empty()) return nullptr;
  auto line = HttpLine::Open(caller.state.Socket());
  if (!line) return nullptr;
  HttpRequest request;
  request.target = target;
  request.timeout_s = kPatience_s;
  auto reply = line->Ask(request);
  if (!reply || reply->status != 200) return nullptr;
  auto answer = ParseAnswer(reply->body);
  return answer ? std::move(*answer) : json::value(nullptr);
}

// Words that a shell would have to quote are not offered.
bool IsPlain(const std::string& word) {
  return !word.empty() && ShellQuote(word) == word && word[0] != '-' && word[0] != ':';
}

std::vector<Candidate> Tasks(const Caller& caller, const std::string& state) {
  json::value list = AskYard(caller, "/api/v1/tasks?limit=200" + (state.empty() ? "" : "&state=" + state));
  std::vector<Candidate> numbers, names;
  for (const json::value& task : ItemsAt(list, "items")) {
    std::string id = std::to_string(IntAt(task, "id").value_or(0)), name = TextAt(task, "name");
    std::string about = StateText(caller, task);
    numbers.push_back({id, Printable(name) + ", " + about});
    bool known = std::any_of(names.begin(), names.end(), [&](const Candidate& c) { return c.word == name; });
    if (IsPlain(name) && !known) names.push_back({name, id + ", " + about});
  }
  numbers.insert(numbers.end(), names.begin(), names.end());
  return numbers;
}

std::vector<Candidate> Tags(const Caller& caller) {
  json::value list = AskYard(caller, "/api/v1/tasks?limit=200");
  std::vector<Candidate> tags;
  for (const json::value& task : ItemsAt(list, "items"))
    for (const json::value& tag : ItemsAt(task, "tags")) {
      std::string word = tag.is_string() ? std::string(tag.get_string()) : std::string();
      Candidate candidate{word, {}};
      if (IsPlain(word) && std::find(tags.begin(), tags.end(), candidate) == tags.end())
        tags.push_back(std::move(candidate));
    }
  return tags;
}

std::vector<Candidate> Devices(const Caller& caller) {
  json::value list = AskYard(caller, "/api/v1/devices");
  std::vector<Candidate> devices;
  for (const json::value& device : ItemsAt(list, "items"))
    if (std::string label = TextAt(device, "label"); IsPlain(label))
      devices.push_back({label, Printable(TextAt(device, "name"))});
  return devices;
}

int CompleteWords(Caller& caller, const Invocation& invocation) {
  YardWords known = {
      .tasks = [&](const std::string& state) { return Tasks(caller, state); },
      .devices = [&] { return Devices(caller); },
      .tags = [&] { return Tags(caller); },
  };
  Completion completion = Complete(invocation.words, known, [&](const char* id) {
    return caller.Words(Message{id, {}});
  });
  std::string text;
  for (const Candidate& candidate : completion.words) text += candidate.word + "\t" + candidate.about + "\n";
  switch (completion.also) {
    case Completion::Also::kNothing:
      break;
    case Completion::Also::kFiles:
      text += ":files\n";
      break;
    case Completion::Also::kFolders:
      text += ":folders\n";
      break;
    case Completion::Also::kCommand:
      text += ":command " + std::to_string(completion.command_at) + "\n";
      break;
  }
  caller.Print(text);
  return kDone;
}

}  // namespace

const Command kCompleteWordsCommand = {"complete-words", "", "", {}, CompleteWords};

}  // namespace ty
