#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/paths.h"
#include "base/text.h"
#include "http/testing.h"
#include "msg/devices.h"
#include "msg/outcome.h"
#include "msg/store.h"
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
    settings.now = [this] { return now_; };
    settings.on_signed_out = [this](const std::string& browser) { signed_out_.push_back(browser); };
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

  // A code as the socket gives it, and what a browser gets for one.
  std::string Code() { return std::string(Post("/api/v1/session/code", "").body().at("code").as_string()); }
  Asked SignIn(const std::string& code) {
    return Send("POST", "/api/v1/session", json::serialize(json::object{{"code", code}}), {}, Peer{});
  }
  // The Cookie that a browser sends after this answer.
  static std::string CookieOf(const Asked& asked) {
    const std::string set = asked.header("Set-Cookie");
    return set.substr(0, set.find(';'));
  }
  Asked ByCookie(std::string method, std::string target, const std::string& cookie,
                 std::vector<std::pair<std::string, std::string>> headers = {}) {
    headers.emplace_back("Cookie", cookie);
    return Send(std::move(method), std::move(target), "", std::move(headers), Peer{});
  }

  Time now_ = FromNanos(0) + hours(24 * 365 * 50);
  std::string home_;
  HandLoop loop_;
  MapBackend backend_;
  std::unique_ptr<Api> api_;
  std::vector<bool> downs_;
  std::vector<std::string> signed_out_;
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

TEST_F(ApiTest, SignsABrowserInByACodeThatWorksOnce) {
  EXPECT_EQ(Send("POST", "/api/v1/session/code", "", {}, Peer{}).status(), 401);
  const std::string code = Code();
  const Asked in = SignIn(code);
  ASSERT_EQ(in.status(), 200);
  EXPECT_TRUE(in.body().at("signed_in").as_bool());
  EXPECT_EQ(in.header("Set-Cookie").find("trainyard_i1="), 0u);
  EXPECT_EQ(SignIn(code).status(), 401);
  EXPECT_EQ(SignIn(code).body().at("field").as_string(), "/code");

  const std::string cookie = CookieOf(in);
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", cookie).status(), 200);
  EXPECT_TRUE(ByCookie("GET", "/api/v1/session", cookie).body().at("signed_in").as_bool());
  EXPECT_FALSE(Send("GET", "/api/v1/session", "", {}, Peer{}).body().at("signed_in").as_bool());
  EXPECT_TRUE(Get("/api/v1/session").body().at("signed_in").as_bool());
  EXPECT_EQ(ByCookie("POST", "/api/v1/down", cookie, {{"Origin", "http://localhost"}}).status(), 401);
  EXPECT_EQ(ByCookie("POST", "/api/v1/session/code", cookie, {{"Origin", "http://localhost"}}).status(), 401);
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", cookie + "; " + cookie).status(), 401);
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", cookie, {{"Cookie", cookie}}).status(), 401);
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", "trainyard_i2" + cookie.substr(cookie.find('='))).status(), 401);
}

TEST_F(ApiTest, TakesNoCodeThatIsOldOrNoCodeAtAll) {
  const std::string code = Code();
  now_ += minutes(5);
  EXPECT_EQ(SignIn(code).status(), 401);
  EXPECT_EQ(SignIn("").status(), 401);
  EXPECT_EQ(Send("POST", "/api/v1/session", R"({"code":1})", {}, Peer{}).status(), 422);
  EXPECT_EQ(Send("POST", "/api/v1/session", R"({"cod":"x"})", {}, Peer{}).status(), 422);
  for (int i = 1; i < 20; i++) EXPECT_EQ(SignIn(std::string(32, 'x')).status(), 401);
  EXPECT_EQ(SignIn(std::string(32, 'x')).status(), 429);
  EXPECT_EQ(SignIn(Code()).status(), 200);
}

TEST_F(ApiTest, WantsTheOriginOfAChangeThatABrowserAsksFor) {
  const std::string cookie = CookieOf(SignIn(Code()));
  EXPECT_EQ(ByCookie("POST", "/api/v1/queue/pause", cookie).status(), 403);
  EXPECT_EQ(ByCookie("POST", "/api/v1/queue/pause", cookie, {{"Origin", "null"}}).status(), 403);
  EXPECT_EQ(ByCookie("POST", "/api/v1/queue/pause", cookie, {{"Origin", "http://evil.test"}}).status(), 403);
  EXPECT_TRUE(backend_.pauses.empty());
  EXPECT_EQ(ByCookie("POST", "/api/v1/queue/pause", cookie, {{"Origin", "http://localhost"}}).status(), 200);
}

