#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/paths.h"
#include "base/text.h"
#include "http/testing.h"
#include "msg/outcome.h"
#include "msg/why.h"

namespace ty {
namespace {

using testing::HandLoop;
using testing::MakeTask;
using testing::MapBackend;
namespace json = boost::json;

// One yard's API with a socket's caller in front of it.
class ApiTest : public ::testing::Test {
 protected:
  ApiTest() {
    home_ = ::testing::TempDir() + "api-" + std::to_string(::getpid());
    std::filesystem::create_directories(home_ + "/attempts");
    ApiSettings settings;
    settings.version = "1";
    settings.home = home_;
    settings.owner = "ann<b>";
    settings.instance = "i1";
    settings.url = [] { return "http://127.0.0.1:1"; };
    settings.now = [] { return FromNanos(0) + hours(24 * 365 * 50); };
    settings.on_down = [this](bool cancelled) { downs_.push_back(cancelled); };
    api_ = std::make_unique<Api>(std::move(settings), backend_, loop_);
  }
  ~ApiTest() override { std::filesystem::remove_all(home_); }

  struct Asked {
    std::shared_ptr<std::optional<Response>> response = std::make_shared<std::optional<Response>>();
    CallPtr call;

    bool answered() const { return response->has_value(); }
    int status() const { return answered() ? (*response)->status : 0; }
    json::value body() const { return json::parse((*response)->body); }
    std::string raw() const { return (*response)->body; }
    std::string header(std::string_view name) const {
      for (const auto& [key, value] : (*response)->headers) {
        if (key == name) return value;
      }
      return "";
    }
  };

  Asked Send(std::string method, std::string target, std::string body = "",
             std::vector<std::pair<std::string, std::string>> headers = {},
             Peer peer = {.socket = true, .trusted = true}) {
    Request request;
    request.method = method;
    request.target = std::move(target);
    request.headers = std::move(headers);
    if (!peer.socket) request.headers.emplace_back("Host", "localhost");
    if (method != "GET") {
      const bool bulk = request.target == "/api/v1/tasks/bulk";
      request.headers.emplace_back("Content-Type", bulk ? "application/x-ndjson" : "application/json");
    }
    request.body = std::move(body);
    request.peer = peer;
    Asked asked;
    asked.call = std::make_shared<Call>(
        std::move(request), [kept = asked.response](Response response) { *kept = std::move(response); });
    if (api_->Admit(asked.call)) api_->Handle(asked.call);
    return asked;
  }
  Asked Get(std::string target) { return Send("GET", std::move(target)); }
  Asked Post(std::string target, std::string body,
             std::vector<std::pair<std::string, std::string>> headers = {}) {
    return Send("POST", std::move(target), std::move(body), std::move(headers));
  }

  // A running task with one attempt whose log holds `log`.
  std::string Run(int64_t id, const std::string& log) {
    TaskView view = MakeTask(id, "t" + std::to_string(id), Running{});
    view.task.attempts = 1;
    Attempt attempt;
    attempt.uid.bytes[15] = static_cast<uint8_t>(id);
    attempt.task = view.task.id;
    attempt.state = AttemptState::kRunning;
    view.attempt = attempt;
    backend_.open[view.task.id] = view;
    backend_.rows.tasks[view.task.id] = TaskRecord{view.task, std::make_shared<TaskSpec>(), {attempt}};
    const AttemptPaths paths{StatePaths{home_}.Attempt(attempt.uid)};
    std::filesystem::create_directories(paths.folder);
    std::ofstream(paths.Log()) << log;
    return paths.folder;
  }
  void EndAttempt(int64_t id) {
    Attempt attempt = *backend_.open[TaskId{id}].attempt;
    attempt.state = AttemptState::kEnded;
    backend_.rows.tasks[TaskId{id}].attempts = {attempt};
    backend_.End(TaskId{id}, Outcome{});
    backend_.Emit("attempt.ended");
  }

