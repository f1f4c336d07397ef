#include <gtest/gtest.h>

#include <random>

#include "wire/control.h"
#include "wire/crc32c.h"
#include "wire/decision.h"
#include "wire/json.h"
#include "wire/slot.h"
#include "wire/spec.h"

namespace ty::wire {
namespace {

constexpr char kUlid[] = "01JD8Z5V7M3T9QK2W6XN4RB0CE";

SlotRecord Exited() {
  SlotRecord record;
  record.sequence = 2;
  record.attempt = kUlid;
  record.state = SlotState::kExited;
  record.pid = 4242;
  record.start = 918273;
  record.began_ns = 1'764'490'000'000'000'000;
  record.ended_ns = 1'764'490'007'000'000'000;
  record.signal = 9;
  record.core_dumped = true;
  record.stopped_by = StoppedBy::kTimeLimit;
  record.killed = true;
  record.oom_kills = 3;
  record.oom_kills_nearby = 2;
  record.oom_counted = true;
  record.core_dumped = true;
  record.core_file = "/work/core.4243";
  record.cpu_ms = 12345;
  return record;
}

ShimSpec Spec() {
  ShimSpec spec;
  spec.attempt = kUlid;
  spec.task = 12;
  spec.number = 2;
  spec.uid = 1000;
  spec.boot = "3f0e";
  spec.argv = {"/bin/echo", "", "-n", "a b", "\"'$*\n", "\xff\xfe raw", "🚂", std::string("\x01")};
  spec.workdir = "/tmp/caf\xe9";
  spec.environment = {"A=1", "B=\x80", "C="};
  spec.cpus = {0, 3};
  spec.time_limit_ms = 5400'000;
  spec.containment = "cgroup2";
  spec.cgroup = "/sys/fs/cgroup/trainyard-x/a-1";
  return spec;
}

TEST(Crc32c, HasTheKnownCheckValue) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(Crc32cText(""), "00000000");
}

TEST(Crc32c, IsTheSameBitByBitForAnyLengthAndPlace) {
  std::string bytes;
  for (int i = 0; i < 64; ++i) bytes += static_cast<char>(i * 37 + 11);
  for (size_t begin = 0; begin < 16; ++begin) {
    for (size_t size = 0; begin + size <= bytes.size(); ++size) {
      const std::string_view part = std::string_view(bytes).substr(begin, size);
      uint32_t crc = ~0U;
      for (const char c : part) {
        crc ^= static_cast<uint8_t>(c);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
      }
      ASSERT_EQ(Crc32c(part), ~crc);
    }
  }
}

TEST(Json, WritesAndReadsBackEveryKind) {
  const char* text =
      R"({"a":[1,-9223372036854775808,9223372036854775807,true,false,null],"b":{"c":"\u0001\"\\\n火"}})";
  const auto json = Parse(text);
  ASSERT_TRUE(json);
  EXPECT_EQ(Write(*json), text);
}

TEST(Json, ReadsEscapes) {
  EXPECT_EQ(*Parse(R"("\u00e9\ud83d\ude82\/\b\f\r\t")")->AsText(), "é🚂/\b\f\r\t");
}

