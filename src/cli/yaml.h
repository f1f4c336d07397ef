// Yaml is a small, bounded YAML document: maps, lists and scalars with their lines. It refuses what makes
// YAML dangerous or surprising: anchors, aliases, tags, duplicate keys, more than one document, depth over
// 32, over 1 MiB.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ty {

struct Yaml {
  enum class Kind : unsigned char { kScalar, kList, kMap };
  Kind kind = Kind::kScalar;
  int line = 1;       // from 1
  bool plain = true;  // a scalar without quotes
  std::string text;   // of a scalar, as it was typed
  std::vector<Yaml> items;
  std::vector<std::string> keys;  // of a map; items[i] belongs to keys[i]
  std::vector<int> key_lines;

  bool IsNull() const {
    return kind == Kind::kScalar && plain && (text.empty() || text == "~" || text == "null");
  }
  const Yaml* Find(std::string_view key) const;
};

// `file` is named in errors. An empty document is a null scalar.
Result<Yaml> ParseYaml(std::string_view text, const std::string& file);

}  // namespace ty
