// A small strict JSON for what the daemon and its supervisors tell each other: whole numbers only, valid
// UTF-8, no key twice, 16 levels, nothing after the value. The supervisor stays tiny by it. Bytes that are no
// UTF-8 travel as {"base64": "…"}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ty::wire {

struct Json;
using JsonArray = std::vector<Json>;
using JsonObject = std::vector<std::pair<std::string, Json>>;

struct Json {
  std::variant<std::nullptr_t, bool, int64_t, std::string, JsonArray, JsonObject> value = nullptr;

  Json() = default;
  Json(bool v) : value(v) {}
  Json(int v) : value(int64_t{v}) {}
  Json(int64_t v) : value(v) {}
  Json(std::string v) : value(std::move(v)) {}
  Json(std::string_view v) : value(std::string(v)) {}
  Json(const char* v) : value(std::string(v)) {}
  Json(JsonArray v) : value(std::move(v)) {}
  Json(JsonObject v) : value(std::move(v)) {}
  bool operator==(const Json&) const = default;

  const bool* AsBool() const { return std::get_if<bool>(&value); }
  const int64_t* AsInt() const { return std::get_if<int64_t>(&value); }
  const std::string* AsText() const { return std::get_if<std::string>(&value); }
  const JsonArray* AsArray() const { return std::get_if<JsonArray>(&value); }
  const JsonObject* AsObject() const { return std::get_if<JsonObject>(&value); }
  const Json* Find(std::string_view key) const;  // of an object; else null
};

std::string Write(const Json& json);  // one line, no spaces
std::optional<Json> Parse(std::string_view text);

Json FromBytes(std::string_view bytes);
std::optional<std::string> ToBytes(const Json& json);

// Reads members of an object; a wrong type makes ok() false and leaves the value alone, as a missing one does
// for Need. Unknown members are none of a reader's business: newer writers may add some.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json), ok_(json.AsObject() != nullptr) {}
  bool ok() const { return ok_; }

  Fields& Need(std::string_view key, int64_t& to) { return Read(key, to, true); }
  Fields& Need(std::string_view key, std::string& to) { return Read(key, to, true); }
  Fields& May(std::string_view key, int64_t& to) { return Read(key, to, false); }
  Fields& May(std::string_view key, int& to);
  Fields& May(std::string_view key, bool& to);
  Fields& May(std::string_view key, std::string& to) { return Read(key, to, false); }
  Fields& May(std::string_view key, std::optional<int>& to);
  Fields& May(std::string_view key, std::optional<int64_t>& to);

 private:
  Fields& Read(std::string_view key, int64_t& to, bool needed);
  Fields& Read(std::string_view key, std::string& to, bool needed);

  const Json& json_;
  bool ok_;
};

}  // namespace ty::wire
