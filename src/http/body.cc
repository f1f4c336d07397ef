#include "http/body.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "msg/api.h"

namespace ty {

namespace json = boost::json;

Result<json::value> ParseJson(std::string_view text) {
  json::error_code fault;
  json::parse_options options;
  options.max_depth = 32;
  json::value value = json::parse(json::string_view(text.data(), text.size()), fault, {}, options);
  if (fault) return Invalid(msg::ApiBadJson{.why = fault.message()});
  return value;
}

Result<json::object> ParseBody(std::string_view text, std::initializer_list<std::string_view> known) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return json::object{};
  Result<json::value> value = ParseJson(text);
  if (!value) return Forward(value.error());
  if (!value->is_object()) return Invalid(msg::ApiMustBe{.name = "body", .what = "{…}"});
  for (const auto& [key, ignored] : value->as_object()) {
    const std::string_view name(key.data(), key.size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (std::string_view word : known) list += (list.empty() ? "" : ", ") + std::string(word);
    return Invalid(msg::ApiUnknownKey{.name = Printable(name), .known = list}, "/" + std::string(name));
  }
  return std::move(value->as_object());
}

Result<bool> ReadBool(const json::object& body, std::string_view key) {
  const json::value* value = body.if_contains(json::string_view(key.data(), key.size()));
  if (value == nullptr || value->is_null()) return false;
  if (!value->is_bool())
    return Invalid(msg::ApiMustBe{.name = std::string(key), .what = "true, false"}, "/" + std::string(key));
  return value->as_bool();
}

Result<std::string> ReadText(const json::object& body, std::string_view key) {
  const json::value* value = body.if_contains(json::string_view(key.data(), key.size()));
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_string())
    return Invalid(msg::ApiMustBe{.name = std::string(key), .what = "\"…\""}, "/" + std::string(key));
  return std::string(value->as_string().data(), value->as_string().size());
}

}  // namespace ty
