#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/finding.h"
#include "msg/cli.h"
#include "msg/doctor.h"

namespace ty {
namespace {

using Level = Finding::Level;

std::vector<Finding> FindingsOf(const char* answer) {
  boost::json::value devices = boost::json::parse(answer);
  std::vector<Finding> findings;
  LookAtGpus(&devices, findings);
  return findings;
}

TEST(DoctorOnGpus, SaysWhatTheYardReadsOfThem) {
  auto findings =
      FindingsOf(R"json({"probe": {"state": "good", "driver": "550.54", "cuda": "12.4"}, "items": [
    {"id": "GPU-a", "kind": "gpu", "label": "GPU0", "usable": true, "state": "leased"}]})json");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].level, Level::kGood);
  EXPECT_EQ(findings[0].text.id, "doctor.gpus_read");
}

TEST(DoctorOnGpus, OnlyThoseThatCanBeGivenOutCount) {
  auto findings = FindingsOf(R"json({"probe": {"state": "good", "driver": "1", "cuda": "2"}, "items": [
    {"id": "a", "kind": "gpu", "label": "GPU0", "usable": false, "state": "lost", "reason": {"text": "Gone."}},
    {"id": "b", "kind": "gpu", "label": "GPU1", "usable": true, "state": "free"}]})json");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].text,
            Message(msg::DoctorGpusSome{.usable = 1, .all = 2, .driver = "1", .cuda = "2"}));
  EXPECT_EQ(findings[0].level, Level::kGood);
  EXPECT_EQ(findings[1].level, Level::kBad);
}

TEST(DoctorOnGpus, NoneToGiveOutIsNotGood) {
  auto findings = FindingsOf(R"json({"probe": {"state": "good", "driver": "1", "cuda": "2"}, "items": [
    {"id": "a", "kind": "gpu", "label": "GPU0", "usable": false, "state": "lost", "reason": {"text": "Gone."}}]})json");
  EXPECT_EQ(findings.at(0).text,
            Message(msg::DoctorGpusSome{.usable = 0, .all = 1, .driver = "1", .cuda = "2"}));
  EXPECT_EQ(findings.at(0).level, Level::kNote);
  findings = FindingsOf(R"json({"probe": {"state": "good", "driver": "1", "cuda": "2"}, "items": [
    {"id": "cpu:0", "kind": "cpu", "label": "cpu:0", "usable": true, "state": "free"}]})json");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].text, Message(msg::DoctorGpusUnlisted{.driver = "1", .cuda = "2"}));
  EXPECT_EQ(findings[0].level, Level::kNote);
}

TEST(DoctorOnGpus, ANumberWithoutACardIsToldAndNotCounted) {
  auto findings = FindingsOf(R"json({"probe": {"state": "good", "driver": "1", "cuda": "2"}, "items": [
    {"id": "a", "kind": "gpu", "label": "GPU0", "usable": true, "state": "free", "reading": {"health": "good"}},
    {"id": "pci:gpu5", "kind": "gpu", "label": "GPU5", "usable": false, "state": "unknown",
     "reading": {"health": "absent"}, "reason": {"text": "There is no GPU5."}}]})json");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].text, Message(msg::DoctorGpusRead{.count = 1, .driver = "1", .cuda = "2"}));
  EXPECT_EQ(findings[1].text, Message(msg::CliText{.text = "There is no GPU5."}));
}

