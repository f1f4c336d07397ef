#include "base/digest.h"

// The low-level calls need no set-up of the library: EVP_sha256 costs a process its first millisecond.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <fcntl.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ty {

namespace {

std::string Hex(const unsigned char* bytes, unsigned count) {
  static const char* kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < count; i++) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes.data(), bytes.size());
  SHA256_Final(digest, &state);
  return Hex(digest, sizeof digest);
}

std::optional<std::string> Sha256OfFile(const std::string& path, int64_t limit) {
  // O_NONBLOCK: a FIFO named as a script must not stop us.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return std::nullopt;
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > limit) {
    close(fd);
    return std::nullopt;
  }
  SHA256_CTX state;
  SHA256_Init(&state);
  char buffer[65536];
  ssize_t count;
  while ((count = read(fd, buffer, sizeof buffer)) > 0)
    SHA256_Update(&state, buffer, static_cast<size_t>(count));
  close(fd);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_Final(digest, &state);
  if (count < 0) return std::nullopt;
  return Hex(digest, sizeof digest);
}

}  // namespace ty
