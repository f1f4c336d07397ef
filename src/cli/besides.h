// A refusal of the yard may say that more is wrong than its sentence. The other sentences travel as arguments
// of the same message, by this name, which no sentence uses; Caller::Complain gives each a line.
#pragma once

namespace ty {

inline constexpr const char* kBesides = "besides";

}  // namespace ty