TEST_F(ApiTest, SignsOneBrowserOutOrOverTheSocketAll) {
  const std::string one = CookieOf(SignIn(Code())), two = CookieOf(SignIn(Code())),
                    three = CookieOf(SignIn(Code()));
  const Asked out = ByCookie("DELETE", "/api/v1/session", one, {{"Origin", "http://localhost"}});
  ASSERT_EQ(out.status(), 200);
  EXPECT_FALSE(out.body().at("signed_in").as_bool());
  EXPECT_NE(out.header("Set-Cookie").find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", one).status(), 401);
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", two).status(), 200);
  EXPECT_EQ(Send("DELETE", "/api/v1/session").status(), 200);
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", two).status(), 401);
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", three).status(), 401);
  ASSERT_EQ(signed_out_.size(), 2u);
  EXPECT_EQ(signed_out_[0].size(), 64u);
  EXPECT_EQ(signed_out_[1], "") << "all of them";
}

TEST_F(ApiTest, RenewsTheCookieOfABrowserThatIsUsed) {
  const std::string cookie = CookieOf(SignIn(Code()));
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", cookie).header("Set-Cookie"), "");
  EXPECT_EQ(CookieOf(ByCookie("GET", "/api/v1/session", cookie)), cookie);
  now_ += hours(24 * 29);
  EXPECT_EQ(CookieOf(ByCookie("GET", "/api/v1/tasks", cookie)), cookie);
  now_ += hours(24 * 29);
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", cookie).status(), 200);
  now_ += hours(24 * 31);
  EXPECT_EQ(ByCookie("GET", "/api/v1/tasks", cookie).status(), 401);
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

TEST_F(ApiTest, SaysWhenTheDiskHasNoRoomForAnythingNew) {
  const Error low{Code::kUnavailable, msg::StoreLow{.folder = "/state", .room = 1000, .need = 2000}, {}};
  backend_.receipt = Forward(low);
  backend_.open[TaskId{3}] = MakeTask(3, "three");
  backend_.act_on = [low](TaskId) { return Forward(low); };
  backend_.act_on_device = [low](const std::string&) { return Forward(low); };
  backend_.facts.home = "/state";
  backend_.facts.yard.store = {.low = true, .room = 1000, .need = 2000};
  for (const Asked& asked : {Post("/api/v1/tasks", R"({"command":["true"],"workdir":"/"})"),
                             Post("/api/v1/tasks/hold", R"({"tasks":["3"]})"),
                             Post("/api/v1/devices/hold", R"({"devices":["0"]})")}) {
    EXPECT_EQ(asked.status(), 507);
    EXPECT_EQ(asked.body().at("code").as_string(), "unavailable");
  }
  EXPECT_EQ(Get("/api/v1/status").body().at("read_only").at("id").as_string(), "store.low");
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
  EXPECT_EQ(ids(Get("/api/v1/tasks?state=bad")), "");
  backend_.rows.tasks.at(TaskId{2}).task.outcome->kind = OutcomeKind::kTimeout;
  EXPECT_EQ(ids(Get("/api/v1/tasks?state=bad")), "2 ");
  EXPECT_EQ(ids(Get("/api/v1/tasks?state=succeeded")), "3 1 ");
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

TEST_F(ApiTest, PutsTasksFirstOrGivesThemAPriorityAndNeverBoth) {
  backend_.open[TaskId{3}] = MakeTask(3, "a");
  ASSERT_EQ(Post("/api/v1/tasks/priority", R"({"tasks":[3],"first":true})").status(), 200);
  EXPECT_TRUE(backend_.acts.at(0).first);
  ASSERT_EQ(Post("/api/v1/tasks/priority", R"({"tasks":[3],"priority":"high","first":false})").status(), 200);
  EXPECT_FALSE(backend_.acts.at(1).first);
  EXPECT_EQ(backend_.acts.at(1).priority, 100);
  struct Row {
    const char *verb, *body, *refusal;
  };
  const Row kRows[] = {
      {"priority", R"({"tasks":[3],"priority":1,"first":true})", "act.priority_both /first"},
      {"priority", R"({"tasks":[3],"first":false})", "act.priority_missing /priority"},
      {"priority", R"({"tasks":[3],"first":1})", "api.must_be /first"},
      {"hold", R"({"tasks":[3],"first":true})", "act.priority_elsewhere /first"},
  };
  for (const Row& row : kRows) {
    const Asked asked = Post(std::string("/api/v1/tasks/") + row.verb, row.body);
    ASSERT_EQ(asked.status(), 422) << row.body;
    EXPECT_EQ(std::string(asked.body().at("message").at("id").as_string()) + " " +
                  asked.body().at("field").as_string().c_str(),
              row.refusal);
  }
  EXPECT_EQ(backend_.acts.size(), 2u);
}

TEST_F(ApiTest, KeepsTheOrderOfManyTasksThatAreToGoFirst) {
  for (int64_t id = 1; id <= 2500; id++) backend_.open[TaskId{id}] = MakeTask(id, "t");
  ASSERT_EQ(Post("/api/v1/tasks/priority", R"({"tasks":["1-2500"],"first":true})").status(), 200);
  // The Yard puts each slice before what waits, and with it before the slices that came sooner.
  std::vector<TaskId> queue;
  for (const ty::Act& act : backend_.acts) queue.insert(queue.begin(), act.tasks.begin(), act.tasks.end());
  ASSERT_EQ(queue.size(), 2500u);
  EXPECT_TRUE(std::is_sorted(queue.begin(), queue.end()));
}

// ---- Devices

DeviceView Gpu() {
  DeviceView view;
  view.device = {.id = "GPU-5c1f",
                 .kind = Device::Kind::kGpu,
                 .index = 1,
                 .label = "GPU1",
                 .name = "NVIDIA H200",
                 .pci = "0000:01:00.0",
                 .memory = 150'000};
  view.state = "shared";
  return view;
}

TEST_F(ApiTest, TellsOfACpuSlotWhatThereIsToTell) {
  DeviceView view;
  view.device = {
      .id = "cpu:0", .index = 0, .label = "cpu:0", .name = "CPU slot 0", .cpus = {0, 1}, .memory = 5};
  view.state = "free";
  backend_.facts.devices = {view};
  const json::value body = Get("/api/v1/devices").body();
  EXPECT_EQ(body, json::parse(R"({"items":[{"id":"cpu:0","kind":"cpu","index":0,"label":"cpu:0",
    "name":"CPU slot 0","pci":null,"cpus":[0,1],"memory":{"total":5,"used":null},"state":"free","usable":true,
    "reason":null,"held_until":null,"out_since":null,"leases":[],"reading":null,"processes":null,
    "elsewhere":null}],"next":null,"probe":{"state":"none","reason":null,"driver":null,"cuda":null}})"));
  EXPECT_EQ(Get("/api/v1/status").body().at("devices"), body.at("items"));
}

TEST_F(ApiTest, TellsWhoHasAGpuHowItIsAndWhatRunsOnIt) {
  DeviceView view = Gpu();
  LeaseView lease;
  lease.task = TaskId{12};
  lease.task_name = "b";
  lease.attempt = 2;
  lease.share_milli = 667;
  lease.asked_milli = 500;
  lease.mode = ShareMode::kTurns;
  lease.memory = 80'000;
  lease.used = 70'000;
  lease.frozen = true;
  lease.uid.bytes[15] = 12;
  view.leases = {lease};
  DeviceReading reading;
  reading.memory_used = 90'000;
  reading.utilisation = 0.93;
  reading.temperature_c = 71;
  reading.throttle = {"thermal"};
  reading.ecc_uncorrectable = 0;
  DeviceProcess ours, desktop, foreign;
  ours.pid = 100;
  ours.attempt = lease.uid;
  ours.memory = 70'000;
  ours.user = "ann";
  ours.command = "python train.py";
  ours.since = FromNanos(0);
  desktop.pid = 1;
  desktop.type = DeviceProcess::Type::kGraphics;
  foreign.pid = 200;
  foreign.start = 7;
  foreign.attempt = Ulid{};  // of another yard of the same user
  reading.processes = {ours, desktop, foreign};
  view.reading = reading;
  view.read_at = FromNanos(1'000'000'000);
  view.foreign = {foreign};
  view.tasks = {{lease.uid, TaskId{12}}};
  backend_.facts.devices = {view};
  backend_.facts.yard.probe = ProbeState::kGood;
  backend_.facts.yard.driver = "550.54.14";
  backend_.facts.yard.cuda = "12.4";

  const json::value body = Get("/api/v1/devices").body();
  const json::value& device = body.at("items").at(0);
  EXPECT_EQ(device.at("leases"),
            json::parse(R"([{"task":12,"task_name":"b","attempt":2,"since":"1970-01-01T00:00:00.000Z",
    "share":0.667,"asked":0.5,"mode":"turns","memory":80000,"used":70000,"frozen":true}])"));
  EXPECT_EQ(device.at("memory"), json::parse(R"({"total":150000,"used":90000})"));
  EXPECT_EQ(device.at("reading"), json::parse(R"({"at":"1970-01-01T00:00:01.000Z","health":"good",
    "utilisation":0.93,"memory_utilisation":null,"temperature_c":71.0,"power_w":null,"power_limit_w":null,
    "clock_mhz":null,"memory_clock_mhz":null,"fan":null,"throttle":["thermal"],"ecc_uncorrectable":0})"));
  EXPECT_EQ(device.at("processes"), json::parse(R"([
    {"pid":100,"type":"compute","memory":70000,"user":"ann","command":"python train.py",
     "since":"1970-01-01T00:00:00.000Z","task":12,"foreign":false},
    {"pid":1,"type":"graphics","memory":null,"user":null,"command":null,"since":null,"task":null,"foreign":false},
    {"pid":200,"type":"compute","memory":null,"user":null,"command":null,"since":null,"task":null,"foreign":true}
    ])"));
  EXPECT_EQ(body.at("probe"),
            json::parse(R"({"state":"good","reason":null,"driver":"550.54.14","cuda":"12.4"})"));
}

TEST_F(ApiTest, TellsWhyADeviceIsNotGivenOut) {
  DeviceView view = Gpu();
  view.usable = false;
  view.state = "elsewhere";
  view.trouble = msg::WhyAdopting{};
  view.held_until = FromNanos(0);
  view.out_since = FromNanos(0);
  HostHolder holder;
  holder.user = "ben";
  holder.task = 4;
  holder.since = FromNanos(0);
  view.elsewhere = holder;
  backend_.facts.devices = {view};
  backend_.facts.yard.probe = ProbeState::kMismatch;
  backend_.facts.yard.probe_trouble = msg::WhyAdopting{};
  const json::value body = Get("/api/v1/devices").body();
  const json::value& device = body.at("items").at(0);
  EXPECT_FALSE(device.at("usable").as_bool());
  EXPECT_EQ(device.at("reason").at("id").as_string(), "why.adopting");
  EXPECT_EQ(device.at("held_until").as_string(), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(device.at("out_since").as_string(), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(device.at("elsewhere"),
            json::parse(R"({"user":"ben","task":4,"task_name":null,"since":"1970-01-01T00:00:00.000Z"})"));
  EXPECT_EQ(body.at("probe").at("state").as_string(), "mismatch");
  EXPECT_EQ(body.at("probe").at("reason").at("id").as_string(), "why.adopting");
}

TEST_F(ApiTest, HoldsAndReleasesTheDevicesThatAreNamed) {
  backend_.act_on_device = [](const std::string& device) -> Status {
    if (device == "GPU7") return NotFound(msg::DevicesUnknown{.text = device}, "/devices");
    return {};
  };
  const Asked held =
      Post("/api/v1/devices/hold", R"({"devices":["0",1,"GPU7","0"],"until":"2020-01-01T00:00:00+08:00"})");
  ASSERT_EQ(held.status(), 200) << held.raw();
  const json::value body = held.body();
  const json::array& items = body.at("items").as_array();
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0], json::parse(R"({"device":"0","ok":true})"));
  EXPECT_EQ(items[1], json::parse(R"({"device":"1","ok":true})"));
  EXPECT_FALSE(items[2].at("ok").as_bool());
  EXPECT_EQ(items[2].at("problem").at("status").as_int64(), 404);
  ASSERT_EQ(backend_.device_acts.size(), 1u);
  EXPECT_EQ(backend_.device_acts[0].verb, DeviceVerb::kHold);
  EXPECT_EQ(backend_.device_acts[0].until, ParseIso("2019-12-31T16:00:00Z"));

  ASSERT_EQ(Post("/api/v1/devices/hold", R"({"devices":["cpu:0"],"until":null})").status(), 200);
  EXPECT_EQ(backend_.device_acts.at(1).until, std::nullopt);
  ASSERT_EQ(Post("/api/v1/devices/release", R"({"devices":["cpu:0"]})").status(), 200);
  EXPECT_EQ(backend_.device_acts.at(2).verb, DeviceVerb::kRelease);
}

TEST_F(ApiTest, RefusesHoldsThatNameNothingOrAPastTime) {
  struct Row {
    const char *verb, *body, *refusal;
  };
  const Row kRows[] = {
      {"hold", "", "devices.none_named /devices"},
      {"hold", R"({"devices":[]})", "devices.none_named /devices"},
      {"hold", R"({"devices":null})", "devices.none_named /devices"},
      {"hold", R"({"devices":["0",""]})", "devices.none_named /devices/1"},
      {"hold", R"({"devices":[{}]})", "devices.none_named /devices/0"},
      {"hold", R"({"devices":"0"})", "api.must_be /devices"},
      {"hold", R"({"device":["0"]})", "api.unknown_key /device"},
      {"hold", R"({"devices":["0"],"until":"soon"})", "api.time /until"},
      {"hold", R"({"devices":["0"],"until":""})", "api.time /until"},
      {"hold", R"({"devices":["0"],"until":1796040000})", "api.must_be /until"},
      {"hold", R"({"devices":["0"],"until":"2019-01-01T00:00:00Z"})", "devices.until_past /until"},
      {"release", R"({"devices":["0"],"until":null})", "api.unknown_key /until"},
      {"release", R"({"devices":[]})", "devices.none_named /devices"},
  };
  for (const Row& row : kRows) {
    const Asked asked = Post(std::string("/api/v1/devices/") + row.verb, row.body);
    ASSERT_EQ(asked.status(), 422) << row.body;
    EXPECT_EQ(std::string(asked.body().at("message").at("id").as_string()) + " " +
                  asked.body().at("field").as_string().c_str(),
              row.refusal);
  }
  EXPECT_TRUE(backend_.device_acts.empty());
}

// ---- Ranks

// Task 7 with three ranks, whose logs hold "rank 0\n" and so on.
std::string RunRanks(MapBackend& backend, const std::string& home) {
  TaskView& view = backend.open[TaskId{7}];
  view.task.wish.ranks = true;
  view.attempt->processes = 3;
  backend.rows.tasks[TaskId{7}] = TaskRecord{view.task, std::make_shared<TaskSpec>(), {*view.attempt}};
  const AttemptPaths paths{StatePaths{home}.Attempt(view.attempt->uid)};
  std::filesystem::remove(paths.Log());
  for (int rank = 0; rank < 3; rank++) std::ofstream(paths.Log(rank)) << "rank " << rank << "\n";
  return paths.folder;
}

TEST_F(ApiTest, GivesTheLogOfEachRank) {
  Run(7, "");
  const std::string folder = RunRanks(backend_, home_);
  const Asked first = Get("/api/v1/tasks/7/log");
  EXPECT_EQ(first.raw(), "rank 0\n");
  EXPECT_EQ(first.header("X-Rank"), "0");
  EXPECT_EQ(first.header("X-Ranks"), "3");
  const Asked last = Get("/api/v1/tasks/7/log?rank=2");
  EXPECT_EQ(last.raw(), "rank 2\n");
  EXPECT_EQ(last.header("X-Rank"), "2");
  const Asked none = Get("/api/v1/tasks/7/log?rank=3");
  EXPECT_EQ(none.status(), 404);
  EXPECT_EQ(none.body().at("message").at("id").as_string(), "task.no_rank");
  EXPECT_EQ(none.body().at("message").at("args").at("last").as_int64(), 2);
  EXPECT_EQ(none.body().at("field").as_string(), "rank");
  EXPECT_EQ(Get("/api/v1/tasks/7/log?rank=-1").status(), 422);
  EXPECT_EQ(Get("/api/v1/tasks/7").body().at("log_path").as_string(), folder + "/log.0");

  const Asked grows = Get("/api/v1/tasks/7/log?rank=1&offset=7&wait=30");
  EXPECT_FALSE(grows.answered());
  std::ofstream(folder + "/log.0", std::ios::app) << "of another\n";
  loop_.Pass(milliseconds(50));
  EXPECT_FALSE(grows.answered());
  std::ofstream(folder + "/log.1", std::ios::app) << "more\n";
  loop_.Pass(milliseconds(50));
  ASSERT_TRUE(grows.answered());
  EXPECT_EQ(grows.raw(), "more\n");
}

TEST_F(ApiTest, KnowsNoRankOfAnAttemptOfOneProcess) {
  Run(7, "x");
  const Asked whole = Get("/api/v1/tasks/7/log");
  EXPECT_EQ(whole.header("X-Rank"), "");
  EXPECT_EQ(whole.header("X-Ranks"), "");
  const Asked rank = Get("/api/v1/tasks/7/log?rank=0");
  EXPECT_EQ(rank.status(), 404);
  EXPECT_EQ(rank.body().at("message").at("id").as_string(), "task.no_ranks");
  EXPECT_EQ(Get("/api/v1/tasks/7/tail?rank=0").status(), 404);
  EXPECT_TRUE(Get("/api/v1/tasks/7/tail").body().at("rank").is_null());
}

TEST_F(ApiTest, ShowsTheTailOfTheRankThatFailed) {
  Run(7, "");
  const std::string folder = RunRanks(backend_, home_);
  EXPECT_EQ(Get("/api/v1/tasks/7/tail").body().at("rank").as_int64(), 0);
  Attempt attempt = *backend_.open[TaskId{7}].attempt;
  attempt.state = AttemptState::kEnded;
  attempt.outcome = Outcome{.kind = OutcomeKind::kFailed, .exit_code = 3, .failed_rank = 2};
  attempt.rule = {"retry.not_helpful", {}};
  attempt.ranks = {{.exit_code = {}, .signal = 15}, {}, {.exit_code = 3, .signal = {}}};
  backend_.rows.tasks[TaskId{7}].attempts = {attempt};
  backend_.End(TaskId{7}, *attempt.outcome);
  const json::value tail = Get("/api/v1/tasks/7/tail").body();
  EXPECT_EQ(tail.at("rank").as_int64(), 2);
  EXPECT_EQ(tail.at("lines"), json::parse(R"(["rank 2"])"));
  EXPECT_EQ(Get("/api/v1/tasks/7/tail?rank=1").body().at("lines"), json::parse(R"(["rank 1"])"));
  EXPECT_EQ(Get("/api/v1/tasks/7/tail?rank=3").status(), 404);

  const json::value run = Get("/api/v1/tasks/7").body().at("attempts").at(0);
  EXPECT_EQ(run.at("processes").as_int64(), 3);
  EXPECT_EQ(run.at("ranks"), json::parse(R"([{"rank":0,"exit_code":null,"signal":15},
    {"rank":1,"exit_code":null,"signal":null},{"rank":2,"exit_code":3,"signal":null}])"));
  EXPECT_EQ(run.at("outcome").at("failed_rank").as_int64(), 2);
  EXPECT_EQ(run.at("rule").at("id").as_string(), "retry.not_helpful");
  EXPECT_EQ(run.at("log_path").as_string(), folder + "/log.2") << "it tells why";
  const Asked whole = Get("/api/v1/tasks/7/log");
  EXPECT_EQ(whole.header("X-Rank"), "0");
  EXPECT_EQ(whole.header("X-Failed-Rank"), "2");
}

TEST_F(ApiTest, TellsTheShareOfATaskAndWhetherItIsItsTurn) {
  Run(7, "");
  json::value task = Get("/api/v1/tasks").body().at("items").at(0);
  EXPECT_TRUE(task.at("share").is_null());
  EXPECT_FALSE(task.at("frozen").as_bool());
  backend_.open[TaskId{7}].task.wish.share = {500, ShareMode::kTurns, seconds(3)};
  backend_.open[TaskId{7}].frozen = true;
  task = Get("/api/v1/tasks").body().at("items").at(0);
  EXPECT_EQ(task.at("share").as_string(), "0.5:turns:3s");
  EXPECT_TRUE(task.at("frozen").as_bool());
  const json::value detail = Get("/api/v1/tasks/7").body();
  EXPECT_EQ(detail.at("share").as_string(), "0.5:turns:3s");
  EXPECT_EQ(detail.at("attempts").at(0).at("processes").as_int64(), 1);
  EXPECT_TRUE(detail.at("attempts").at(0).at("ranks").as_array().empty());
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
