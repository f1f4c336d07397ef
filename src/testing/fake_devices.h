// GPUs, host leases and a watch that exist only in a test.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "os/device_watch.h"
#include "os/host_leases.h"

namespace ty {

// "GPU-0…" with 24 GiB, the first one stronger than the next.
Device FakeGpu(int index, int64_t memory = int64_t{24} << 30);

class FakeWatch final : public DeviceWatch {
 public:
  void Want(WatchWish wanted) override { wish = std::move(wanted); }
  void LookNow() override { looks++; }

  WatchWish wish;
  int looks = 0;
};

// What others of this host have; ours are always given.
class FakeHost final : public HostLeases {
 public:
  HostClaim Claim(const std::string& device, bool shared, bool ours, const HostNote& note) override;
  bool Leave(const std::string& device) override;
  HostHolder WhoHasGate(const std::string& device) override { return gates[device]; }

  std::map<std::string, HostHolder> others;
  int again = 0;                            // so many claims find the gate busy
  std::map<std::string, HostHolder> gates;  // these do, always
  bool left_behind = false;                 // something of ours still has what we leave
  std::vector<std::string> claimed, left;
};

}  // namespace ty