TEST(DoctorOnGpus, EachTroubleOfTheLibraryHasTheCommandThatMendsIt) {
  EXPECT_EQ(MendOfProbe("mismatch", "debian", ""), "sudo reboot");
  EXPECT_EQ(MendOfProbe("no_permission", "debian", "video"), "sudo usermod -aG video $USER");
  EXPECT_EQ(MendOfProbe("no_permission", "debian", "ops"), "ls -l /dev/nvidia*");
  EXPECT_EQ(MendOfProbe("no_permission", "debian", ""), "ls -l /dev/nvidia*");
  EXPECT_EQ(MendOfProbe("no_library", "debian", ""), "sudo apt install nvidia-driver");
  EXPECT_EQ(MendOfProbe("no_library", "ubuntu", ""), "sudo ubuntu-drivers install");
  EXPECT_EQ(MendOfProbe("no_driver", "arch", ""), "sudo modprobe nvidia");
  EXPECT_NE(MendOfProbe("hanging", "debian", "").find("dmesg"), std::string::npos);
  EXPECT_EQ(MendOfProbe("failing", "debian", ""), "nvidia-smi");
  auto findings =
      FindingsOf(R"json({"probe": {"state": "mismatch", "reason": {"text": "Updated."}}, "items": [
    {"id": "pci:1", "kind": "gpu", "label": "GPU0", "usable": false, "state": "unknown", "reason": null}]})json");
  ASSERT_EQ(findings.size(), 1u);  // the card is not told once more
  EXPECT_EQ(findings[0].level, Level::kBad);
  EXPECT_EQ(findings[0].mend, "sudo reboot");
}

TEST(DoctorOnGpus, CardsOutOfServiceAreNamedWithTheWayBack) {
  auto findings = FindingsOf(R"json({"probe": {"state": "good", "driver": "1", "cuda": "2"}, "items": [
    {"id": "a", "kind": "gpu", "label": "GPU0", "usable": false, "state": "quarantined", "reason": {"text": "ECC."}},
    {"id": "b", "kind": "gpu", "label": "GPU1", "usable": false, "state": "lost", "reason": {"text": "Gone."}},
    {"id": "c", "kind": "gpu", "label": "GPU2", "usable": false, "state": "held", "reason": {"text": "Held."}}]})json");
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[1].mend, "trainyard devices release GPU0");
  EXPECT_EQ(findings[1].level, Level::kBad);
  EXPECT_EQ(findings[2].level, Level::kBad);
  EXPECT_NE(findings[2].mend.find("dmesg"), std::string::npos);
  EXPECT_EQ(findings[3].level, Level::kNote);
}

TEST(DoctorOnGpus, WhatIsToBeRunMendsWhatIsSaid) {
  auto findings = FindingsOf(R"json({"probe": {"state": "good", "driver": "1", "cuda": "2"}, "items": [
    {"id": "GPU-a", "kind": "gpu", "label": "GPU0", "usable": false, "state": "quarantined",
     "reason": {"id": "device.memory_held", "text": "Held by nobody."}},
    {"id": "GPU-b", "kind": "gpu", "label": "GPU1", "usable": false, "state": "quarantined",
     "reason": {"id": "device.ecc", "text": "ECC."}},
    {"id": "GPU-c", "kind": "gpu", "label": "GPU2", "usable": false, "state": "quarantined",
     "reason": {"id": "device.xid", "text": "XID."}},
    {"id": "GPU-d", "kind": "gpu", "label": "GPU3", "usable": false, "state": "quarantined",
     "reason": {"id": "device.unkillable", "text": "Wait."}},
    {"id": "MIG-e", "kind": "mig", "label": "GPU4:0", "usable": false, "state": "quarantined",
     "reason": {"id": "device.memory_held", "text": "Held by nobody."}},
    {"id": "GPU-f", "kind": "gpu", "label": "GPU5", "usable": false, "state": "foreign",
     "reason": {"id": "device.foreign", "text": "Ann."}}]})json");
  ASSERT_EQ(findings.size(), 7u);
  EXPECT_EQ(findings[1].mend, "sudo nvidia-smi --gpu-reset -i GPU-a && trainyard devices release GPU0");
  EXPECT_EQ(findings[2].mend, "sudo nvidia-smi --gpu-reset -i GPU-b && trainyard devices release GPU1");
  EXPECT_EQ(findings[3].mend, "trainyard devices release GPU2");
  EXPECT_EQ(findings[4].mend, "");
  EXPECT_EQ(findings[5].mend, "trainyard devices release GPU4:0");
  EXPECT_EQ(findings[6].mend, "trainyard devices release GPU5");
  EXPECT_EQ(findings[6].level, Level::kNote);
}

}  // namespace
}  // namespace ty