TEST(Json, RefusesWhatIsNotStrict) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[1,]",
                           "[1 2]",
                           "{\"a\":1,}",
                           "{\"a\":1,\"a\":2}",
                           "{a:1}",
                           "01",
                           "1.5",
                           "1e3",
                           "-",
                           "+1",
                           "nul",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\xff\"",
                           "\"\n\"",
                           "\"open",
                           "1 1",
                           "9223372036854775808",
                           "'a'"}) {
    EXPECT_FALSE(Parse(text)) << text;
  }
  EXPECT_FALSE(Parse(std::string(100'000, '[')));
  EXPECT_TRUE(Parse(" [ 1 , { } ] "));
}

TEST(Json, CarriesBytesThatAreNoText) {
  const std::string bytes = "\xff\x00\xfe raw";
  EXPECT_EQ(Write(FromBytes("plain")), "\"plain\"");
  EXPECT_EQ(ToBytes(*Parse(Write(FromBytes(bytes)))), bytes);
  EXPECT_FALSE(ToBytes(*Parse(R"({"base64":"%%"})")));
  EXPECT_FALSE(ToBytes(*Parse(R"({"other":"YQ=="})")));
  EXPECT_FALSE(ToBytes(Json(7)));
}

TEST(Slot, GivesBackWhatWasWritten) {
  const std::string half = EncodeSlotHalf(Exited());
  EXPECT_EQ(half.size(), kSlotHalf);
  EXPECT_EQ(half.back(), '\n');
  EXPECT_EQ(DecodeSlotHalf(half), Exited());

  SlotRecord failed = Exited();
  failed.signal.reset();
  failed.exec_errno = 2;
  failed.exec_step = "chdir";
  EXPECT_EQ(DecodeSlotHalf(EncodeSlotHalf(failed)), failed);
}

TEST(Slot, GivesBackHowEachRankEnded) {
  SlotRecord record = Exited();
  record.signal.reset();
  record.exit_code = 3;
  record.failed_rank = 2;
  record.ranks = {{0, {}}, {{}, 15}, {3, {}}, {{}, {}}, {255, {}}, {{}, 64}};
  EXPECT_EQ(DecodeSlotHalf(EncodeSlotHalf(record)), record);
  EXPECT_NE(Write(ToJson(record)).find(R"("ranks":[0,-15,3,null,255,-64],"failed_rank":2)"),
            std::string::npos);
}

TEST(Slot, GivesBackTheFirstProcessOfEachRank) {
  SlotRecord record = Exited();
  record.state = SlotState::kRunning;
  record.others = {{4243, 918274}, {77, 918273}};
  const auto read = DecodeSlotHalf(EncodeSlotHalf(record));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->others, record.others);
  EXPECT_NE(Write(ToJson(record)).find(R"("others":[4243,1,77,0])"), std::string::npos);
}

TEST(Slot, HasRoomForAsManyRanksAsASpecMayHave) {
  SlotRecord record = Exited();
  record.ranks.assign(kMostRanks, {{}, 15});
  record.others.assign(kMostRanks - 1, {4'194'304, record.start + 999'999'999});
  EXPECT_EQ(DecodeSlotHalf(EncodeSlotHalf(record))->ranks, record.ranks);
  record.state = SlotState::kRunning;
  EXPECT_EQ(DecodeSlotHalf(EncodeSlotHalf(record))->others, record.others);
}

TEST(Slot, ReadsTheRecordsOfSupervisorsThatKnewNoRanks) {
  const auto record = SlotRecordFrom(*Parse(
      R"({"format":1,"seq":2,"attempt":"01JD8Z5V7M3T9QK2W6XN4RB0CE","state":"exited","pid":7,"start":9,)"
      R"("began_ns":1,"ended_ns":2,"exit_code":7,"stopped_by":"nobody","oom_kills":0,"cpu_ms":3})"));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->exit_code, 7);
  EXPECT_TRUE(record->ranks.empty());
  EXPECT_TRUE(record->others.empty());
  EXPECT_FALSE(record->failed_rank);
}

TEST(Slot, RefusesRanksThatAreNone) {
  for (const char* ranks : {R"("ranks":7)", R"("ranks":["0"])", R"("ranks":[100000])", R"("others":[7])",
                            R"("others":[7,"x"])", R"("failed_rank":"x")"}) {
    std::string text = Write(ToJson(Exited()));
    text.insert(text.size() - 1, std::string(",") + ranks);
    EXPECT_FALSE(SlotRecordFrom(*Parse(text))) << ranks;
  }
}

TEST(Slot, WritesTheHalvesInTurn) {
  EXPECT_EQ(SlotOffset(1), 4096);
  EXPECT_EQ(SlotOffset(2), 0);
}

TEST(Slot, ReadsTheNewestHalf) {
  SlotRecord running = Exited();
  running.state = SlotState::kRunning;
  running.sequence = 1;
  const std::string zeros(kSlotHalf, '\0');
  EXPECT_EQ(ReadSlot(EncodeSlotHalf(Exited()) + EncodeSlotHalf(running)).newest->state, SlotState::kExited);
  EXPECT_EQ(ReadSlot(EncodeSlotHalf(running) + EncodeSlotHalf(Exited())).newest->state, SlotState::kExited);
  EXPECT_EQ(ReadSlot(zeros + EncodeSlotHalf(running)).newest->sequence, 1);
  EXPECT_FALSE(ReadSlot(zeros + zeros).newest);
  EXPECT_FALSE(ReadSlot(zeros + zeros).damaged);
}

TEST(Slot, KeepsTheOlderRecordWhenTheNewerIsTorn) {
  SlotRecord running = Exited();
  running.state = SlotState::kRunning;
  running.sequence = 1;
  const std::string torn = EncodeSlotHalf(Exited()).substr(0, 512) + std::string(kSlotHalf - 512, '\0');
  const SlotReading reading = ReadSlot(torn + EncodeSlotHalf(running));
  EXPECT_EQ(reading.newest->sequence, 1);
  EXPECT_TRUE(reading.damaged);
}

TEST(Slot, RejectsEveryFlippedByteAndEveryTruncation) {
  const std::string half = EncodeSlotHalf(Exited());
  for (size_t i = 0; i < half.size(); ++i) {
    for (const int bit : {0x01, 0x20, 0x80}) {
      std::string damaged = half;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      ASSERT_FALSE(DecodeSlotHalf(damaged)) << i;
    }
    ASSERT_FALSE(DecodeSlotHalf(half.substr(0, i))) << i;
  }
  const std::string both = half + half;
  for (size_t i = 0; i < both.size(); i += 37) EXPECT_TRUE(ReadSlot(both.substr(0, i)).damaged);
}

TEST(Slot, SurvivesGarbage) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string garbage(random() % (kSlotSize + 10), '\0');
    for (char& c : garbage) c = static_cast<char>(random());
    EXPECT_FALSE(ReadSlot(garbage).newest);
  }
}

