// What a share of a device comes to, in memory and in time (contracts C6). Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "model/lease.h"

namespace ty {

// What a card is sold as: its memory in whole GiB, rounded up, for cards tell a little less (24564 MiB of 24
// GiB, 81559 MiB of 80 GiB). Cards that keep their ECC bits in their own memory tell a sixteenth less (23034
// MiB of 24 GiB). A floor asked for a whole card is held against this; what a share gets never is.
int64_t NominalMemory(int64_t memory);
// Bytes that a part of so many thousandths is of a device; 0 when nobody knows its memory.
int64_t MemoryOfPart(int milli, int64_t device_memory);
// The memory of a lease that this wish makes on the device: what was said, else its part of the device; 0,
// not counted, for a whole device, which has no others to be counted against.
int64_t MemoryOfLease(const DeviceWish& wish, int64_t device_memory);

// Thousandths granted to the sharers of a device, given what each asked for in order of their age: what is
// left over is given in proportion to what was asked. The sum is exactly 1000, whoever is there.
std::vector<int> GrantShares(const std::vector<int>& asked);

}  // namespace ty
