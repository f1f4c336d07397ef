// Identities. TaskId is the small number people use; Ulid names things on disk and never repeats.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace ty {

struct TaskId {
  int64_t value = 0;
  auto operator<=>(const TaskId&) const = default;
};

// 128 bits: 48 of milliseconds, 80 random; as text 26 letters of Crockford's base 32, sorting by time.
struct Ulid {
  std::array<uint8_t, 16> bytes{};
  auto operator<=>(const Ulid&) const = default;

  std::string Text() const;
  static std::optional<Ulid> Parse(std::string_view text);
  static Ulid Make(Time now);  // random bits from getrandom
};

}  // namespace ty

template <>
struct std::hash<ty::TaskId> {
  size_t operator()(ty::TaskId id) const noexcept { return std::hash<int64_t>()(id.value); }
};
template <>
struct std::hash<ty::Ulid> {
  size_t operator()(const ty::Ulid& id) const noexcept {
    uint64_t tail;
    __builtin_memcpy(&tail, id.bytes.data() + 8, sizeof tail);
    return tail;
  }
};
