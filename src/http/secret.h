// Secrets are words nobody can guess. What is kept of one is its hash alone.
#pragma once

#include <string>
#include <string_view>

namespace ty {

inline constexpr size_t kSecretLength = 32;

std::string MakeSecret();                // 32 random letters and digits: 190 bits
bool LooksLikeSecret(std::string_view);  // as MakeSecret makes them
// Takes as long wherever they differ.
bool SameHash(std::string_view a, std::string_view b);

}  // namespace ty