TEST(Slot, RefusesAFormatOfTheFuture) {
  std::string text = Write(ToJson(Exited()));
  text.replace(text.find("\"format\":1"), 10, "\"format\":9");
  EXPECT_FALSE(SlotRecordFrom(*Parse(text)));
}

TEST(Spec, GivesBackWhatWasWritten) {
  EXPECT_EQ(DecodeSpec(EncodeSpec(Spec())), Spec());
}

TEST(Spec, RejectsEveryFlippedByteAndEveryTruncation) {
  const std::string text = EncodeSpec(Spec());
  for (size_t i = 0; i < text.size(); ++i) {
    for (int bit = 1; bit < 256; bit <<= 1) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      ASSERT_FALSE(DecodeSpec(damaged)) << i;
    }
    ASSERT_FALSE(DecodeSpec(text.substr(0, i))) << i;
  }
  EXPECT_FALSE(DecodeSpec(text + "\n"));
}

TEST(Spec, RefusesWhatCannotBeRun) {
  ShimSpec spec = Spec();
  spec.argv.clear();
  EXPECT_FALSE(DecodeSpec(EncodeSpec(spec)));
  spec = Spec();
  spec.argv[1] = std::string("a\0b", 3);
  EXPECT_FALSE(DecodeSpec(EncodeSpec(spec)));
  spec = Spec();
  spec.cpus = {-1};
  EXPECT_FALSE(DecodeSpec(EncodeSpec(spec)));
}

TEST(Spec, GivesBackItsLimitsItsTargetAndWhoCountsOomKills) {
  ShimSpec spec = Spec();
  spec.log_limit = 2LL << 30;
  spec.stop_target = Target::kAll;
  spec.unkillable_ms = 50;
  spec.oom_counter = "/sys/fs/cgroup/memory/memory.oom_control";
  spec.oom_kills_before = 4;
  EXPECT_EQ(DecodeSpec(EncodeSpec(spec)), spec);
}

TEST(Spec, ATargetOfALaterFormatIsTheGroup) {
  ShimSpec spec = Spec();
  spec.stop_target = Target::kAll;
  std::string text = EncodeSpec(spec);
  text.replace(text.find("\"all\""), 5, "\"any\"");
  text.resize(text.size() - 9);
  text += Crc32cText(text) + "\n";
  EXPECT_EQ(DecodeSpec(text)->stop_target, Target::kGroup);
}

