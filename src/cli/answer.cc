#include "cli/answer.h"

#include <boost/json.hpp>

namespace ty {

namespace json = boost::json;

const json::value* At(const json::value& value, std::string_view key) {
  const json::object* object = value.if_object();
  const json::value* found =
      object ? object->if_contains(json::string_view(key.data(), key.size())) : nullptr;
  return found && !found->is_null() ? found : nullptr;
}

std::string TextAt(const json::value& object, std::string_view key) {
  const json::value* value = At(object, key);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<int64_t> IntAt(const json::value& object, std::string_view key) {
  const json::value* value = At(object, key);
  if (!value || !value->is_number()) return std::nullopt;
  if (value->is_double()) return static_cast<int64_t>(value->get_double());
  boost::system::error_code problem;
  int64_t number = value->to_number<int64_t>(problem);
  return problem ? std::nullopt : std::optional(number);
}

std::optional<double> RealAt(const json::value& object, std::string_view key) {
  const json::value* value = At(object, key);
  if (!value || !value->is_number()) return std::nullopt;
  return value->is_double()  ? value->get_double()
         : value->is_int64() ? static_cast<double>(value->get_int64())
                             : static_cast<double>(value->get_uint64());
}

bool FlagAt(const json::value& object, std::string_view key) {
  const json::value* value = At(object, key);
  return value && value->is_bool() && value->get_bool();
}

std::string WordsAt(const json::value& object, std::string_view key) {
  const json::value* message = At(object, key);
  return message ? TextAt(*message, "text") : std::string();
}

const json::array& ItemsAt(const json::value& object, std::string_view key) {
  static const json::array kNone;
  const json::value* value = At(object, key);
  return value && value->is_array() ? value->get_array() : kNone;
}

}  // namespace ty
