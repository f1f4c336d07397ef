// SHA-256 of what a user submitted, to tell later whether it changed. By OpenSSL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ty {
std::string Sha256Hex(std::string_view bytes);
// A regular file up to `limit` bytes; nullopt when it is not there, not a regular file, or larger.
std::optional<std::string> Sha256OfFile(const std::string& path, int64_t limit = 16 << 20);
}  // namespace ty
