#include "sched/shares.h"

#include <algorithm>
#include <numeric>

namespace ty {

int64_t NominalMemory(int64_t memory) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  // Sizes of cards with ECC within the memory of which a sixteenth is more than rounding up gives back. They
  // tell 92.2 % (T4, older drivers) to 93.75 %; no other card comes so near to a size it is not.
  for (const int64_t gib : {16, 20, 24, 32, 48, 72, 96}) {
    const int64_t sold = gib * kGiB;
    if (memory >= sold / 100 * 92 && memory <= sold / 16 * 15) return sold;
  }
  return (memory + kGiB - 1) / kGiB * kGiB;
}

int64_t MemoryOfPart(int milli, int64_t device_memory) {
  // Split, so that no memory is too large to be multiplied; rounded down, so that parts never exceed it.
  return device_memory / kWholeDevice * milli + device_memory % kWholeDevice * milli / kWholeDevice;
}

int64_t MemoryOfLease(const DeviceWish& wish, int64_t device_memory) {
  if (wish.share.mode == ShareMode::kWhole) return 0;
  return wish.memory > 0 ? wish.memory : MemoryOfPart(wish.share.milli, device_memory);
}

std::vector<int> GrantShares(const std::vector<int>& asked) {
  const int64_t sum = std::accumulate(asked.begin(), asked.end(), int64_t{0});
  if (sum <= 0) return asked;
  std::vector<int> granted;
  int left = kWholeDevice;
  for (int milli : asked) {
    granted.push_back(static_cast<int>(int64_t{milli} * kWholeDevice / sum));
    left -= granted.back();
  }
  // The thousandths that rounding left go to those it took most from, the oldest first.
  std::vector<size_t> order(asked.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return int64_t{asked[a]} * kWholeDevice % sum > int64_t{asked[b]} * kWholeDevice % sum;
  });
  for (int i = 0; i < left; ++i) ++granted[order[i]];
  return granted;
}

}  // namespace ty