TEST(Spec, TellsNoDevicesFromNotSayingWhich) {
  ShimSpec spec = Spec();
  EXPECT_EQ(EncodeSpec(spec).find("devices"), std::string::npos);
  EXPECT_EQ(DecodeSpec(EncodeSpec(spec))->devices, std::nullopt);
  for (const std::vector<std::string>& devices : {std::vector<std::string>{}, {"cpu:0", "GPU-1"}}) {
    spec.devices = devices;
    EXPECT_EQ(DecodeSpec(EncodeSpec(spec)), spec);
  }
}

TEST(Spec, GivesBackItsRanks) {
  ShimSpec spec = Spec();
  spec.ranks = {{{"RANK=0", "X=\xff"}, {0}}, {{}, {}}, {{"RANK=2"}, {1, 2}}};
  EXPECT_EQ(DecodeSpec(EncodeSpec(spec)), spec);
}

TEST(Spec, WithoutRanksIsOneProcessAndLooksAsItAlwaysDid) {
  EXPECT_EQ(EncodeSpec(Spec()).find("ranks"), std::string::npos);
}

TEST(Spec, RefusesRanksThatCannotBeRun) {
  ShimSpec spec = Spec();
  spec.ranks.resize(kMostRanks);
  EXPECT_TRUE(DecodeSpec(EncodeSpec(spec)));
  spec.ranks.resize(kMostRanks + 1);
  EXPECT_FALSE(DecodeSpec(EncodeSpec(spec)));
  spec.ranks = {{{std::string("A\0B", 3)}, {}}};
  EXPECT_FALSE(DecodeSpec(EncodeSpec(spec)));
  spec.ranks = {{{}, {-1}}};
  EXPECT_FALSE(DecodeSpec(EncodeSpec(spec)));
}

TEST(Decision, ReadsWhatItWrites) {
  Decision go;
  go.go = true;
  go.boot = "4b1c-2";
  go.pid = 42;
  go.start = 918273;
  EXPECT_EQ(EncodeDecision(go), "GO boot=4b1c-2 pid=42 start=918273");
  EXPECT_EQ(DecodeDecision(EncodeDecision(go)), go);
  EXPECT_EQ(DecodeDecision("GO boot=4b1c-2 pid=42 start=918273 later=1"), go);
  EXPECT_EQ(EncodeDecision(*DecodeDecision("VOID cancelled by user")), "VOID cancelled by user");
  EXPECT_FALSE(DecodeDecision("VOID")->go);
}

TEST(Decision, RefusesEverythingElse) {
  for (const char* text :
       {"", "GO", "GO ", "GO boot= pid=1 start=2", "GO boot=a pid=x start=2", "GO boot=a pid=1",
        "GO boot=a pid=-1 start=2", "go boot=a pid=1 start=2", "VOIDED", "GO pid=1 boot=a start=2"}) {
    EXPECT_FALSE(DecodeDecision(text)) << text;
  }
}

TEST(Control, ReadsWhatItWrites) {
  Order stop;
  stop.verb = Verb::kStop;
  stop.reason = "cancelled by \xff";
  stop.signal = 10;
  stop.grace_ms = 1500;
  stop.target = Target::kLeader;
  EXPECT_EQ(DecodeOrder(EncodeOrder(stop)), stop);
  Order freeze;
  freeze.verb = Verb::kFreeze;
  freeze.deadline_ms = 60'000;
  EXPECT_EQ(DecodeOrder(EncodeOrder(freeze)), freeze);

  News exited;
  exited.kind = NewsKind::kExited;
  exited.record = Exited();
  EXPECT_EQ(DecodeNews(EncodeNews(exited)), exited);
  News refused;
  refused.kind = NewsKind::kRefused;
  refused.error = 28;
  refused.step = "decision";
  EXPECT_EQ(DecodeNews(EncodeNews(refused)), refused);
}

TEST(Control, TellsUnknownVerbsFromBrokenPackets) {
  EXPECT_EQ(DecodeOrder(R"({"format":9,"verb":"DANCE","with":"me"})")->verb, Verb::kUnknown);
  EXPECT_EQ(DecodeNews(R"({"format":9,"news":"MOOD"})")->kind, NewsKind::kUnknown);
  for (const char* packet : {"", "PING", "[]", "{}", R"({"verb":"PING"})", R"({"format":1,"verb":7})"}) {
    EXPECT_FALSE(DecodeOrder(packet)) << packet;
  }
}

}  // namespace
}  // namespace ty::wire
