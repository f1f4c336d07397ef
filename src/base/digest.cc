#include "base/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
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
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  return Hex(digest, size);
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
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestInit_ex(context, EVP_sha256(), nullptr);
  char buffer[65536];
  ssize_t count;
  while ((count = read(fd, buffer, sizeof buffer)) > 0)
    EVP_DigestUpdate(context, buffer, static_cast<size_t>(count));
  close(fd);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context, digest, &size);
  EVP_MD_CTX_free(context);
  if (count < 0) return std::nullopt;
  return Hex(digest, size);
}

}  // namespace ty
