// Sorted by what NVIDIA's catalogue asks for at once ("Analyzing Xid Errors with the Xid Catalog"):
// RESET_GPU, RESTART_BM and CHECK_MECHANICALS are hardware to us, IGNORE without a program at fault is
// harmless, all else is the program's. The catalogue resets the card for 109 (context switch time-out) too;
// NVIDIA's own device plugin for Kubernetes counts it as the program's fault, and so do we: a kernel that
// never ends is its most frequent cause, and a card that is really stuck says RESET_REQUIRED to the next
// look.
#include <algorithm>
#include <iterator>

#include "os/device_watch.h"

namespace ty {

namespace {

constexpr int64_t kHardwareXids[] = {
    46,   // GPU stopped processing
    48,   // double bit ECC error
    54,   // auxiliary power is not connected
    57,   // link training of the frame buffer failed
    58,   // memory error of the frame buffer
    61,   // internal micro-controller breakpoint
    62,   // internal micro-controller halt
    64,   // a row or page could not be retired
    74,   // NVLink
    79,   // fell off the bus
    95,   // uncontained memory error
    110,  // security fault
    119,  // GSP does not answer
    120,  // GSP error
    136,  // link training
    140,  // ECC error that could not be recovered
    143,  // initialisation
    149,  // NVLink: link down
    150,  // NVLink: management
    156,  // resource retired, in use after a reset
    158,  // fatal time-out
    167,  // PCIe: fatal time-out
    168,  // reduced memory
    169,  // internal micro-controller halt
    171,  // uncorrectable DRAM error
    172,  // uncorrectable SRAM error
};

constexpr int64_t kHarmlessXids[] = {
    37,  38,                  // firmware warnings of the driver
    44,                       // fault while switching context, handled
    63,                       // row remapped or page retired
    66,  67,                  // illegal access by the driver, refused
    92,                       // many corrected ECC errors
    93,                       // wear limit of the InfoROM
    106, 107,                 // test messages
    108,                      // unused, sent by some
    121,                      // corrected errors of the link to the CPU
    144, 145, 146, 147, 148,  // NVLink: the fatal ones come with 48 as well
    154,                      // sums up another XID
    157, 160, 161,            // retirement of resources and channels
    162, 163, 164, 165,       // power smoothing
};

template <size_t kSize>
constexpr bool Holds(const int64_t (&list)[kSize], int64_t xid) {
  return std::find(std::begin(list), std::end(list), xid) != std::end(list);
}

}  // namespace

XidClass ClassOfXid(int64_t xid) {
  if (Holds(kHardwareXids, xid)) return XidClass::kHardware;
  if (Holds(kHarmlessXids, xid)) return XidClass::kHarmless;
  return XidClass::kApplication;
}

}  // namespace ty
