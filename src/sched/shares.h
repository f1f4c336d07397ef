// What a share of a device comes to, in memory and in time (contracts C6). Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "model/lease.h"

namespace ty {

// Bytes that a part of so many thousandths is of a device; 0 when nobody knows its memory.
int64_t MemoryOfPart(int milli, int64_t device_memory);
// The memory of a lease that this wish makes on the device: what was said, else its part of the device; 0,
// not counted, for a whole device, which has no others to be counted against.
int64_t MemoryOfLease(const DeviceWish& wish, int64_t device_memory);

// Thousandths granted to the sharers of a device, given what each asked for in order of their age: what is
// left over is given in proportion to what was asked. The sum is exactly 1000, whoever is there.
std::vector<int> GrantShares(const std::vector<int>& asked);

}  // namespace ty
