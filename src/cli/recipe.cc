#include "cli/recipe.h"

#include <algorithm>
#include <boost/json.hpp>

#include "cli/files.h"
#include "cli/yaml.h"
#include "msg/recipe.h"
#include "posix/files.h"

namespace ty {

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

const std::string* Find(const Values& values, std::string_view name) {
  auto found =
      std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
  return found == values.end() ? nullptr : &found->second;
}

// `{name}` replaced once, never again in what was put in; other braces stay.
std::string Fill(std::string_view word, const Values& values) {
  std::string filled;
  while (!word.empty()) {
    const size_t open = word.find('{');
    const size_t close = open == std::string_view::npos ? open : word.find('}', open);
    if (close == std::string_view::npos) break;
    filled += word.substr(0, open);
    const std::string* value = Find(values, word.substr(open + 1, close - open - 1));
    filled += value != nullptr ? *value : std::string(word.substr(open, close - open + 1));
    word.remove_prefix(close + 1);
  }
  return filled + std::string(word);
}

std::string Text(const Yaml* node, std::string_view key) {
  const Yaml* found = node == nullptr ? nullptr : node->Find(key);
  return found == nullptr ? "" : found->text;
}

}  // namespace

Result<boost::json::object> TaskOfRecipe(const std::string& folder, const Values& asked) {
  const std::string file = folder + "/recipe.yaml";
  SysResult<std::string> text = ReadFile(file, 1 << 20);
  if (!text) return NotFound(msg::RecipeUnreadable{.file = file}, "recipe");
  Result<Yaml> recipe = ParseYaml(*text, file);
  if (!recipe) return Forward(recipe.error());
  const Yaml* command = recipe->Find("command");
  if (command == nullptr || command->items.empty())
    return Invalid(msg::RecipeNoCommand{.file = file}, "command");

  Values values = asked;
  values.emplace_back("recipe", folder);
  std::vector<std::string> extra;  // parameters passed only while they are set
  if (const Yaml* params = recipe->Find("params")) {
    for (size_t i = 0; i < params->keys.size(); i++) {
      const Yaml& param = params->items[i];
      const bool set = Find(values, params->keys[i]) != nullptr;
      if (const Yaml* fallback = param.Find("default"); fallback != nullptr && !set) {
        values.emplace_back(params->keys[i], fallback->text);
      }
      if (const Yaml* pass = param.Find("pass"); pass != nullptr && set) extra.push_back(pass->text);
    }
  }

  boost::json::array argv;
  for (const Yaml& word : command->items) argv.emplace_back(Fill(word.text, values));
  for (const std::string& word : extra) argv.emplace_back(Fill(word, values));
  // In an environment that is only an interpreter, python and python3 mean it (contracts C7).
  const std::string python = Text(recipe->Find("environment"), "python");
  if (!python.empty() && (argv[0].as_string() == "python3" || argv[0].as_string() == "python"))
    argv[0] = python;

  boost::json::object task;
  task["command"] = std::move(argv);
  task["recipe"] = folder.substr(folder.rfind('/') + 1);
  task["workdir"] = folder;
  if (const std::string gpus = Text(recipe->Find("resources"), "gpus"); !gpus.empty()) {
    task["resources"] = boost::json::object{{"gpus", gpus}};
  }
  if (const Yaml* retry = recipe->Find("retry")) {
    boost::json::object policy;
    if (const std::string max = Text(retry, "max"); !max.empty()) policy["max"] = std::atoi(max.c_str());
    if (const std::string delay = Text(retry, "delay"); !delay.empty()) policy["delay"] = delay;
    task["retry"] = std::move(policy);
  }
  if (const std::string grace = Text(recipe->Find("checkpoint"), "grace"); !grace.empty()) {
    task["checkpoint"] = boost::json::object{{"grace", grace}};
  }
  return task;
}

}  // namespace ty
