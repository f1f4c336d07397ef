#include "cli/device_text.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <boost/json.hpp>

#include "base/text.h"

namespace ty {
namespace {

namespace json = boost::json;

// Two cards: one shared in turns by two tasks, one taken by somebody's process.
constexpr const char* kAnswer = R"json({
 "probe": {"state": "good", "reason": null, "driver": "550.54.14", "cuda": "12.4"},
 "next": null,
 "items": [
  {"id": "GPU-aaaa", "kind": "gpu", "index": 0, "label": "GPU0", "name": "NVIDIA GeForce RTX 3080", "cpus": [],
   "memory": {"total": 10737418240, "used": 8482560410}, "state": "shared", "usable": true, "reason": null,
   "held_until": null, "out_since": null, "elsewhere": null, "processes": [],
   "leases": [
    {"task": 12, "task_name": "digits", "attempt": 1, "since": "2020-11-30T09:12:00.000Z", "share": 0.5,
     "asked": 0.5, "mode": "turns", "memory": 5368709120, "used": 4294967296, "frozen": false},
    {"task": 13, "task_name": "chars", "attempt": 2, "since": "2020-11-30T09:14:00.000Z", "share": 0.5,
     "asked": 0.25, "mode": "turns", "memory": null, "used": null, "frozen": true}],
   "reading": {"at": "2020-11-30T09:15:00.000Z", "health": "good", "utilisation": 0.931, "temperature_c": 71,
    "power_w": 320.4, "throttle": ["power_cap", "hw_slowdown"]}},
  {"id": "GPU-bbbb", "kind": "gpu", "index": 1, "label": "GPU1", "name": "NVIDIA GeForce RTX 3080", "cpus": [],
   "memory": {"total": 10737418240, "used": 524288000}, "state": "foreign", "usable": false,
   "reason": {"id": "x.y", "args": {}, "text": "GPU1 is used by process 4711 of ann, which is not a task of this yard. It is given out when that has ended; to use it all the same: trainyard devices release GPU1"},
   "held_until": null, "out_since": null, "elsewhere": null, "leases": [],
   "processes": [
    {"pid": 4711, "type": "compute", "memory": 6442450944, "user": "ann", "command": "python\u001b[31m train.py",
     "since": "2020-11-30T08:00:00.000Z", "task": null, "foreign": true},
    {"pid": 4712, "type": "compute", "memory": null, "user": null, "command": null, "since": null, "task": null,
     "foreign": true},
    {"pid": 900, "type": "graphics", "memory": 1048576, "user": "root", "command": "Xorg", "since": null,
     "task": null, "foreign": false}],
   "reading": {"at": "2020-11-30T09:15:00.000Z", "health": "good", "utilisation": 0, "temperature_c": 41,
    "power_w": null, "throttle": []}}]})json";

class DevicesList : public ::testing::Test {
 protected:
  DevicesList() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  ~DevicesList() override {
    unsetenv("TZ");
    tzset();
  }
  std::string Text(const char* answer = kAnswer) { return DevicesTable(caller_, json::parse(answer)); }
  Caller caller_;
};

TEST_F(DevicesList, SaysWhoUsesEachCardSinceWhen) {
  EXPECT_EQ(
      Text(),
      "DEVICE  NAME                     LOAD      MEMORY  TEMP  POWER  STATE\n"
      "GPU0    NVIDIA GeForce RTX 3080   93%  7.9/10 GiB  71°C  320 W  shared\n"
      "        task 12 (digits), 0.5 of it in turns, 4 GiB of 5 GiB, since 2020-11-30 09:12\n"
      "        task 13 (chars), 0.5 of it in turns, 0.25 asked, awaits its turn, since 2020-11-30 09:14\n"
      "        slowed down: hw slowdown\n"
      "GPU1    NVIDIA GeForce RTX 3080    0%  0.5/10 GiB  41°C         used from outside\n"
      "        GPU1 is used by process 4711 of ann, which is not a task of this yard. It is given out when "
      "that "
      "has ended; to use it all the same: trainyard devices release GPU1\n"
      "        process 4711 of ann, 6 GiB, since 2020-11-30 08:00: python\\x1b[31m train.py\n"
      "        process 4712, whose owner cannot be seen from here\n"
      "\n"
      "Driver 550.54.14, CUDA 12.4\n");
}

TEST_F(DevicesList, FitsEightyColumnsWithoutLosingASentence) {
  caller_.width = 80;
  std::string text = Text();
  for (size_t start = 0; start < text.size(); start = text.find('\n', start) + 1)
    EXPECT_LE(DisplayWidth(text.substr(start, text.find('\n', start) - start)), 80);
  EXPECT_NE(text.find("GPU0    GeForce RTX 3080 "), std::string::npos) << text;  // the maker gives way
  EXPECT_NE(text.find("trainyard\n        devices release GPU1\n"), std::string::npos) << text;
}

