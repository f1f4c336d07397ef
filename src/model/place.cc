#include "model/place.h"

#include "base/text.h"

namespace ty {

std::string Place::Pointer() const {
  if (!parent) return {};
  std::string pointer = parent->Pointer() + "/";
  if (index >= 0) return pointer + std::to_string(index);
  for (char c : key) {
    if (c == '~')
      pointer += "~0";
    else if (c == '/')
      pointer += "~1";
    else
      pointer += c;
  }
  return pointer;
}

std::string Place::Words() const {
  if (!parent) return {};
  std::string words = parent->Words();
  if (index >= 0) return words + "[" + std::to_string(index) + "]";
  if (!words.empty()) words += ".";
  return words + Printable(key);
}

}  // namespace ty
