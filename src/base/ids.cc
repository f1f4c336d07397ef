#include "base/ids.h"

#include <sys/random.h>

#include "base/assert.h"

namespace ty {
namespace {

__extension__ typedef unsigned __int128 Uint128;

constexpr char kLetters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr int kTextSize = 26;

int LetterValue(char letter) {
  if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  for (int i = 0; i < 32; ++i)
    if (kLetters[i] == letter) return i;
  return -1;
}

}  // namespace

std::string Ulid::Text() const {
  Uint128 number = 0;
  for (uint8_t byte : bytes) number = number << 8 | byte;
  std::string text(kTextSize, '0');
  for (int i = kTextSize - 1; i >= 0; --i, number >>= 5) text[i] = kLetters[static_cast<int>(number & 31)];
  return text;
}

std::optional<Ulid> Ulid::Parse(std::string_view text) {
  // 26 letters hold 130 bits: the first may only use three of its five.
  if (text.size() != kTextSize || text[0] < '0' || text[0] > '7') return std::nullopt;
  Uint128 number = 0;
  for (char letter : text) {
    int value = LetterValue(letter);
    if (value < 0) return std::nullopt;
    number = number << 5 | static_cast<unsigned>(value);
  }
  Ulid ulid;
  for (int i = 15; i >= 0; --i, number >>= 8) ulid.bytes[i] = static_cast<uint8_t>(number);
  return ulid;
}

Ulid Ulid::Make(Time now) {
  Ulid ulid;
  auto millis = static_cast<uint64_t>(ToMillis(now.time_since_epoch()));
  for (int i = 5; i >= 0; --i, millis >>= 8) ulid.bytes[i] = static_cast<uint8_t>(millis);
  // Ten bytes are below the size that a signal may cut short; before the pool is ready getrandom waits.
  ssize_t got = getrandom(ulid.bytes.data() + 6, 10, 0);
  TY_ASSERT(got == 10);
  return ulid;
}

}  // namespace ty
