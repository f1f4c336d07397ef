#include "model/length.h"

namespace ty {

std::string LengthText(Duration length) {
  const int64_t whole = std::chrono::duration_cast<seconds>(length).count();
  const int64_t nanos = (length % seconds(1)).count();
  if (nanos == 0) return std::to_string(whole) + "s";
  std::string fraction = std::to_string(1'000'000'000 + nanos).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return std::to_string(whole) + "." + fraction + "s";
}

}  // namespace ty
