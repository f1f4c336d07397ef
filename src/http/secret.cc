#include "http/secret.h"

#include <sys/random.h>

#include "base/assert.h"

namespace ty {

namespace {
constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
}

std::string MakeSecret() {
  std::string secret;
  while (secret.size() < kSecretLength) {
    unsigned char bytes[kSecretLength];
    const ssize_t got = ::getrandom(bytes, sizeof bytes, 0);
    TY_ASSERT(got == static_cast<ssize_t>(sizeof bytes));
    for (unsigned char byte : bytes) {
      // 248 is 4 x 62: every letter is as likely as the others.
      if (byte < 248 && secret.size() < kSecretLength) secret += kLetters[byte % kLetters.size()];
    }
  }
  return secret;
}

bool LooksLikeSecret(std::string_view text) {
  return text.size() == kSecretLength && text.find_first_not_of(kLetters) == std::string_view::npos;
}

bool SameHash(std::string_view a, std::string_view b) {
  unsigned char differ = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size() && i < b.size(); i++) differ |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differ == 0;
}

}  // namespace ty
