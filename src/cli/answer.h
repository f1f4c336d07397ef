// Reading the yard's JSON answers without fuss: what is missing or of another kind reads as empty.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace ty {

const boost::json::value* At(const boost::json::value& object, std::string_view key);  // null when not there
std::string TextAt(const boost::json::value& object, std::string_view key);
std::optional<int64_t> IntAt(const boost::json::value& object, std::string_view key);
std::optional<double> RealAt(const boost::json::value& object, std::string_view key);
bool FlagAt(const boost::json::value& object, std::string_view key);
// The words of a message that stands there.
std::string WordsAt(const boost::json::value& object, std::string_view key);
// The items of an array that stands there; an empty array otherwise.
const boost::json::array& ItemsAt(const boost::json::value& object, std::string_view key);

}  // namespace ty
