// Which two devices the demo runs on: two GPUs where there are two, PyTorch sees them and both are free; else
// two CPU slots.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "base/message.h"

namespace ty {

inline constexpr const char* kDemoPython = "/usr/bin/python3";  // the recipes'
inline constexpr const char* kDemoGpus = "gpu:0,1";             // as --devices takes it
inline constexpr const char* kDemoSlots = "cpu:2";

struct DemoDevices {
  bool gpus = false;
  Message why_not;  // one line about the CPU slots
};

// Where it is looked.
struct DemoMachine {
  std::string nodes = "/dev";  // the folder of the driver's nvidia0, nvidia1, …
  std::string python = kDemoPython;
};

// A cheap look at the machine first; PyTorch is asked only where there are two GPUs, and not for ever.
DemoDevices ChooseDemoDevices(const DemoMachine& machine = {});

// Whether a yard on two GPUs could give out both now: `devices` as the API gives them.
bool BothFree(const boost::json::array& devices);

}  // namespace ty
