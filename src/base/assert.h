// TY_ASSERT is for what cannot happen; it stays on in release builds and ends the program with a line on
// stderr.
#pragma once

namespace ty {
[[noreturn]] void AssertFailed(const char* what, const char* file, int line);
}

#define TY_ASSERT(condition) \
  (static_cast<bool>(condition) ? void(0) : ::ty::AssertFailed(#condition, __FILE__, __LINE__))
