// Share and Lease: how much of a device an attempt may use (contracts C6), and the nouns around it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace ty {

// whole: nobody else of the yard. together: side by side, memory watched, compute not divided. turns: one of
// the sharers runs at a time, the others are frozen.
enum class ShareMode : uint8_t { kWhole, kTogether, kTurns };
std::string_view Name(ShareMode mode);  // "whole", "together", "turns"
std::optional<ShareMode> ParseShareMode(std::string_view name);

constexpr int kWholeDevice = 1000;

struct Share {
  int milli = kWholeDevice;  // thousandths of each device, 1 to 1000; below 1000 in the modes that share
  ShareMode mode = ShareMode::kWhole;
  Duration slice = seconds(30);  // kTurns: how long one goes on before the next, 1 s to 1 h

  bool operator==(const Share&) const = default;
  // The --share grammar: "0.5" and "0.5:together", "0.5:turns", "0.5:turns:3s"; "1" is a whole device. At
  // most three decimals.
  static Result<Share> Parse(std::string_view text);
  std::string Text() const;  // "" for a whole device, else as Parse takes it
};

// What a task wants of its devices besides their number.
struct DeviceWish {
  Share share;
  int64_t memory = 0;      // bytes of device memory, 0 when not said: a floor for a whole device, the amount
                           // of a share (else share x device)
  bool exclusive = false;  // nobody else at all on the device: no desktop, no process from outside the yard
  bool ranks = false;      // one process per device (contracts C16)
  bool operator==(const DeviceWish&) const = default;
};

// The right of one attempt to a device or a part of it. Asked is what the task wanted; granted is what it has
// now: more while others leave room (time only; memory never grows).
struct Lease {
  Ulid attempt;
  std::string device;
  int share_milli = kWholeDevice;  // granted; those of a device are never above 1000 in sum
  int asked_milli = kWholeDevice;
  ShareMode mode = ShareMode::kWhole;
  int64_t memory = 0;  // bytes of device memory it may use; 0: not counted
  Duration slice = seconds(30);
  bool operator==(const Lease&) const = default;
};

}  // namespace ty
