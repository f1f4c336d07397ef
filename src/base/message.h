// Message is a sentence not yet put into words: an id of messages/*.json and its arguments.
// Make one by its generated struct, `msg::TaskUnknown{.task = "7"}` ("msg/task.h"); words/ renders it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ty {

struct Message {
  using Value = std::variant<int64_t, double, std::string>;

  std::string id;  // empty: no message
  std::vector<std::pair<std::string, Value>> args;

  bool empty() const { return id.empty(); }
  bool operator==(const Message&) const = default;
};

}  // namespace ty
