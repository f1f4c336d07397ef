// Whose log a call asks for: what the handlers of logs and of their lines share.
#pragma once

#include <cstdint>
#include <string>

#include "http/api.h"

namespace ty {

constexpr int64_t kMostRanks = 1'000'000;
constexpr int kNoRank = -1;  // none was named

int StatusOfLog(const Error& error);
// Whether the attempt has the rank that was asked for.
Status CheckRank(const FoundAttempt& found, int rank);
std::string LogPath(const FoundAttempt& found, int rank, const std::string& home);

}  // namespace ty
