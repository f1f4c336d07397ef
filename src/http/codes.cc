#include "http/codes.h"

#include <algorithm>

#include "base/digest.h"
#include "http/secret.h"

namespace ty {

namespace {
constexpr Duration kLife = minutes(5);
constexpr size_t kMost = 16;
constexpr Duration kGuessing = minutes(1);
constexpr int kMostWrong = 20;

// A clock that was set back makes nothing live longer.
bool Within(Time now, Time since, Duration length) {
  return now >= since && now < since + length;
}
}  // namespace

Codes::Minted Codes::Mint(Time now) {
  wrong_ = 0;  // whoever mints is the owner, and is not to be kept out by others' guesses
  if (codes_.size() == kMost) codes_.pop_front();
  std::string code = MakeSecret();
  codes_.push_back({Sha256Hex(code), now});
  return {std::move(code), now + kLife};
}

Codes::Verdict Codes::Spend(std::string_view code, Time now) {
  std::erase_if(codes_, [&](const Code& one) { return !Within(now, one.made, kLife); });
  if (!LooksLikeSecret(code)) return Verdict::kWrong;  // no guess, and nothing to learn from it
  if (!Within(now, wrong_since_, kGuessing)) wrong_ = 0;
  if (wrong_ >= kMostWrong) return Verdict::kTooMany;

  const std::string hash = Sha256Hex(code);
  auto right = codes_.end();
  for (auto one = codes_.begin(); one != codes_.end(); ++one) {
    if (SameHash(one->hash, hash)) right = one;
  }
  if (right != codes_.end()) {
    codes_.erase(right);
    return Verdict::kRight;
  }
  if (wrong_++ == 0) wrong_since_ = now;
  return Verdict::kWrong;
}

}  // namespace ty
