#include "model/draft.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace ty {
namespace {

// "field message" of each.
std::vector<std::string> FaultsOf(std::string_view text) {
  std::vector<std::string> said;
  for (const Error& fault : ReadTaskSpec(boost::json::parse(text)).faults)
    said.push_back(fault.field + " " + fault.message.id);
  return said;
}

using Said = std::vector<std::string>;

TEST(Draft, NamesEveryFaultInTheOrderOfTheDocument) {
  EXPECT_EQ(FaultsOf(R"({"name":"12","command":["true"],"workdir":"here","resources":{"gpus":"x","cpu":1},
                         "after":[{"task":0},{"on":"ok"},{"task":3,"on":"maybe"}],"limits":{"time":"abc"}})"),
            (Said{"/name spec.name_like_id", "/workdir spec.path_relative", "/resources/gpus spec.gpus",
                  "/resources/cpu spec.unknown_key", "/after/0/task spec.must_be_whole",
                  "/after/1/task spec.missing", "/after/2/on spec.one_of", "/limits/time spec.duration"}));
}

TEST(Draft, KeepsWhatIsRightAndLeavesOutWhatIsWrong) {
  const Draft draft = ReadTaskSpec(boost::json::parse(
      R"({"name":"12","command":["train"],"workdir":"/w","resources":{"gpus":"x","cpus":3}})"));
  EXPECT_EQ(draft.name, "");
  EXPECT_EQ(draft.argv, Said{"train"});
  EXPECT_EQ(draft.workdir, "/w");
  EXPECT_EQ(draft.cpus, 3);
  EXPECT_EQ(draft.gpus, DeviceCounts{});
}

TEST(Draft, SaysNothingThatFollowsFromAnotherFault) {
  EXPECT_EQ(FaultsOf(R"({"command":[],"workdir":7})").size(), 2u) << "neither is missing besides";
  EXPECT_EQ(
      FaultsOf(R"({"command":["a"],"workdir":"/","resources":{"gpus":"x","share":"0.5"},"ranks":true})"),
      Said{"/resources/gpus spec.gpus"});
  EXPECT_EQ(FaultsOf("{}"), (Said{"/command spec.missing", "/workdir spec.missing"}));
  EXPECT_EQ(FaultsOf("[]").size(), 1u);
}

TEST(Draft, StopsBeforeNobodyReadsOn) {
  std::string body = R"({"command":["a"],"workdir":"/")";
  for (int i = 0; i < 1000; ++i) body += ",\"k" + std::to_string(i) + "\":1";
  EXPECT_EQ(FaultsOf(body + "}").size(), 20u);
}

TEST(Draft, TheFirstFaultIsThatOfParseTaskSpec) {
  const auto json = boost::json::parse(R"({"command":["a"],"workdir":"/","priority":"x","hold":"y"})");
  EXPECT_EQ(ParseTaskSpec(json).error().field, "/priority");
  EXPECT_EQ(ReadTaskSpec(json).faults.front().field, "/priority");
}

TEST(Draft, AFieldIsBlamedOnce) {
  std::vector<Error> faults{{Code::kInvalid, {"a.a", {}}, "/name"}};
  AddFaults(faults, {{Code::kInvalid, {"b.b", {}}, "/name"},
                     {Code::kInvalid, {"c.c", {}}, "/workdir"},
                     {Code::kInvalid, {"d.d", {}}, "/command"}});
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].message.id, "a.a");
  EXPECT_EQ(faults[2].field, "/command");
}

}  // namespace
}  // namespace ty
