#include "model/spec.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "msg/spec.h"

namespace ty {
namespace {

namespace json = boost::json;
using namespace std::string_literals;

Result<TaskSpec> Parse(std::string_view text) {
  return ParseTaskSpec(json::parse(text));
}

// A task that says only what it must, and one setting more: `"hold":true`.
std::string With(std::string_view setting) {
  return R"({"command":["python","train.py"],"workdir":"/home/ann")" +
         std::string(setting.empty() ? "" : ",") + std::string(setting) + "}";
}

TaskSpec Parsed(std::string_view setting) {
  Result<TaskSpec> spec = Parse(With(setting));
  EXPECT_TRUE(spec) << setting << ": " << (spec ? "" : spec.error().message.id + " at " + spec.error().field);
  return spec ? *spec : TaskSpec{};
}

// "message id at field", and that nothing but invalid input is blamed.
std::string Refusal(std::string_view text) {
  Result<TaskSpec> spec = Parse(text);
  if (spec) return "accepted";
  EXPECT_EQ(spec.error().code, Code::kInvalid);
  return spec.error().message.id + " at " + spec.error().field;
}

std::string Argument(const Result<TaskSpec>& spec, std::string_view name) {
  if (spec) return "accepted";
  for (const auto& [known, value] : spec.error().message.args)
    if (known == name) return std::get<std::string>(value);
  return "none";
}

TaskSpec Everything() {
  TaskSpec spec;
  spec.name = "七号 🚂";
  spec.argv = {"python", "my runs/it's \"q\"/$HOME", "two\nlines", "-x", "", "\x1b[2J", "caf\xe9", "🚂", "\\"};
  spec.workdir = "/home/ann/\xff/it's";
  spec.recipe = "digits-cnn";
  spec.gpus.counts = {1, 2, 4};
  spec.cpus = 3;
  spec.memory = 8ll << 30;
  spec.wish = {{250, ShareMode::kTogether}, 3ll << 30, /*exclusive=*/false, /*ranks=*/true};
  spec.gpu_ids = TaskSpec::GpuIds::kIndex;
  spec.priority = -100;
  spec.after = {{TaskId{12}, Dependency::On::kFail},
                {TaskId{3}, Dependency::On::kAny},
                {TaskId{4}, Dependency::On::kOk}};
  spec.hold = true;
  spec.begin = ParseIso("2026-11-30T22:00:00.250Z");
  spec.time_limit = hours(36);
  spec.idle_limit = milliseconds(1500);
  spec.log_limit = 3ll << 30;
  spec.retry = {2, RetryPolicy::On::kAny, Duration(1)};
  spec.umask = 077;
  spec.resume_path = "/ckpt/\xfe.pt";
  spec.stop_signal = 10;
  spec.stop_target = StopTarget::kAll;
  spec.grace = seconds(0);
  spec.tags = {"night", "论文"};
  spec.variables = {{"LR", "1e-4"}, {"RAW", "\x80\x01"}, {"HF_TOKEN", "hf_x"}};
  spec.environment = {{"PATH", "/usr/bin"}, {"HOME", "/home/ann"}, {"EMPTY", ""}};
  spec.code.files = {{"/home/ann/train.py", std::string(64, 'a')}};
  spec.code.repository = "/home/ann";
  spec.code.commit = "0123abc";
  return spec;
}

TEST(TaskSpec, SurvivesJsonAndBack) {
  TaskSpec spec = Everything();
  std::string text = json::serialize(ToJson(spec, true));
  Result<TaskSpec> back = Parse(text);
  ASSERT_TRUE(back) << back.error().message.id << " at " << back.error().field << " in " << text;
  EXPECT_EQ(*back, spec);
}

TEST(TaskSpec, SurvivesWithoutItsEnvironmentAsTheStoreKeepsIt) {
  TaskSpec spec = Everything();
  spec.environment.clear();
  json::object stored = ToJson(spec, true);
  EXPECT_FALSE(stored.contains("environment"));
  EXPECT_EQ(*ParseTaskSpec(stored), spec);
}

TEST(TaskSpec, SaysNothingOfWhatWasNotSaid) {
  TaskSpec spec = Parsed("");
  EXPECT_EQ(json::serialize(ToJson(spec, true)),
            R"({"command":["python","train.py"],"workdir":"/home/ann"})");
  EXPECT_EQ(spec.gpus.Least(), 1);
  EXPECT_EQ(spec.stop_signal, 15);
  EXPECT_EQ(spec.grace, seconds(60));
  EXPECT_EQ(spec.retry, RetryPolicy{});
}

TEST(TaskSpec, ReadsEachFormOfASetting) {
  EXPECT_EQ(Parsed(R"("resources":{"gpus":2})").gpus.counts, std::vector{2});
  EXPECT_EQ(Parsed(R"("resources":{"gpus":"1-4"})").gpus.counts, (std::vector{1, 2, 3, 4}));
  EXPECT_EQ(Parsed(R"("resources":{"gpus":[4,1,2]})").gpus.counts, (std::vector{1, 2, 4}));
  EXPECT_EQ(Parsed(R"("resources":{"memory":"8G"})").memory, 8ll << 30);
  EXPECT_EQ(Parsed(R"("resources":{"memory":1000})").memory, 1000);
  EXPECT_EQ(Parsed(R"("resources":{"gpu_memory":"8G"})").wish.memory, 8ll << 30);
  EXPECT_EQ(Parsed(R"("resources":{"share":"0.5:turns:3s"})").wish.share,
            (Share{500, ShareMode::kTurns, seconds(3)}));
  EXPECT_EQ(Parsed(R"("resources":{"share":0.333})").wish.share, (Share{333, ShareMode::kTogether}));
  EXPECT_EQ(Parsed(R"("resources":{"share":1})").wish, DeviceWish{});
  EXPECT_EQ(Parsed(R"("resources":{"share":1.0})").wish, DeviceWish{});
  EXPECT_TRUE(Parsed(R"("resources":{"exclusive":true})").wish.exclusive);
  EXPECT_EQ(Parsed(R"("resources":{"gpu_ids":"index"})").gpu_ids, TaskSpec::GpuIds::kIndex);
  EXPECT_EQ(Parsed(R"("resources":{"gpu_ids":"uuid"})").gpu_ids, TaskSpec::GpuIds::kUuid);
  EXPECT_TRUE(Parsed(R"("ranks":true)").wish.ranks);
  EXPECT_EQ(Parsed(R"("priority":"high")").priority, 100);
  EXPECT_EQ(Parsed(R"("priority":-5)").priority, -5);
  EXPECT_EQ(Parsed(R"("limits":{"time":"90m"})").time_limit, minutes(90));
  EXPECT_EQ(Parsed(R"("limits":{"time":90})").time_limit, seconds(90));
  EXPECT_EQ(Parsed(R"("limits":{"idle":0.5})").idle_limit, milliseconds(500));
  EXPECT_EQ(Parsed(R"("limits":{"log":"2G"})").log_limit, 2ll << 30);
  EXPECT_EQ(Parsed(R"("checkpoint":{"signal":"SIGUSR1"})").stop_signal, 10);
  EXPECT_EQ(Parsed(R"("checkpoint":{"target":"leader"})").stop_target, StopTarget::kLeader);
  EXPECT_EQ(Parsed(R"("checkpoint":{"target":"group"})").stop_target, StopTarget::kGroup);
  EXPECT_EQ(Parsed(R"("checkpoint":{"signal":2,"grace":"5m"})").stop_signal, 2);
  EXPECT_EQ(Parsed(R"("after":[{"task":7}])").after,
            (std::vector<Dependency>{{TaskId{7}, Dependency::On::kOk}}));
  EXPECT_EQ(Parsed(R"("begin":"2026-11-30T22:00:00+08:00")").begin, ParseIso("2026-11-30T14:00:00Z"));
  EXPECT_EQ(Parsed(R"("retry":{"max":0})").retry.max, 0);
  EXPECT_EQ(Parsed(R"("environment":{"variables":{"A":{"base64":"gA=="}}})").environment,
            (Variables{{"A", "\x80"}}));
}

TEST(TaskSpec, EveryFaultNamesItsFieldAndItsMessage) {
  struct Row {
    const char *setting, *refusal;
  };
  const Row kRows[] = {
      {R"("name":"")", "spec.name_empty at /name"},
      {R"("name":"12")", "spec.name_like_id at /name"},
      {R"("name":"@last")", "spec.name_start at /name"},
      {R"("name":7)", "spec.must_be_text at /name"},
      {R"("name":"a\u0000b")", "spec.nul at /name"},
      {R"("name":"a\u001bb")", "spec.name_characters at /name"},
      {R"("name":null)", "spec.must_be_text at /name"},
      {R"("recipe":[])", "spec.must_be_text at /recipe"},
      {R"("resources":2)", "spec.must_be_object at /resources"},
      {R"("resources":{"gpus":-1})", "spec.gpus at /resources/gpus"},
      {R"("resources":{"gpus":1.5})", "spec.gpus at /resources/gpus"},
      {R"("resources":{"gpus":[1,"x"]})", "spec.gpus at /resources/gpus"},
      {R"("resources":{"gpus":[]})", "spec.gpus at /resources/gpus"},
      {R"("resources":{"gpus":[0,1]})", "spec.gpus at /resources/gpus"},
      {R"("resources":{"gpus":{}})", "spec.gpus at /resources/gpus"},
      {R"("resources":{"gpus":99999})", "spec.gpus at /resources/gpus"},
      {R"("resources":{"gpu":1})", "spec.unknown_key at /resources/gpu"},
      {R"("resources":{"cpus":0})", "spec.must_be_whole at /resources/cpus"},
      {R"("resources":{"cpus":"2"})", "spec.must_be_whole at /resources/cpus"},
      {R"("resources":{"cpus":1e9})", "spec.must_be_whole at /resources/cpus"},
      {R"("resources":{"cpus":18446744073709551615})", "spec.must_be_whole at /resources/cpus"},
      {R"("resources":{"memory":"lots"})", "spec.bytes at /resources/memory"},
      {R"("resources":{"memory":-1})", "spec.bytes at /resources/memory"},
      {R"("resources":{"memory":0})", "spec.must_be_above_zero at /resources/memory"},
      {R"("resources":{"share":"half"})", "spec.share at /resources/share"},
      {R"("resources":{"share":0})", "spec.share at /resources/share"},
      {R"("resources":{"share":1.5})", "spec.share at /resources/share"},
      {R"("resources":{"share":0.3335})", "spec.share at /resources/share"},
      {R"("resources":{"share":null})", "spec.share at /resources/share"},
      {R"("resources":{"share":"0.5:turns:2h"})", "spec.share_slice at /resources/share"},
      {R"("resources":{"gpu_memory":"lots"})", "spec.bytes at /resources/gpu_memory"},
      {R"("resources":{"gpu_memory":0})", "spec.must_be_above_zero at /resources/gpu_memory"},
      {R"("resources":{"exclusive":1})", "spec.must_be_true_or_false at /resources/exclusive"},
      {R"("resources":{"gpu_ids":"name"})", "spec.one_of at /resources/gpu_ids"},
      {R"("resources":{"ranks":true})", "spec.unknown_key_alone at /resources/ranks"},
      {R"("ranks":2)", "spec.must_be_true_or_false at /ranks"},
      {R"("priority":"urgent")", "spec.priority at /priority"},
      {R"("priority":1.5)", "spec.priority at /priority"},
      {R"("priority":99999999999)", "spec.priority at /priority"},
      {R"("after":12)", "spec.must_be_list at /after"},
      {R"("after":[12])", "spec.must_be_object at /after/0"},
      {R"("after":[{"task":1},{}])", "spec.missing at /after/1/task"},
      {R"("after":[{"task":"seven"}])", "spec.must_be_whole at /after/0/task"},
      {R"("after":[{"task":0}])", "spec.must_be_whole at /after/0/task"},
      {R"("after":[{"task":1,"on":"success"}])", "spec.one_of at /after/0/on"},
      {R"("hold":"yes")", "spec.must_be_true_or_false at /hold"},
      {R"("begin":"22:00")", "spec.time at /begin"},
      {R"("begin":1764490000)", "spec.time at /begin"},
      {R"("limits":{"time":0})", "spec.must_be_above_zero at /limits/time"},
      {R"("limits":{"time":"0s"})", "spec.must_be_above_zero at /limits/time"},
      {R"("limits":{"time":-1})", "spec.duration at /limits/time"},
      {R"("limits":{"idle":"soon"})", "spec.duration at /limits/idle"},
      {R"("limits":{"idle":1e300})", "spec.duration at /limits/idle"},
      {R"("limits":{"wall":1})", "spec.unknown_key_alone at /limits/wall"},
      {R"("limits":{"log":"31M"})", "spec.log_limit at /limits/log"},
      {R"("limits":{"log":"much"})", "spec.bytes at /limits/log"},
      {R"("checkpoint":{"target":"everybody"})", "spec.one_of at /checkpoint/target"},
      {R"("umask":"8")", "spec.umask at /umask"},
      {R"("umask":22)", "spec.umask at /umask"},
      {R"("umask":"7777")", "spec.umask at /umask"},
      {R"("retry":{"max":-1})", "spec.must_be_whole at /retry/max"},
      {R"("retry":{"on":"never"})", "spec.one_of at /retry/on"},
      {R"("retry":{"delay":"-1s"})", "spec.duration at /retry/delay"},
      {R"("checkpoint":{"resume":"last.pt"})", "spec.path_relative at /checkpoint/resume"},
      {R"("checkpoint":{"signal":"BANG"})", "spec.signal at /checkpoint/signal"},
      {R"("checkpoint":{"signal":65})", "spec.signal at /checkpoint/signal"},
      {R"("checkpoint":{"grace":[]})", "spec.duration at /checkpoint/grace"},
      {R"("tags":"x")", "spec.must_be_list at /tags"},
      {R"("tags":["x",""])", "spec.tag_empty at /tags/1"},
      {R"("tags":[1])", "spec.must_be_text at /tags/0"},
      {R"("variables":["A=b"])", "spec.must_be_object at /variables"},
      {R"("variables":{"":"x"})", "spec.variable_name at /variables/"},
      {R"("variables":{"A=B":"x"})", "spec.variable_name at /variables/A=B"},
      {R"("variables":{"A/~":1})", "spec.must_be_word at /variables/A~1~0"},
      {R"("variables":{"A":"x\u0000"})", "spec.nul at /variables/A"},
      {R"("variables":{"A":{"base64":"!"}})", "spec.not_base64 at /variables/A"},
      {R"("environment":{"PATH":"/bin"})", "spec.unknown_key_alone at /environment/PATH"},
      {R"("environment":{"variables":{"A":null}})", "spec.must_be_word at /environment/variables/A"},
      {R"("code":{"files":[{"path":"train.py"}]})", "spec.path_relative at /code/files/0/path"},
      {R"("code":{"files":[{"path":"/t.py","sha256":"12"}]})", "spec.sha256 at /code/files/0/sha256"},
      {R"("code":{"files":[{"path":"/t.py"}]})", "spec.missing at /code/files/0/sha256"},
      {R"("code":{"branch":"main"})", "spec.unknown_key_alone at /code/branch"},
      {R"("prioritty":1)", "spec.unknown_key at /prioritty"},
      {R"("colour":1)", "spec.unknown_key_alone at /colour"},
  };
  for (const Row& row : kRows) EXPECT_EQ(Refusal(With(row.setting)), row.refusal) << row.setting;
  EXPECT_EQ(Refusal(With(R"("variables":{"A\u0000":"x"})")), "spec.nul at /variables/A\0"s);
}

TEST(TaskSpec, WishesThatContradictEachOtherAreRefusedInAnyOrder) {
  struct Row {
    const char *setting, *refusal;
  };
  const Row kRows[] = {
      {R"("ranks":true,"resources":{"gpus":1,"share":"0.5:turns"})", "spec.turns_ranks at /resources/share"},
      {R"("resources":{"share":"0.5:turns"},"ranks":true)", "spec.turns_ranks at /resources/share"},
      {R"("resources":{"share":"0.5:turns","gpus":2})", "spec.turns_many at /resources/share"},
      {R"("resources":{"gpus":"1-4","share":"0.5:turns"})", "spec.turns_many at /resources/share"},
      {R"("resources":{"exclusive":true,"share":"0.5"})", "spec.exclusive_share at /resources/exclusive"},
      {R"("resources":{"share":"0.5:turns","exclusive":true})",
       "spec.exclusive_share at /resources/exclusive"},
      {R"("resources":{"gpus":0,"share":"0.5"})", "spec.needs_device at /resources/share"},
      {R"("resources":{"gpu_memory":"8G","gpus":0})", "spec.needs_device at /resources/gpu_memory"},
      {R"("resources":{"gpus":0,"exclusive":true})", "spec.needs_device at /resources/exclusive"},
      {R"("ranks":true,"resources":{"gpus":0})", "spec.needs_device at /ranks"},
      // What goes together.
      {R"("ranks":true,"resources":{"gpus":2,"share":"0.5:together"})", "accepted"},
      {R"("resources":{"gpus":"{1,2}","share":"0.5:together"})", "accepted"},
      {R"("resources":{"share":"0.5:turns","gpu_memory":"8G"})", "accepted"},
      {R"("resources":{"gpus":0,"share":"1","exclusive":false,"gpu_ids":"index"},"ranks":false)", "accepted"},
      {R"("resources":{"gpus":4,"exclusive":true,"gpu_memory":"40G"},"ranks":true)", "accepted"},
  };
  for (const Row& row : kRows) EXPECT_EQ(Refusal(With(row.setting)), row.refusal) << row.setting;
  EXPECT_EQ(Argument(Parse(With(R"("resources":{"gpus":2,"share":"0.25:turns"})")), "share"), "0.25");
  EXPECT_EQ(Argument(Parse(With(R"("resources":{"share":0.3335})")), "text"), "0.3335");
}

TEST(TaskSpec, FaultsOfTheCommandAndItsFolderAreNamedToo) {
  struct Row {
    const char *text, *refusal;
  };
  const Row kRows[] = {
      {"[]", "spec.not_an_object at "},
      {R"("python train.py")", "spec.not_an_object at "},
      {"{}", "spec.missing at /command"},
      {R"({"command":["a"]})", "spec.missing at /workdir"},
      {R"({"command":[],"workdir":"/"})", "spec.command_empty at /command"},
      {R"({"command":"python train.py","workdir":"/"})", "spec.command_list at /command"},
      {R"({"command":["","x"],"workdir":"/"})", "spec.program_empty at /command/0"},
      {R"({"command":["a",1],"workdir":"/"})", "spec.must_be_word at /command/1"},
      {R"({"command":["a","b\u0000c"],"workdir":"/"})", "spec.nul at /command/1"},
      {R"({"command":["a",{"base64":"AGE="}],"workdir":"/"})", "spec.nul at /command/1"},
      {R"({"command":["a",{"base64":"x"}],"workdir":"/"})", "spec.not_base64 at /command/1"},
      {R"({"command":["a",{"base64":"eA==","x":1}],"workdir":"/"})", "spec.must_be_word at /command/1"},
      {R"({"command":["a"],"workdir":"runs"})", "spec.path_relative at /workdir"},
      {R"({"command":["a"],"workdir":""})", "spec.path_relative at /workdir"},
      {R"({"command":["a"],"workdir":"/a\u0000"})", "spec.nul at /workdir"},
  };
  for (const Row& row : kRows) EXPECT_EQ(Refusal(row.text), row.refusal) << row.text;
}

TEST(TaskSpec, WhatTheKernelCannotTakeIsRefused) {
  auto task = [](const std::string& word, size_t times) {
    json::array command = {"a"};
    for (size_t i = 0; i < times; ++i) command.push_back(json::string(word));
    return json::serialize(json::object{{"command", command}, {"workdir", "/"}});
  };
  EXPECT_EQ(Refusal(task(std::string(131'071, 'x'), 1)), "accepted");
  EXPECT_EQ(Refusal(task(std::string(131'072, 'x'), 1)), "spec.word_too_long at /command/1");
  EXPECT_EQ(Refusal(task(std::string(100'000, 'x'), 20)), "accepted");
  EXPECT_EQ(Refusal(task(std::string(100'000, 'x'), 21)), "spec.command_too_large at /command");
}

TEST(TaskSpec, AnUnknownKeyNamesTheNearestOrAllThereAre) {
  EXPECT_EQ(Argument(Parse(With(R"("prioritty":1)")), "nearest"), "priority");
  EXPECT_EQ(Argument(Parse(With(R"("limits":{"wall":1})")), "known"), "time, idle, log");
  EXPECT_EQ(Argument(Parse(With(R"("\u001b[2J":1)")), "key"), "\\x1b[2J");
}

TEST(TaskSpec, SentencesNameTheSettingAsPeopleWriteIt) {
  EXPECT_EQ(Argument(Parse(With(R"("after":[{"task":1},{"task":"x"}])")), "what"), "after[1].task");
  EXPECT_EQ(Argument(Parse(With(R"("limits":{"time":"soon"})")), "text"), "soon");
}

TEST(DeviceCounts, ReadTheGrammarAndWriteItBack) {
  const std::pair<const char*, const char*> kTexts[] = {{"1", "1"},
                                                        {"0", "0"},
                                                        {"1-4", "1-4"},
                                                        {"{1,2,4}", "{1,2,4}"},
                                                        {"{ 4, 2, 1, 2 }", "{1,2,4}"},
                                                        {"{2,3}", "2-3"},
                                                        {"3-3", "3"},
                                                        {" 2 ", "2"},
                                                        {"{0}", "0"}};
  for (auto [text, back] : kTexts) {
    Result<DeviceCounts> counts = DeviceCounts::Parse(text);
    ASSERT_TRUE(counts) << text;
    EXPECT_EQ(counts->Text(), back);
    EXPECT_EQ(*DeviceCounts::Parse(counts->Text()), *counts);
  }
  EXPECT_EQ(DeviceCounts{}.Text(), "1");
}

TEST(DeviceCounts, OtherTextIsRefusedAndQuoted) {
  for (const char* text : {"",
                           "-",
                           "-1",
                           "1-",
                           "-4",
                           "4-1",
                           "1,2",
                           "{",
                           "{}",
                           "{1,}",
                           "{1,2",
                           "{a}",
                           "1-2-3",
                           "0-2",
                           "{0,1}",
                           "two",
                           "1.0",
                           "+1",
                           "99999999999999999999",
                           "0x2"}) {
    Result<DeviceCounts> counts = DeviceCounts::Parse(text);
    ASSERT_FALSE(counts) << text;
    EXPECT_EQ(counts.error().message,
              Message(msg::SpecGpus{.text = *text == '\0' ? "''" : text, .most = 4096}));
  }
}

TEST(Names, ThatLookLikeASelectorAreRefused) {
  for (const char* name :
       {"seven", "run-12", "12a", "12.x", "1.2.3", "2026-11-30", "a@b", "任务", "a b", "_"})
    EXPECT_TRUE(CheckName(name)) << name;
  const std::pair<const char*, const char*> kRefused[] = {
      {"", "spec.name_empty"},          {"12", "spec.name_like_id"},        {"12.2", "spec.name_like_id"},
      {"3-9", "spec.name_like_id"},     {"@last", "spec.name_start"},       {"-n", "spec.name_start"},
      {"a\nb", "spec.name_characters"}, {"caf\xe9", "spec.name_characters"}};
  for (auto [name, id] : kRefused) {
    Status checked = CheckName(name);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().message.id, id) << name;
    EXPECT_EQ(checked.error().field, "/name");
  }
  EXPECT_EQ(CheckName(std::string(201, 'x')).error().message.id, "spec.name_too_long");
}

TEST(Priority, IsAWordOrANumber) {
  EXPECT_EQ(*ParsePriority("high"), 100);
  EXPECT_EQ(*ParsePriority("normal"), 0);
  EXPECT_EQ(*ParsePriority("low"), -100);
  EXPECT_EQ(*ParsePriority("-7"), -7);
  for (const char* text : {"", "High", "1.5", "top", "99999999999"}) {
    Result<int> priority = ParsePriority(text);
    ASSERT_FALSE(priority) << text;
    EXPECT_EQ(priority.error().message.id, "spec.priority");
    EXPECT_EQ(priority.error().field, "/priority");
  }
}

TEST(Secrets, AreToldByTheirNames) {
  for (const char* name :
       {"HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "db_password", "PGPASSWORD", "GITHUBTOKEN",
        "DB_PWD", "OPENAI_KEY", "APIKEY", "GOOGLE_APPLICATION_CREDENTIALS", "MY_PASS"})
    EXPECT_TRUE(LooksSecret(name)) << name;
  for (const char* name : {"PATH", "PWD", "OLDPWD", "TOKENIZERS_PARALLELISM", "MAX_TOKENS", "KEYBOARD",
                           "SSH_AUTH_SOCK", "COMPASS", "LR", ""})
    EXPECT_FALSE(LooksSecret(name)) << name;
}

TEST(Secrets, AreMaskedWhereAskedAndOnlyThere) {
  TaskSpec spec = Parsed("");
  spec.variables = {{"LR", "0.1"}, {"HF_TOKEN", "hf_x"}, {"EMPTY_TOKEN", ""}};
  spec.environment = {
      {"https_proxy", "http://ann:s3cret@proxy:3128"}, {"no_proxy", "a.b"}, {"URL", "https://host/a:b@c"}};
  std::string shown = json::serialize(ToJson(spec, false));
  EXPECT_EQ(shown.find("hf_x"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("s3cret"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("LR":"0.1","HF_TOKEN":"***","EMPTY_TOKEN":"")"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("URL":"https://host/a:b@c")"), std::string::npos) << shown;
  EXPECT_NE(json::serialize(ToJson(spec, true)).find("hf_x"), std::string::npos);
}

TEST(Scrub, TakesWhatAnotherLauncherLeft) {
  for (const char* name :
       {"TRAINYARD_TASK", "TRAINYARD_OUT", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE",
        "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE", "NODE_RANK",
        "MASTER_ADDR", "MASTER_PORT", "PET_NNODES", "SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER", "TORCHELASTIC_RUN_ID"})
    EXPECT_TRUE(IsScrubbed(name)) << name;
  for (const char* name : {"TRAINYARD_HOME", "PATH", "RANKING", "PETS", "CUDA_HOME", "SLURMY",
                           "NVIDIA_VISIBLE_DEVICES", "ROLE_ARN"})
    EXPECT_FALSE(IsScrubbed(name)) << name;
}

TEST(Words, ThatAreNotUtf8TravelAsBase64) {
  EXPECT_EQ(json::serialize(WordToJson("caf\xe9")), R"({"base64":"Y2Fm6Q=="})");
  EXPECT_EQ(*WordFromJson(WordToJson("caf\xe9"), "/x"), "caf\xe9");
  EXPECT_EQ(*WordFromJson(WordToJson(""), "/x"), "");
  Result<std::string> word = WordFromJson(json::value(7), "/variables/A");
  ASSERT_FALSE(word);
  EXPECT_EQ(word.error().field, "/variables/A");
  EXPECT_EQ(word.error().message, Message(msg::SpecMustBeWord{.what = "variables.A"}));
}

}  // namespace
}  // namespace ty
