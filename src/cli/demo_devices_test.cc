#include "cli/demo_devices.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

namespace ty {
namespace {

namespace json = boost::json;

class DemoDevicesTest : public testing::Test {
 protected:
  DemoDevicesTest() {
    char name[] = "/tmp/demo-devices-XXXXXX";
    folder_ = mkdtemp(name);
    machine_ = {folder_ + "/dev", folder_ + "/python"};
    std::filesystem::create_directory(machine_.nodes);
  }
  ~DemoDevicesTest() override { std::filesystem::remove_all(folder_); }

  void Make(std::initializer_list<const char*> nodes) {
    for (const char* node : nodes) std::ofstream(machine_.nodes + "/" + node) << "";
  }
  // A Python whose PyTorch does this.
  void Python(const std::string& script) {
    std::ofstream(machine_.python) << "#!/bin/sh\n" << script << "\n";
    chmod(machine_.python.c_str(), 0755);
  }
  std::string Choice() {
    const DemoDevices chosen = ChooseDemoDevices(machine_);
    EXPECT_EQ(chosen.gpus, chosen.why_not.empty());
    return chosen.gpus ? "gpus" : chosen.why_not.id;
  }

  std::string folder_;
  DemoMachine machine_;
};

TEST_F(DemoDevicesTest, TwoCardsThatPyTorchSeesAreTaken) {
  Make({"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"});
  Python("echo 2");
  EXPECT_EQ(Choice(), "gpus");
}

TEST_F(DemoDevicesTest, WhateverNumbersAContainerWasGiven) {
  Make({"nvidia2", "nvidia5", "nvidiactl"});
  Python("test \"$1\" = -c && test -z \"$CUDA_VISIBLE_DEVICES\" && echo 2");
  setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  EXPECT_EQ(Choice(), "gpus") << "what the shell hides binds no task";
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(DemoDevicesTest, WithoutTwoCardsPyTorchIsNotEvenAsked) {
  Make({"nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-modeset"});
  Python("touch " + folder_ + "/asked; echo 2");
  EXPECT_EQ(Choice(), "cli.demo.on_cpu");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/asked"));
  machine_.nodes += "/none";
  EXPECT_EQ(Choice(), "cli.demo.on_cpu");
}

TEST_F(DemoDevicesTest, ThosePyTorchCannotUseAreNotTakenAndItIsSaid) {
  Make({"nvidia0", "nvidia1"});
  for (const char* script : {"echo 1", "echo 0", "echo no torch", "exit 1"}) {
    Python(script);
    EXPECT_EQ(Choice(), "cli.demo.on_cpu_torch") << script;
  }
  machine_.python += "-that-is-not-there";
  EXPECT_EQ(Choice(), "cli.demo.on_cpu_torch");
}

json::array Devices(std::initializer_list<const char*> states) {
  json::array devices;
  for (const std::string state : states)
    devices.push_back({{"state", state}, {"usable", state == "free" || state == "leased"}});
  return devices;
}

TEST(BothFree, WantsBothOfThemAndNobodyOnThem) {
  EXPECT_TRUE(BothFree(Devices({"free", "free"})));
  for (const char* other : {"leased", "shared", "elsewhere", "foreign", "held", "lost", "unknown"})
    EXPECT_FALSE(BothFree(Devices({"free", other}))) << other;
  EXPECT_FALSE(BothFree(Devices({"free"})));
  EXPECT_FALSE(BothFree({}));
  json::array unusable = Devices({"free", "free"});
  unusable[1].as_object()["usable"] = false;
  EXPECT_FALSE(BothFree(unusable));
}

}  // namespace
}  // namespace ty
