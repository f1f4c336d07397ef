#include "sched/shares.h"

#include <gtest/gtest.h>

#include <numeric>

namespace ty {
namespace {

using Parts = std::vector<int>;

TEST(Shares, ACardIsOfTheSizeItIsSoldAs) {
  const auto nominal_gib = [](int64_t mib) { return NominalMemory(mib << 20) >> 30; };
  // Figures of nvidia-smi.
  EXPECT_EQ(nominal_gib(8192), 8);      // RTX 3070
  EXPECT_EQ(nominal_gib(10240), 10);    // RTX 3080
  EXPECT_EQ(nominal_gib(11178), 11);    // GTX 1080 Ti
  EXPECT_EQ(nominal_gib(11264), 11);    // RTX 2080 Ti
  EXPECT_EQ(nominal_gib(15109), 16);    // T4, ECC, an older driver
  EXPECT_EQ(nominal_gib(15360), 16);    // T4, ECC
  EXPECT_EQ(nominal_gib(16160), 16);    // V100
  EXPECT_EQ(nominal_gib(16376), 16);    // RTX 4080
  EXPECT_EQ(nominal_gib(22731), 24);    // A10G, ECC
  EXPECT_EQ(nominal_gib(23034), 24);    // L4, ECC
  EXPECT_EQ(nominal_gib(24564), 24);    // RTX 4090
  EXPECT_EQ(nominal_gib(24576), 24);    // RTX 3090
  EXPECT_EQ(nominal_gib(32607), 32);    // RTX 5090
  EXPECT_EQ(nominal_gib(40326), 40);    // A100, an older driver
  EXPECT_EQ(nominal_gib(40960), 40);    // A100
  EXPECT_EQ(nominal_gib(46068), 48);    // L40S, ECC
  EXPECT_EQ(nominal_gib(49140), 48);    // RTX 6000 Ada
  EXPECT_EQ(nominal_gib(81559), 80);    // H100
  EXPECT_EQ(nominal_gib(95830), 94);    // H100 NVL
  EXPECT_EQ(nominal_gib(143771), 141);  // H200
  EXPECT_EQ(nominal_gib(4864), 5);      // MIG 1g.5gb
  EXPECT_EQ(nominal_gib(9728), 10);     // MIG 1g.10gb
  EXPECT_EQ(nominal_gib(19968), 20);    // MIG 2g.20gb
  EXPECT_EQ(NominalMemory(0), 0) << "nobody knows";
}

TEST(Shares, OneAloneIsGrantedTheWholeDevice) {
  EXPECT_EQ(GrantShares({500}), Parts({1000}));
  EXPECT_EQ(GrantShares({1}), Parts({1000}));
  EXPECT_EQ(GrantShares({}), Parts({}));
}

TEST(Shares, WhatIsLeftOverIsGivenInProportion) {
  EXPECT_EQ(GrantShares({500, 500}), Parts({500, 500}));
  EXPECT_EQ(GrantShares({250, 500}), Parts({333, 667}));
  EXPECT_EQ(GrantShares({200, 300}), Parts({400, 600}));
}

TEST(Shares, TheThousandthsOfRoundingGoToTheOldest) {
  EXPECT_EQ(GrantShares({100, 100, 100}), Parts({334, 333, 333}));
  EXPECT_EQ(GrantShares({1, 1, 1, 1, 1, 1}), Parts({167, 167, 167, 167, 166, 166}));
}

TEST(Shares, TheSumIsExactAndNobodyGetsLessThanAsked) {
  for (int a = 1; a < 1000; a += 7) {
    for (int b = 1; a + b <= 1000; b += 13) {
      const Parts asked = {a, b, 1000 - a - b > 0 ? (1000 - a - b + 1) / 2 : 1};
      if (std::accumulate(asked.begin(), asked.end(), 0) > 1000) continue;
      const Parts granted = GrantShares(asked);
      ASSERT_EQ(std::accumulate(granted.begin(), granted.end(), 0), 1000);
      for (size_t i = 0; i < asked.size(); ++i) ASSERT_GE(granted[i], asked[i]);
    }
  }
}

TEST(Shares, MemoryOfALeaseIsWhatWasSaidElseItsPart) {
  DeviceWish wish;
  EXPECT_EQ(MemoryOfLease(wish, 80'000), 0) << "a whole device is not counted";
  wish.share = {250, ShareMode::kTogether};
  EXPECT_EQ(MemoryOfLease(wish, 80'000), 20'000);
  EXPECT_EQ(MemoryOfLease(wish, 0), 0) << "nobody knows";
  wish.memory = 5'000;
  EXPECT_EQ(MemoryOfLease(wish, 80'000), 5'000);
}

TEST(Shares, PartsOfADeviceNeverExceedIt) {
  for (int64_t memory : {int64_t{999}, int64_t{85'899'345'919}, int64_t{1} << 60}) {
    EXPECT_LE(3 * MemoryOfPart(333, memory) + MemoryOfPart(1, memory), memory);
    EXPECT_EQ(MemoryOfPart(1000, memory), memory);
  }
}

}  // namespace
}  // namespace ty
