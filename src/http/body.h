// Body reads small JSON bodies: an object with known keys. Tasks are read by model's ParseTaskSpec.
#pragma once

#include <boost/json/fwd.hpp>
#include <initializer_list>
#include <string_view>

#include "base/result.h"

namespace ty {

// Depth at most 32, one value, no comments.
Result<boost::json::value> ParseJson(std::string_view text);
// Empty counts as {}. An unknown key is refused.
Result<boost::json::object> ParseBody(std::string_view text, std::initializer_list<std::string_view> known);
Result<bool> ReadBool(const boost::json::object& body, std::string_view key);         // false when absent
Result<std::string> ReadText(const boost::json::object& body, std::string_view key);  // empty when absent

}  // namespace ty
