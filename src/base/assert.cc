#include "base/assert.h"

#include <cstdlib>
#include <string>

#include "base/log.h"

namespace ty {

void AssertFailed(const char* what, const char* file, int line) {
  Log("cannot happen, yet did: " + std::string(what) + " at " + file + ":" + std::to_string(line));
  std::abort();
}

}  // namespace ty
