// CRC-32C (Castagnoli) as used by iSCSI, ext4 and SSE 4.2: the check of "123456789" is e3069283.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ty {

uint32_t Crc32c(std::string_view bytes);
std::string Crc32cText(std::string_view bytes);  // eight hex digits

}  // namespace ty
