// Place is where a value stands in a JSON document. It costs nothing until an error asks for its text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ty {

struct Place {
  const Place* parent = nullptr;
  std::string_view key;
  ptrdiff_t index = -1;  // in a list

  Place In(std::string_view member) const { return {this, member, -1}; }
  Place At(size_t i) const { return {this, {}, static_cast<ptrdiff_t>(i)}; }

  std::string Pointer() const;  // RFC 6901: "/after/0/task"
  std::string Words() const;    // for sentences: "after[0].task"
};

}  // namespace ty