  std::string home_;
  HandLoop loop_;
  MapBackend backend_;
  std::unique_ptr<Api> api_;
  std::vector<bool> downs_;
};

constexpr const char* kTask = R"({"command":["true"],"workdir":"/"})";

TEST_F(ApiTest, DeniesStrangersByDefault) {
  const Peer stranger{};
  for (const Route& route : Routes()) {
    if (route.access == Access::kPublic) continue;
    EXPECT_EQ(Send(route.method, route.path, "", {}, stranger).status(), 401) << route.path;
  }
  EXPECT_EQ(Send("GET", "/nowhere", "", {}, stranger).status(), 401);
  EXPECT_EQ(Send("DELETE", "/api/v1/tasks", "", {}, stranger).status(), 401);
  EXPECT_EQ(Send("GET", "/healthz", "", {}, stranger).status(), 200);
  EXPECT_EQ(Send("DELETE", "/healthz", "", {}, stranger).status(), 405);
  EXPECT_EQ(Send("POST", "/api/v1/session", "{}", {}, stranger).status(), 401);
  EXPECT_TRUE(backend_.submits.empty() && backend_.acts.empty());
}

TEST_F(ApiTest, NamesWhatIsWrongWithARequest) {
  EXPECT_EQ(Get("/nowhere").status(), 404);
  EXPECT_EQ(Get("/api/v1/tasks/").status(), 404);
  const Asked method = Get("/api/v1/tasks/cancel");
  EXPECT_EQ(method.status(), 405);
  EXPECT_EQ(method.header("Allow"), "POST");
  EXPECT_EQ(Get("/api/v1/tasks/%252e").status(), 400);
  const Asked parameter = Get("/api/v1/tasks?stat=open");
  EXPECT_EQ(parameter.status(), 422);
  EXPECT_NE(parameter.raw().find("Did you mean state?"), std::string::npos) << parameter.raw();
  EXPECT_EQ(Get("/api/v1/tasks?limit=0").status(), 422);
  EXPECT_EQ(Get("/api/v1/tasks?limit=1&limit=2").status(), 422);
  EXPECT_EQ(Get("/api/v1/tasks?since=yesterday").status(), 422);
}

TEST_F(ApiTest, SpeaksTheReadersLanguage) {
  const Asked asked = Send("GET", "/nowhere", "", {});
  EXPECT_EQ(asked.body().at("message").at("id").as_string(), "api.no_route");
  Request request;
  request.method = "GET";
  request.target = "/api/v1/tasks/99";
  request.peer = {.socket = true, .trusted = true};
  request.language = Language::kChinese;
  auto kept = std::make_shared<std::optional<Response>>();
  auto call = std::make_shared<Call>(request, [kept](Response response) { *kept = std::move(response); });
  ASSERT_TRUE(api_->Admit(call));
  api_->Handle(call);
  EXPECT_EQ((*kept)->status, 404);
  EXPECT_NE((*kept)->body.find("任务"), std::string::npos) << (*kept)->body;
}

TEST_F(ApiTest, EscapesTheOwnersNameOnThePage) {
  const Asked page = Get("/");
  EXPECT_NE(page.raw().find("ann&lt;b&gt;"), std::string::npos);
  EXPECT_EQ(page.raw().find("ann<b>"), std::string::npos);
}

TEST_F(ApiTest, SubmitsAPlainTaskWithoutALookAtTheStore) {
  const Asked asked = Post("/api/v1/tasks", kTask);
  EXPECT_EQ(asked.status(), 201) << asked.raw();
  EXPECT_EQ(asked.body().at("id").as_int64(), 1);
  EXPECT_EQ(backend_.rows.reads, 0);
}

TEST_F(ApiTest, PointsAtTheFieldOfABadTask) {
  const Asked asked = Post("/api/v1/tasks", R"({"command":["true"],"workdir":"/","resources":{"gpus":-1}})");
  EXPECT_EQ(asked.status(), 422);
  EXPECT_EQ(asked.body().at("field").as_string(), "/resources/gpus");
  EXPECT_EQ(Post("/api/v1/tasks", "{").status(), 400);
  EXPECT_EQ(Post("/api/v1/tasks", std::string(100000, '[')).status(), 400);
  EXPECT_TRUE(backend_.submits.empty());
}

TEST_F(ApiTest, TellsTheYardOfEndedTasksThatAreFollowed) {
  backend_.rows.tasks[TaskId{3}] = TaskRecord{MakeTask(3, "prep").task, std::make_shared<TaskSpec>(), {}};
  backend_.End(TaskId{3}, Outcome{});
  const Asked asked =
      Post("/api/v1/tasks",
           R"({"command":["true"],"workdir":"/","after":[{"task":"prep","on":"any"},{"task":"@last"}]})");
  ASSERT_EQ(asked.status(), 201) << asked.raw();
  const Submit& submit = backend_.submits.at(0);
  EXPECT_EQ(submit.items[0].spec.after.at(0).task, TaskId{3});
  EXPECT_EQ(submit.items[0].spec.after.at(1).task, TaskId{3});
  EXPECT_EQ(submit.ended.at(TaskId{3}), OutcomeKind::kSucceeded);

  const Asked unknown =
      Post("/api/v1/tasks", R"({"command":["true"],"workdir":"/","after":[{"task":"nobody"}]})");
  EXPECT_EQ(unknown.status(), 422);
  EXPECT_EQ(unknown.body().at("field").as_string(), "/after/0/task");
}

TEST_F(ApiTest, HashesTheSameRequestAlikeWhateverItsOrder) {
  const std::vector<std::pair<std::string, std::string>> key{{"Idempotency-Key", "k1"}};
  Post("/api/v1/tasks", kTask, key);
  Post("/api/v1/tasks", R"({ "workdir":"/", "command":["true"] })", key);
  Post("/api/v1/tasks", R"({"command":["false"],"workdir":"/"})", key);
  ASSERT_EQ(backend_.submits.size(), 3u);
  const auto hash = [&](size_t i) { return backend_.submits[i].items[0].request_hash; };
  EXPECT_EQ(hash(0), hash(1));
  EXPECT_NE(hash(0), hash(2));
  EXPECT_EQ(Post("/api/v1/tasks", kTask, {{"Idempotency-Key", ""}}).status(), 422);
}

TEST_F(ApiTest, AnswersARepeatWith200AndTheEndedTasksName) {
  backend_.rows.tasks[TaskId{3}] = TaskRecord{MakeTask(3, "prep").task, std::make_shared<TaskSpec>(), {}};
  SubmitReceipt receipt;
  receipt.id = TaskId{3};
  receipt.repeated = true;
  receipt.state = "ended";
  backend_.receipt = receipt;
  const Asked asked = Post("/api/v1/tasks", kTask, {{"Idempotency-Key", "k1"}});
  EXPECT_EQ(asked.status(), 200);
  EXPECT_EQ(asked.body().at("name").as_string(), "prep");
}

TEST_F(ApiTest, QueuesABulkAsOneSubmit) {
  const Asked asked = Post("/api/v1/tasks/bulk", std::string(kTask) + "\n\n" + kTask + "\r\n" + kTask);
  ASSERT_EQ(asked.status(), 201) << asked.raw();
  EXPECT_EQ(asked.body().at("count").as_int64(), 3);
  EXPECT_EQ(asked.body().at("first").as_int64(), 1);
  EXPECT_EQ(asked.body().at("last").as_int64(), 3);
  EXPECT_EQ(backend_.submits.size(), 1u);
  EXPECT_EQ(backend_.rows.reads, 0);
}

TEST_F(ApiTest, LetsLinesOfABulkFollowOneAnother) {
  const Asked asked = Post("/api/v1/tasks/bulk", R"({"command":["true"],"workdir":"/","name":"a"}
{"command":["true"],"workdir":"/","name":"b","after":[{"task":"a","on":"any"}]})");
  ASSERT_EQ(asked.status(), 201) << asked.raw();
  const SubmitItem& second = backend_.submits.at(0).items.at(1);
  ASSERT_EQ(second.after_items.size(), 1u);
  EXPECT_EQ(second.after_items[0], (std::pair<size_t, Dependency::On>{0, Dependency::On::kAny}));
  EXPECT_TRUE(second.spec.after.empty());
}

TEST_F(ApiTest, RefusesAWholeBulkForOneBadLineAndNamesIt) {
  const Asked asked = Post("/api/v1/tasks/bulk",
                           std::string(kTask) + "\n\n" + R"({"command":[],"workdir":"/"})" + "\n" + kTask);
  EXPECT_EQ(asked.status(), 422);
  EXPECT_EQ(asked.body().at("field").as_string(), "/lines/3");
  EXPECT_EQ(asked.body().at("errors").as_array().at(0).at("field").as_string(), "/lines/3/command");
  EXPECT_TRUE(backend_.submits.empty());

  backend_.receipt = Invalid(msg::TaskUnknown{.task = "x"}, "/1/resources/gpus");
  const Asked by_yard = Post("/api/v1/tasks/bulk", std::string(kTask) + "\n\n" + kTask);
  EXPECT_EQ(by_yard.body().at("errors").as_array().at(0).at("field").as_string(), "/lines/3/resources/gpus");
  EXPECT_EQ(Post("/api/v1/tasks/bulk", "\n\n").status(), 422);
}

TEST_F(ApiTest, ListsOpenTasksThenEndedOnesInPages) {
  for (int64_t id : {4, 5}) backend_.open[TaskId{id}] = MakeTask(id, "open");
  for (int64_t id : {1, 2, 3}) {
    backend_.rows.tasks[TaskId{id}] = TaskRecord{MakeTask(id, "done").task, std::make_shared<TaskSpec>(), {}};
    backend_.End(TaskId{id}, Outcome{});
  }
  auto ids = [&](const Asked& asked) {
    std::string text;
    const json::value body = asked.body();
    for (const json::value& item : body.at("items").as_array())
      text += std::to_string(item.at("id").as_int64()) + " ";
    const json::value& next = body.at("next");
    return text + (next.is_null() ? "" : next.as_string().c_str());
  };
  EXPECT_EQ(ids(Get("/api/v1/tasks")), "4 5 3 2 1 ");
  EXPECT_EQ(ids(Get("/api/v1/tasks?limit=1")), "4 after=4");
  EXPECT_EQ(ids(Get("/api/v1/tasks?limit=1&after=4")), "5 after=5");
  EXPECT_EQ(ids(Get("/api/v1/tasks?limit=1&after=5")), "3 before=3");
  EXPECT_EQ(ids(Get("/api/v1/tasks?limit=2&before=3")), "2 1 ");
  EXPECT_EQ(ids(Get("/api/v1/tasks?state=open")), "4 5 ");
  EXPECT_EQ(ids(Get("/api/v1/tasks?state=succeeded")), "3 2 1 ");
  EXPECT_EQ(ids(Get("/api/v1/tasks?state=failed")), "");
}

TEST_F(ApiTest, MasksSecretsOfATask) {
  auto spec = std::make_shared<TaskSpec>();
  spec->argv = {"true"};
  spec->workdir = "/";
  spec->variables = {{"WANDB_API_KEY", "hunter2"}, {"LR", "0.1"}};
  spec->environment = {{"HF_TOKEN", "hunter3"}};
  backend_.rows.tasks[TaskId{3}] = TaskRecord{MakeTask(3, "prep").task, spec, {}};
  const Asked asked = Get("/api/v1/tasks/prep");
  ASSERT_EQ(asked.status(), 200) << asked.raw();
  EXPECT_EQ(asked.raw().find("hunter"), std::string::npos);
  EXPECT_NE(asked.raw().find("0.1"), std::string::npos);
}

TEST_F(ApiTest, WaitsForTheEndOfATask) {
  Run(7, "");
  const Asked asked = Get("/api/v1/tasks/7?wait=ended&timeout=30");
  EXPECT_FALSE(asked.answered());
  Outcome outcome;
  outcome.kind = OutcomeKind::kFailed;
  outcome.exit_code = 7;
  backend_.End(TaskId{7}, outcome);
  ASSERT_TRUE(asked.answered());
  EXPECT_EQ(asked.body().at("outcome").at("exit_code").as_int64(), 7);
  EXPECT_EQ(loop_.pending(), 0u);
  EXPECT_EQ(backend_.waiting(), 0u);
}

TEST_F(ApiTest, EndsAWaitAtItsTimeAndWhenTheCallerGoes) {
  Run(7, "");
  const Asked late = Get("/api/v1/tasks/7?wait=ended&timeout=30");
  loop_.Pass(seconds(29));
  EXPECT_FALSE(late.answered());
  loop_.Pass(seconds(1));
  ASSERT_TRUE(late.answered());
  EXPECT_EQ(late.body().at("state").as_string(), "running");

  const Asked gone = Get("/api/v1/tasks/7?wait=ended");
  gone.call->Gone();
  EXPECT_TRUE(gone.answered());
  EXPECT_EQ(loop_.pending(), 0u);
  EXPECT_EQ(backend_.waiting(), 0u);
}

TEST_F(ApiTest, SaysWhyATaskWaitsAndWhyItEnded) {
  TaskView view = MakeTask(4, "w");
  view.reason = msg::WhyAdopting{};
  backend_.open[TaskId{4}] = view;
  EXPECT_EQ(Get("/api/v1/tasks/4/why").body().at("reason").at("id").as_string(), "why.adopting");
  backend_.rows.tasks[TaskId{4}] = TaskRecord{view.task, std::make_shared<TaskSpec>(), {}};
  Outcome outcome;
  outcome.reason = msg::OutcomeCancelledByUser{};
  backend_.End(TaskId{4}, outcome);
  EXPECT_EQ(Get("/api/v1/tasks/4/why").body().at("reason").at("id").as_string(), "outcome.cancelled_by_user");
  EXPECT_EQ(Get("/api/v1/tasks/99/why").status(), 404);
}

TEST_F(ApiTest, GivesLogBytesByRange) {
  Run(7, "hello world");
  const Asked asked = Get("/api/v1/tasks/7/log?offset=6&limit=3");
  ASSERT_EQ(asked.status(), 200);
  EXPECT_EQ(asked.raw(), "wor");
  EXPECT_EQ(asked.header("X-Log-Size"), "11");
  EXPECT_EQ(asked.header("X-Log-Ended"), "false");
  EXPECT_EQ(asked.header("X-Attempt"), "1");
  EXPECT_EQ(Get("/api/v1/tasks/7/log?offset=-5").raw(), "world");
  EXPECT_EQ(Get("/api/v1/tasks/7/log?offset=-500").raw(), "hello world");
  EXPECT_EQ(Get("/api/v1/tasks/7/log?offset=99").raw(), "");
  EXPECT_EQ(Get("/api/v1/tasks/7/log?attempt=2").status(), 404);
}

TEST_F(ApiTest, FollowsALogUntilItGrowsOrEnds) {
  const std::string folder = Run(7, "one\n");
  const Asked grows = Get("/api/v1/tasks/7/log?offset=4&wait=30");
  EXPECT_FALSE(grows.answered());
  std::ofstream(folder + "/log", std::ios::app) << "two\n";
  loop_.Pass(milliseconds(50));
  ASSERT_TRUE(grows.answered());
  EXPECT_EQ(grows.raw(), "two\n");

  const Asked ends = Get("/api/v1/tasks/7/log?offset=8&wait=30");
  EXPECT_FALSE(ends.answered());
  EndAttempt(7);
  ASSERT_TRUE(ends.answered());
  EXPECT_EQ(ends.header("X-Log-Ended"), "true");
  EXPECT_EQ(loop_.pending(), 0u);
  EXPECT_EQ(backend_.waiting(), 0u);
}

TEST_F(ApiTest, WaitsForTheFirstAttemptOfATask) {
  TaskView view = MakeTask(8, "w");
  backend_.open[TaskId{8}] = view;
  EXPECT_EQ(Get("/api/v1/tasks/8/log").header("X-Attempt"), "0");
  const Asked asked = Get("/api/v1/tasks/8/log?wait=30");
  EXPECT_FALSE(asked.answered());
  Run(8, "begun\n");
  backend_.Emit("attempt.planned");
  ASSERT_TRUE(asked.answered());
  EXPECT_EQ(asked.raw(), "begun\n");
}

TEST_F(ApiTest, ReadsNoLogThroughALinkOrAPipe) {
  const std::string folder = Run(7, "x");
  std::filesystem::remove(folder + "/log");
  std::filesystem::create_symlink("/etc/passwd", folder + "/log");
  EXPECT_EQ(Get("/api/v1/tasks/7/log").status(), 403);
  EXPECT_EQ(Get("/api/v1/tasks/7/tail").status(), 403);
  std::filesystem::remove(folder + "/log");
  ASSERT_EQ(::mkfifo((folder + "/log").c_str(), 0600), 0);
  EXPECT_EQ(Get("/api/v1/tasks/7/log").status(), 403);
  EXPECT_EQ(Get("/api/v1/tasks/7/tail").status(), 403);
}

TEST_F(ApiTest, PutsTheLogHeadIntoWords) {
  const std::string folder = Run(7, "");
  EXPECT_TRUE(Get("/api/v1/tasks/7/head").body().at("items").as_array().empty());
  std::ofstream(folder + "/head.json") << R"([{"id":"head.commit","args":{"commit":"abc"}}])";
  const Asked asked = Get("/api/v1/tasks/7/head");
  ASSERT_EQ(asked.body().at("items").as_array().size(), 1u) << asked.raw();
  EXPECT_EQ(asked.body().at("items").as_array()[0].at("text").as_string(), "Git commit abc");
}

TEST_F(ApiTest, WaitsForEvents) {
  backend_.Emit("task.submitted");
  EXPECT_EQ(Get("/api/v1/events").body().at("next").as_int64(), 1);
  const Asked asked = Get("/api/v1/events?since=1&wait=30");
  EXPECT_FALSE(asked.answered());
  backend_.Emit("task.ended");
  ASSERT_TRUE(asked.answered());
  EXPECT_EQ(asked.body().at("next").as_int64(), 2);
  const Asked none = Get("/api/v1/events?since=2&wait=5");
  loop_.Pass(seconds(5));
  ASSERT_TRUE(none.answered());
  EXPECT_TRUE(none.body().at("items").as_array().empty());
  EXPECT_EQ(none.body().at("next").as_int64(), 2);
  EXPECT_EQ(backend_.waiting(), 0u);
}

TEST_F(ApiTest, ActsOnNumbersRangesAndNames) {
  for (int64_t id : {3, 5, 12}) backend_.open[TaskId{id}] = MakeTask(id, "t" + std::to_string(id));
  backend_.rows.tasks[TaskId{12}] = TaskRecord{MakeTask(12, "twelve").task, std::make_shared<TaskSpec>(), {}};
  const Asked asked = Post("/api/v1/tasks/cancel", R"({"tasks":["3-9",12,"twelve","nobody","77","20-30"]})");
  ASSERT_EQ(asked.status(), 200) << asked.raw();
  std::string told;
  const json::value body = asked.body();
  for (const json::value& item : body.at("items").as_array()) {
    const json::value& id = item.at("id");
    told += (id.is_string() ? std::string(id.as_string()) : std::to_string(id.as_int64())) +
            (item.at("ok").as_bool() ? "+ " : "- ");
  }
  EXPECT_EQ(told, "nobody- 20-30- 3+ 5+ 12+ 77- ");
}

TEST_F(ApiTest, GivesTheYardTheRecordsOfEndedTasks) {
  backend_.rows.tasks[TaskId{3}] = TaskRecord{MakeTask(3, "prep").task, std::make_shared<TaskSpec>(), {}};
  backend_.End(TaskId{3}, Outcome{});
  const Asked asked = Post("/api/v1/tasks/retry", R"({"tasks":["prep"]})");
  EXPECT_TRUE(asked.body().at("items").as_array().at(0).at("ok").as_bool()) << asked.raw();
  EXPECT_EQ(backend_.acts.at(0).ended.size(), 1u);
}

TEST_F(ApiTest, RefusesActionsThatNameNothing) {
  EXPECT_EQ(Post("/api/v1/tasks/cancel", "").status(), 422);
  EXPECT_EQ(Post("/api/v1/tasks/cancel", R"({"task":["3"]})").status(), 422);
  EXPECT_EQ(Post("/api/v1/tasks/hold", R"({"all":true})").status(), 422);
  EXPECT_EQ(Post("/api/v1/tasks/cancel", R"({"tasks":["9-3"]})").status(), 422);
  EXPECT_EQ(Post("/api/v1/tasks/cancel", R"({"tasks":["12.2"]})").status(), 422);
  EXPECT_EQ(Post("/api/v1/tasks/cancel", R"({"tasks":["1-999999999"]})").status(), 422);
  EXPECT_EQ(Post("/api/v1/tasks/priority", R"({"tasks":["3"]})").status(), 422);
  EXPECT_TRUE(backend_.acts.empty());
}

TEST_F(ApiTest, EndsTheDaemonOnlyAfterTheAnswer) {
  backend_.facts.running = {TaskId{4}};
  const Asked asked = Post("/api/v1/down", "");
  ASSERT_EQ(asked.status(), 200);
  EXPECT_EQ(asked.body().at("running").as_array().size(), 1u);
  EXPECT_TRUE(downs_.empty());
  (*asked.response)->after();
  EXPECT_EQ(downs_, std::vector<bool>{false});

  const Asked cancelled = Post("/api/v1/down", R"({"cancel":true})");
  ASSERT_EQ(cancelled.status(), 200);
  EXPECT_TRUE(backend_.acts.at(0).all_open);
  EXPECT_FALSE(backend_.pauses.at(0).paused) << "the next start should not find a paused queue";
}

}  // namespace
}  // namespace ty
