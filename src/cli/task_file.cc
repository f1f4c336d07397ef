#include "cli/task_file.h"

#include <algorithm>
#include <boost/json.hpp>
#include <vector>

#include "base/text.h"
#include "cli/begin.h"
#include "cli/files.h"
#include "cli/select.h"
#include "cli/yaml.h"
#include "model/spec.h"
#include "msg/file.h"

namespace ty {
namespace {

namespace json = boost::json;

// Below these keys a scalar is text however it looks: 1e-4, 3.10, yes and 007 stay what was typed.
bool HoldsText(std::string_view key) {
  return key == "command" || key == "variables" || key == "tags" || key == "name" || key == "workdir" ||
         key == "shell" || key == "recipe" || key == "umask" || key == "share" || key == "gpu_ids";
}

json::value ScalarToJson(const Yaml& scalar, bool text) {
  if (scalar.plain && !text) {
    if (scalar.text == "true") return true;
    if (scalar.text == "false") return false;
    if (auto number = ParseInt(scalar.text)) return *number;
  }
  return json::value(scalar.text);
}

json::value ToJson(const Yaml& node, bool text) {
  switch (node.kind) {
    case Yaml::Kind::kScalar:
      return ScalarToJson(node, text);
    case Yaml::Kind::kList: {
      json::array list;
      for (const Yaml& item : node.items) list.push_back(ToJson(item, text));
      return list;
    }
    case Yaml::Kind::kMap: {
      json::object map;
      for (size_t i = 0; i < node.keys.size(); ++i) {
        bool text_here = text || HoldsText(node.keys[i]);
        // An empty value is a key left out; an empty variable is a variable.
        if (node.items[i].IsNull() && !text) continue;
        map[node.keys[i]] = ToJson(node.items[i], text_here);
      }
      return map;
    }
  }
  return nullptr;
}

// Where a JSON pointer leads in the document: "digits.yaml:4: resources.gpus".
std::string WhereIs(const Yaml& document, const std::string& file, std::string_view pointer) {
  const Yaml* node = &document;
  int line = document.line;
  std::string name;
  while (pointer.size() > 1) {
    pointer.remove_prefix(1);
    size_t slash = pointer.find('/');
    std::string part(pointer.substr(0, slash));
    pointer.remove_prefix(slash == std::string_view::npos ? pointer.size() : slash);
    name += (name.empty() ? "" : ".") + part;
    if (!node) continue;
    if (node->kind == Yaml::Kind::kMap) {
      auto key = std::find(node->keys.begin(), node->keys.end(), part);
      size_t at = static_cast<size_t>(key - node->keys.begin());
      if (key != node->keys.end()) line = node->key_lines[at];
      node = key == node->keys.end() ? nullptr : &node->items[at];
    } else if (auto index = ParseInt(part); node->kind == Yaml::Kind::kList && index && *index >= 0 &&
                                            static_cast<size_t>(*index) < node->items.size()) {
      node = &node->items[static_cast<size_t>(*index)];
      line = node->line;
    } else {
      node = nullptr;
    }
  }
  return file + ":" + std::to_string(line) + (name.empty() ? "" : ": " + name);
}

// The short forms of `after`: a number, a name, "12:any".
Status SpreadAfter(json::object& task) {
  json::value* after = task.if_contains("after");
  if (!after) return {};
  if (!after->is_array()) *after = json::array{*after};
  json::array& list = after->get_array();
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_int64()) list[i] = json::object{{"task", list[i]}};
    if (!list[i].is_string()) continue;
    auto choice = ParseAfter(std::string(list[i].get_string()));
    if (!choice) return Invalid(choice.error().message, "/after/" + std::to_string(i));
    auto number = ParseInt(choice->task);
    list[i] =
        json::object{{"task", number ? json::value(*number) : json::value(choice->task)}, {"on", choice->on}};
  }
  return {};
}

Status SpreadShortForms(json::object& task, const std::string& folder, const std::string& here, Time now) {
  if (json::value* shell = task.if_contains("shell")) {
    if (task.contains("command")) return Invalid(msg::FileShellAndCommand{}, "/shell");
    if (!shell->is_string()) return Invalid(msg::FileShellText{}, "/shell");
    task["command"] = json::array{"sh", "-c", *task.if_contains("shell")};
    task.erase("shell");
  }
  json::value& workdir = task["workdir"];
  if (workdir.is_null()) workdir = here;
  if (workdir.is_string()) workdir = AbsolutePath(std::string(workdir.get_string()), folder);
  if (json::value* retry = task.if_contains("retry"); retry && retry->is_int64())
    *retry = json::object{{"max", retry->get_int64()}};
  if (json::value* begin = task.if_contains("begin"); begin && begin->is_string()) {
    auto time = ParseBegin(std::string(begin->get_string()), now);
    if (!time) return Forward(time.error());
    *begin = FormatIso(*time);
  }
  return SpreadAfter(task);
}

// The yard resolves names in `after`; for the check any number stands for them.
json::object WithNumbersInAfter(json::object task) {
  json::value* after = task.if_contains("after");
  if (!after || !after->is_array()) return task;
  for (json::value& item : after->get_array()) {
    json::object* one = item.if_object();
    json::value* named = one ? one->if_contains("task") : nullptr;
    if (named && named->is_string()) *named = 1;
  }
  return task;
}

}  // namespace

Result<json::object> ParseTaskFile(std::string_view text, const std::string& file, const std::string& folder,
                                   const std::string& here, Time now) {
  auto document = ParseYaml(text, file);
  if (!document) return Forward(document.error());
  if (document->kind != Yaml::Kind::kMap)
    return Invalid(msg::FileNotMap{.file = file, .line = document->line});
  json::object task = ToJson(*document, false).get_object();
  if (Status spread = SpreadShortForms(task, folder, here, now); !spread)
    return Invalid(spread.error().message, WhereIs(*document, file, spread.error().field));
  auto spec = ParseTaskSpec(WithNumbersInAfter(task));
  if (!spec) return Invalid(spec.error().message, WhereIs(*document, file, spec.error().field));
  return task;
}

}  // namespace ty
