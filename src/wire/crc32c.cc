#include "wire/crc32c.h"

#include <array>

namespace ty {

namespace {

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78U : 0U);
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = MakeTable();

#if defined(__x86_64__)
// Eight bytes an instruction, some ten times as fast. Takes them off `bytes`.
__attribute__((target("sse4.2"))) uint32_t ByInstruction(uint32_t start, std::string_view& bytes) {
  uint64_t crc = start;
  for (; bytes.size() >= sizeof(uint64_t); bytes.remove_prefix(sizeof(uint64_t))) {
    uint64_t word;
    __builtin_memcpy(&word, bytes.data(), sizeof word);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  return static_cast<uint32_t>(crc);
}
#endif

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  uint32_t crc = ~0U;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) crc = ByInstruction(crc, bytes);
#endif
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<uint8_t>(c)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

std::string Crc32cText(std::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  std::string text(8, '0');
  for (int i = 0; i < 8; ++i) text[i] = "0123456789abcdef"[(crc >> (28 - 4 * i)) & 0xF];
  return text;
}

}  // namespace ty
