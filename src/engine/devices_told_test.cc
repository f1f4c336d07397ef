// What the folder of a run tells of its devices, whatever version made it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/json.hpp>

#include "engine/local/devices_told.h"
#include "model/outcome.h"
#include "msg/head.h"
#include "posix/files.h"

namespace ty {
namespace {

using Devices = std::vector<std::string>;

class DevicesToldTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* base = ::getenv("TMPDIR");
    folder_ = std::string(base != nullptr ? base : "/tmp") + "/devices_told.XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { EXPECT_TRUE(RemoveTree(folder_)); }

  std::optional<Devices> Told(const wire::ShimSpec& spec) const {
    return DevicesTold(spec, AttemptPaths{folder_});
  }
  void WriteHead(const Message& message) const {
    const std::string text = boost::json::serialize(boost::json::array{ToJson(message)});
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, AttemptPaths{folder_}.Head().c_str(), text));
  }

  std::string folder_;
};

TEST_F(DevicesToldTest, AreThoseOfTheSpecWhereItNamesThem) {
  wire::ShimSpec spec;
  spec.environment = {"CUDA_VISIBLE_DEVICES=0"};
  spec.devices = Devices{"cpu:0", "GPU-1"};
  EXPECT_EQ(Told(spec), spec.devices);
  spec.devices = Devices{};
  EXPECT_EQ(Told(spec), Devices{}) << "none, and known to be none";
}

TEST_F(DevicesToldTest, OfAnOlderSpecStandInTheHeadOfTheLogAndInItsVariables) {
  wire::ShimSpec spec;
  spec.environment = {"A=b", "CUDA_VISIBLE_DEVICES="};
  EXPECT_EQ(Told(spec), std::nullopt) << "nothing says";
  WriteHead(msg::HeadDevices{.count = 2, .devices = "cpu:0, cpu:3"});
  EXPECT_EQ(Told(spec), (Devices{"cpu:0", "cpu:3"}));
  WriteHead(msg::HeadCores{.cores = 2});
  EXPECT_EQ(Told(spec), Devices{});
  WriteHead(msg::HeadGpus{.count = 2, .names = "A", .labels = "GPU0, GPU1"});
  spec.environment = {"CUDA_VISIBLE_DEVICES=GPU-1,MIG-2"};
  EXPECT_EQ(Told(spec), (Devices{"GPU-1", "MIG-2"}));
}

}  // namespace
}  // namespace ty
