#include "cli/config.h"

#include <errno.h>
#include <string.h>

#include <cstdlib>
#include <vector>

#include "base/text.h"
#include "cli/files.h"
#include "cli/yaml.h"
#include "msg/config.h"
#include "posix/files.h"

namespace ty {
namespace {

// One value of a map, or a complaint that names file, line and key.
Result<std::string> TextAt(const Yaml& value, const std::string& file, const std::string& key) {
  if (value.kind != Yaml::Kind::kScalar)
    return Invalid(msg::ConfigNotText{.file = file, .line = value.line, .key = key});
  return value.IsNull() ? std::string() : value.text;
}

Status RefuseUnknown(const Yaml& map, const std::string& file, const std::string& prefix,
                     const std::vector<std::string>& known) {
  for (size_t i = 0; i < map.keys.size(); ++i) {
    bool found = false;
    for (const std::string& key : known) found = found || key == map.keys[i];
    if (found) continue;
    std::string nearest = Nearest(map.keys[i], known), key = prefix + map.keys[i];
    if (!nearest.empty())
      return Invalid(msg::ConfigUnknownNear{
          .file = file, .line = map.key_lines[i], .key = key, .nearest = prefix + nearest});
    std::string all;
    for (const std::string& name : known) all += (all.empty() ? "" : ", ") + prefix + name;
    return Invalid(msg::ConfigUnknown{.file = file, .line = map.key_lines[i], .key = key, .known = all});
  }
  return {};
}

}  // namespace

std::string ConfigPath() {
  const char* xdg = std::getenv("XDG_CONFIG_HOME");
  if (xdg && *xdg == '/') return std::string(xdg) + "/trainyard/trainyard.yaml";
  const char* home = std::getenv("HOME");
  if (home && *home) return std::string(home) + "/.config/trainyard/trainyard.yaml";
  return {};
}

Result<Config> ParseConfig(std::string_view text, const std::string& file) {
  auto document = ParseYaml(text, file);
  if (!document) return Forward(document.error());
  Config config;
  config.file = file;
  if (document->IsNull()) return config;
  if (document->kind != Yaml::Kind::kMap)
    return Invalid(msg::ConfigNotMap{.file = file, .line = document->line});
  if (Status known = RefuseUnknown(*document, file, "", {"devices", "listen", "language", "paths"}); !known)
    return Forward(known.error());

  for (auto [key, field] :
       {std::pair{"devices", &config.devices}, {"listen", &config.listen}, {"language", &config.language}}) {
    const Yaml* value = document->Find(key);
    if (!value) continue;
    auto read = TextAt(*value, file, key);
    if (!read) return Forward(read.error());
    *field = *read;
  }
  if (!config.language.empty() && config.language != "en" && config.language != "zh")
    return Invalid(msg::ConfigLanguage{
        .file = file, .line = document->Find("language")->line, .value = config.language});

  const Yaml* paths = document->Find("paths");
  if (!paths || paths->IsNull()) return config;
  if (paths->kind != Yaml::Kind::kMap) return Invalid(msg::ConfigNotPaths{.file = file, .line = paths->line});
  if (Status known = RefuseUnknown(*paths, file, "paths.", {"state"}); !known) return Forward(known.error());
  if (const Yaml* state = paths->Find("state")) {
    auto read = TextAt(*state, file, "paths.state");
    if (!read) return Forward(read.error());
    config.state = *read;
    if (config.state.rfind("~/", 0) == 0)
      if (const char* home = std::getenv("HOME")) config.state = home + config.state.substr(1);
    if (!config.state.empty() && config.state[0] != '/')
      return Invalid(msg::ConfigRelative{
          .file = file, .line = state->line, .key = "paths.state", .value = config.state});
  }
  return config;
}

Result<Config> ReadConfig(const std::string& asked) {
  std::string path = asked.empty() ? ConfigPath() : AbsolutePath(asked);
  if (path.empty()) return Config{};
  SysResult<std::string> text = ReadFile(path, 1 << 20);
  if (!text && asked.empty() && (text.error() == ENOENT || text.error() == ENOTDIR)) return Config{};
  if (!text) return Invalid(msg::ConfigUnreadable{.file = path, .why = strerror(text.error())});
  return ParseConfig(*text, path);
}

}  // namespace ty
