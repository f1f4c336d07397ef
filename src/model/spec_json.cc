// TaskSpec to JSON. What the user did not say is left out, so that a stored spec stays small.
#include <boost/json.hpp>
#include <cstdio>

#include "base/text.h"
#include "model/length.h"
#include "model/signals.h"
#include "model/spec.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr const char* kMask = "***";

// A name and password inside an address, as proxies and databases have them: "http://ann:x@host".
bool HoldsCredentials(std::string_view value) {
  size_t scheme = value.find("://");
  if (scheme == std::string_view::npos) return false;
  std::string_view authority = value.substr(scheme + 3);
  authority = authority.substr(0, authority.find_first_of("/?# "));
  size_t at = authority.rfind('@');
  return at != std::string_view::npos && authority.substr(0, at).find(':') != std::string_view::npos;
}

json::object VariablesToJson(const Variables& variables, bool secrets) {
  json::object object;
  object.reserve(variables.size());
  for (const auto& [name, value] : variables) {
    bool hide = !secrets && !value.empty() && (LooksSecret(name) || HoldsCredentials(value));
    object[name] = hide ? json::value(kMask) : WordToJson(value);
  }
  return object;
}

// Whole seconds as a number, the rest as text that ParseDuration reads back exactly.
json::value LengthToJson(Duration length) {
  if (length % seconds(1) == Duration::zero()) return std::chrono::duration_cast<seconds>(length).count();
  return json::string(LengthText(length));
}

std::string_view OnName(Dependency::On on) {
  switch (on) {
    case Dependency::On::kOk:
      return "ok";
    case Dependency::On::kFail:
      return "fail";
    case Dependency::On::kAny:
      return "any";
  }
  return "ok";
}

json::array AfterToJson(const std::vector<Dependency>& after) {
  json::array list;
  for (const Dependency& dependency : after)
    list.push_back(json::object{{"task", dependency.task.value}, {"on", OnName(dependency.on)}});
  return list;
}

json::object ResourcesToJson(const TaskSpec& spec) {
  json::object resources;
  if (!spec.gpus.counts.empty()) resources["gpus"] = spec.gpus.Text();
  if (spec.cpus) resources["cpus"] = *spec.cpus;
  if (spec.memory) resources["memory"] = *spec.memory;
  if (std::string share = spec.wish.share.Text(); !share.empty()) resources["share"] = share;
  if (spec.wish.memory != 0) resources["gpu_memory"] = spec.wish.memory;
  if (spec.wish.exclusive) resources["exclusive"] = true;
  if (spec.gpu_ids == TaskSpec::GpuIds::kIndex) resources["gpu_ids"] = "index";
  return resources;
}

json::object LimitsToJson(const TaskSpec& spec) {
  json::object limits;
  if (spec.time_limit) limits["time"] = LengthToJson(*spec.time_limit);
  if (spec.idle_limit) limits["idle"] = LengthToJson(*spec.idle_limit);
  if (spec.log_limit) limits["log"] = *spec.log_limit;
  return limits;
}

json::object RetryToJson(const RetryPolicy& retry) {
  const RetryPolicy usual;
  json::object object;
  if (retry.max) object["max"] = *retry.max;
  if (retry.on != usual.on) object["on"] = "any";
  if (retry.delay != usual.delay) object["delay"] = LengthToJson(retry.delay);
  return object;
}

json::object CheckpointToJson(const TaskSpec& spec) {
  const TaskSpec usual;
  json::object checkpoint;
  if (!spec.resume_path.empty()) checkpoint["resume"] = WordToJson(spec.resume_path);
  if (spec.stop_signal != usual.stop_signal) checkpoint["signal"] = SignalName(spec.stop_signal);
  if (spec.stop_target != usual.stop_target)
    checkpoint["target"] = spec.stop_target == StopTarget::kAll ? "all" : "leader";
  if (spec.grace != usual.grace) checkpoint["grace"] = LengthToJson(spec.grace);
  return checkpoint;
}

std::string Octal(int mask) {
  char text[8];
  snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mask));
  return text;
}

json::object CodeToJson(const TaskSpec::Code& code) {
  json::object object;
  if (!code.files.empty()) {
    json::array files;
    for (const auto& [path, sha256] : code.files)
      files.push_back(json::object{{"path", WordToJson(path)}, {"sha256", sha256}});
    object["files"] = std::move(files);
  }
  if (!code.repository.empty()) object["repository"] = WordToJson(code.repository);
  if (!code.commit.empty()) object["commit"] = code.commit;
  return object;
}

}  // namespace

json::value WordToJson(std::string_view word) {
  if (IsUtf8(word)) return json::string(word);
  return json::object{{"base64", ToBase64(word)}};
}

json::object ToJson(const TaskSpec& spec, bool secrets) {
  json::object object;
  object.reserve(16);
  auto put = [&object](const char* key, auto group) {
    if (!group.empty()) object[key] = std::move(group);
  };
  put("name", json::string(spec.name));
  json::array command;
  command.reserve(spec.argv.size());
  for (const std::string& word : spec.argv) command.push_back(WordToJson(word));
  object["command"] = std::move(command);
  object["workdir"] = WordToJson(spec.workdir);
  put("recipe", json::string(spec.recipe));
  if (spec.umask != TaskSpec().umask) object["umask"] = Octal(spec.umask);
  put("resources", ResourcesToJson(spec));
  if (spec.wish.ranks) object["ranks"] = true;
  if (spec.priority != 0) object["priority"] = spec.priority;
  put("after", AfterToJson(spec.after));
  if (spec.hold) object["hold"] = true;
  if (spec.begin) object["begin"] = FormatIso(*spec.begin);
  put("limits", LimitsToJson(spec));
  put("retry", RetryToJson(spec.retry));
  put("checkpoint", CheckpointToJson(spec));
  json::array tags;
  for (const std::string& tag : spec.tags) tags.push_back(json::string(tag));
  put("tags", std::move(tags));
  put("variables", VariablesToJson(spec.variables, secrets));
  if (!spec.environment.empty())
    object["environment"] = json::object{{"variables", VariablesToJson(spec.environment, secrets)}};
  put("code", CodeToJson(spec.code));
  return object;
}

}  // namespace ty