TEST_F(DevicesList, SpeaksChinese) {
  caller_.language = Language::kChinese;
  std::string text = Text();
  EXPECT_NE(text.find("共享中"), std::string::npos);
  EXPECT_NE(text.find("任务 12（digits），份额 0.5（轮流）"), std::string::npos) << text;
}

TEST_F(DevicesList, CpuSlotsHaveNoEmptyColumns) {
  EXPECT_EQ(Text(R"json({"probe": {"state": "none", "reason": null}, "items": [
    {"id": "cpu:0", "kind": "cpu", "label": "cpu:0", "name": "CPU slot 0", "cpus": [0, 1, 2, 8],
     "memory": {"total": 1073741824, "used": null}, "state": "free", "usable": true, "reason": null, "leases": [],
     "reading": null, "processes": null, "elsewhere": null}]})json"),
            "DEVICE  NAME        CPU    MEMORY  STATE\n"
            "cpu:0   CPU slot 0  0-2,8   1 GiB  free\n");
}

TEST_F(DevicesList, WhatKeepsTheCardsFromBeingReadStandsOnTop) {
  std::string text = Text(R"json({"probe": {"state": "mismatch", "reason":
    {"id": "x.y", "args": {}, "text": "The driver was updated. Restart the machine: sudo reboot"}},
    "items": [{"id": "pci:0000:01:00.0", "kind": "gpu", "label": "GPU0", "name": "NVIDIA card", "cpus": [],
     "memory": {"total": 0, "used": null}, "state": "unknown", "usable": false, "reason":
     {"id": "x.y", "args": {}, "text": "The driver was updated. Restart the machine: sudo reboot"},
     "out_since": "2020-11-30T09:00:00.000Z", "leases": [], "reading": null}]})json");
  EXPECT_EQ(text.substr(0, text.find('\n')), "! The driver was updated. Restart the machine: sudo reboot");
  EXPECT_EQ(text.find("sudo reboot", text.find('\n')), std::string::npos) << text;  // and is not repeated
  EXPECT_NE(text.find("out of service since 2020-11-30 09:00"), std::string::npos) << text;
}

TEST_F(DevicesList, ATaskWithoutALeaseIsNotFromOutside) {
  std::string text = Text(R"json({"probe": {"state": "good"}, "items": [
    {"id": "GPU-a", "kind": "gpu", "label": "GPU0", "name": "A", "memory": {"total": 0}, "state": "foreign",
     "usable": false, "reason": {"id": "x.y", "args": {}, "text": "GPU0 is used by task 8."},
     "processes": [{"pid": 7, "type": "compute", "task": 8, "foreign": true}]}]})json");
  EXPECT_NE(text.find("used without a lease"), std::string::npos) << text;
  EXPECT_EQ(text.find("outside"), std::string::npos) << text;
}

TEST_F(DevicesList, AnotherYardsTaskIsNamed) {
  std::string text = Text(R"json({"probe": {"state": "good"}, "items": [
    {"id": "GPU-a", "kind": "gpu", "label": "GPU0", "name": "A", "memory": {"total": 0}, "state": "elsewhere",
     "usable": false, "reason": null, "elsewhere": {"user": "bob", "task": 7, "task_name": "llm",
     "since": "2020-11-30T09:00:00.000Z"}}]})json");
  EXPECT_NE(text.find("of bob: task 7 (llm), since 2020-11-30 09:00"), std::string::npos) << text;
}

TEST(DeviceLabels, StandForIdsAndUnknownOnesAreCutShort) {
  json::value answer = json::parse(kAnswer);
  DeviceLabels labels(answer.at("items").as_array());
  EXPECT_EQ(labels.Of("GPU-bbbb"), "GPU1");
  EXPECT_EQ(labels.Of("cpu:0"), "cpu:0");
  EXPECT_EQ(labels.Of("GPU-8f3a2c10-1111-2222"), "GPU-8f3a2c10…");
}

TEST(DeviceLabels, ManyInARowAreDrawnTogether) {
  EXPECT_EQ(LabelsText({"GPU0", "GPU1", "GPU2", "GPU3", "GPU6"}), "GPU0-3 GPU6");
  EXPECT_EQ(LabelsText({"cpu:0", "cpu:1"}, ", "), "cpu:0, cpu:1");
  EXPECT_EQ(LabelsText({"GPU8", "GPU9", "GPU10", "GPU12"}), "GPU8-10 GPU12");
  EXPECT_EQ(LabelsText({"GPU0/1", "GPU0/2", "GPU1/3"}), "GPU0/1 GPU0/2 GPU1/3");
  EXPECT_EQ(LabelsText({}), "");
}

}  // namespace
}  // namespace ty
