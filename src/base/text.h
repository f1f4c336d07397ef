// Bytes and text: what several rooms need and the standard library lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ty {

bool IsUtf8(std::string_view bytes);
std::string ToBase64(std::string_view bytes);
std::optional<std::string> FromBase64(std::string_view text);

// The nearest of `known` to a mistyped word (edit distance with a limit), or empty.
std::string Nearest(std::string_view word, const std::vector<std::string>& known);

// A word as a POSIX shell would need it to read it back; plain words stay plain.
std::string ShellQuote(std::string_view word);
std::string ShellQuote(const std::vector<std::string>& argv);

// Control bytes and broken UTF-8 made visible (\x1b, \r, U+FFFD), so that hostile text cannot drive a
// terminal.
std::string Printable(std::string_view bytes);

std::optional<int64_t> ParseInt(std::string_view text);
// "8G", "512MiB", "1.5g", "1000": bytes; K, M, G, T are powers of 1024.
std::optional<int64_t> ParseBytes(std::string_view text);
// Columns a terminal uses for the text: wide CJK 2, combining 0.
int DisplayWidth(std::string_view utf8);

}  // namespace ty
