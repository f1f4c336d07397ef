// The live streams without sockets: what is read, when, and who is sent what.
#include "http/live.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/paths.h"
#include "http/api.h"
#include "http/testing.h"

namespace ty {
namespace {

using testing::HandLoop;
using testing::MakeTask;
using testing::MapBackend;
namespace json = boost::json;

// A browser that keeps what it was sent; `reads` is off while it is busy.
struct Browser final : LiveLine {
  std::vector<std::string> frames;
  size_t kept = 0;
  bool reads = true;
  int closed = 0;

  void Send(Frame frame) override {
    ASSERT_EQ(closed, 0);
    frames.push_back(*frame);
    if (!reads) kept += frame->size();
  }
  size_t pending() const override { return kept; }
  void Close(int code) override { closed = code; }

  // What came since the last time.
  std::vector<json::value> Take() {
    std::vector<json::value> taken;
    for (const std::string& frame : std::exchange(frames, {})) taken.push_back(json::parse(frame));
    return taken;
  }
  // "task/1 7" is a value of a topic and its seq; "events 9 resync", "pong", "hello".
  std::vector<std::string> Heads() {
    std::vector<std::string> heads;
    for (const json::value& frame : Take()) {
      const json::object& object = frame.as_object();
      if (!object.contains("topic")) {
        heads.emplace_back(object.begin()->key());
        continue;
      }
      std::string head(object.at("topic").as_string());
      head += " " + std::to_string(object.at("seq").as_int64());
      if (object.contains("problem"))
        head += " " + std::to_string(object.at("problem").at("status").as_int64());
      if (object.contains("resync")) head += " resync";
      heads.push_back(head);
    }
    return heads;
  }
};

using Heads = std::vector<std::string>;

class LiveTest : public ::testing::Test {
 protected:
  LiveTest() {
    home_ = ::testing::TempDir() + "live-" + std::to_string(::getpid());
    std::filesystem::create_directories(home_ + "/attempts");
    ApiSettings settings;
    settings.version = "1";
    settings.home = home_;
    settings.owner = "ann";
    settings.instance = "i1";
    settings.url = [] { return ""; };
    settings.now = [this] { return now_; };
    settings.on_signed_out = [this](const std::string& browser) { hub_->SignedOut(browser); };
    api_ = std::make_unique<Api>(std::move(settings), backend_, loop_);
    hub_ = std::make_unique<LiveHub>(
        LiveHub::Settings{.instance = "i1", .version = "1", .now = [this] { return now_; }}, *api_, loop_);
  }
  ~LiveTest() override {
    hub_.reset();
    std::filesystem::remove_all(home_);
  }

  struct Tab {
    std::shared_ptr<Browser> browser = std::make_shared<Browser>();
    std::shared_ptr<LiveClient> client;

    void Say(const std::string& frame) { client->Take(frame); }
    Heads Got() { return browser->Heads(); }
  };
  Tab Open(Language language = Language::kEnglish, std::string signed_in = "") {
    Tab tab;
    tab.client = hub_->Open(tab.browser, language, std::move(signed_in));
    return tab;
  }
  Tab OpenAndSub(const std::string& topic) {
    Tab tab = Open();
    tab.Say("{\"sub\":[\"" + topic + "\"]}");
    return tab;
  }
  void AddTask(int64_t id, TaskState state = Running{}) {
    TaskView view = MakeTask(id, "t" + std::to_string(id), state);
    backend_.open[view.task.id] = view;
    backend_.rows.tasks[view.task.id] = TaskRecord{view.task, std::make_shared<TaskSpec>(), {}};
  }
  void AddLog(int64_t id, const std::string& text) {
    AddTask(id);
    TaskView& view = backend_.open[TaskId{id}];
    view.task.attempts = 1;
    Attempt attempt;
    attempt.uid.bytes[15] = static_cast<uint8_t>(id);
    attempt.task = view.task.id;
    attempt.state = AttemptState::kRunning;
    view.attempt = attempt;
    backend_.rows.tasks[view.task.id] = TaskRecord{view.task, std::make_shared<TaskSpec>(), {attempt}};
    std::filesystem::create_directories(StatePaths{home_}.Attempt(attempt.uid));
    std::ofstream(LogOf(id)) << text;
  }
  std::string LogOf(int64_t id) {
    Ulid uid;
    uid.bytes[15] = static_cast<uint8_t>(id);
    return AttemptPaths{StatePaths{home_}.Attempt(uid)}.Log();
  }
  void Progress(int64_t id, double done) {
    backend_.open[TaskId{id}].progress = ty::Progress{.done = done, .total = 10.0};
  }

  Time now_ = FromNanos(0) + hours(24 * 365 * 50);
  std::string home_;
  HandLoop loop_;
  MapBackend backend_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<LiveHub> hub_;
};

TEST_F(LiveTest, GreetsAndAnswersPings) {
  backend_.Emit("task.submitted");
  Tab tab = Open();
  const json::value hello = tab.browser->Take().at(0).at("hello");
  EXPECT_EQ(hello.at("instance").as_string(), "i1");
  EXPECT_EQ(hello.at("seq").as_int64(), 1);
  EXPECT_TRUE(ParseIso(std::string(hello.at("now").as_string())));
  tab.Say(R"({"ping":7})");
  EXPECT_EQ(tab.browser->frames.at(0), R"({"pong":7})");
  tab.browser->frames.clear();
  loop_.Pass(seconds(10));
  EXPECT_EQ(tab.Got(), Heads{"beat"});
}

TEST_F(LiveTest, SendsTheBodyThatTheRouteGives) {
  AddTask(1);
  Tab tab = OpenAndSub("task/1");
  const std::vector<json::value> frames = tab.browser->Take();
  ASSERT_EQ(frames.size(), 2u);
  Request request;
  request.method = "GET";
  request.target = "/api/v1/tasks/1";
  request.peer = {.socket = true, .trusted = true};
  std::string body;
  auto call = std::make_shared<Call>(request, [&](Response response) { body = response.body; });
  ASSERT_TRUE(api_->Admit(call));
  api_->Handle(call);
  EXPECT_EQ(frames[1].at("value"), json::parse(body));
}

TEST_F(LiveTest, SendsOnlyWhatIsNewAndNoSoonerThanThePeriod) {
  AddTask(1);
  Progress(1, 1);
  Tab tab = OpenAndSub("task/1");
  EXPECT_EQ(tab.Got(), (Heads{"hello", "task/1 0"}));
  Progress(1, 2);
  loop_.Pass(milliseconds(499));
  EXPECT_EQ(tab.Got(), Heads{});
  Progress(1, 3);
  loop_.Pass(milliseconds(1));
  const std::vector<json::value> frames = tab.browser->Take();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].at("value").at("progress").at("done").as_double(), 3) << "the newest, once";
  loop_.Pass(seconds(5));
  EXPECT_EQ(tab.Got(), Heads{}) << "nothing has changed";
}

TEST_F(LiveTest, LooksMoreSeldomWhereNothingHappensAndAtOnceAtNews) {
  AddTask(1);
  Tab tab = OpenAndSub("task/1");
  loop_.Pass(seconds(9));
  tab.Got();
  const int before = backend_.rows.reads;
  loop_.Pass(milliseconds(999));
  EXPECT_LE(backend_.rows.reads - before, 1);
  Progress(1, 5);
  backend_.Emit("progress.mark");
  loop_.Pass(milliseconds(500));
  EXPECT_EQ(tab.Got(), (Heads{"beat", "task/1 1"}));
}

TEST_F(LiveTest, ReadsATopicOnceForAllTabs) {
  AddTask(1);
  std::vector<Tab> tabs;
  for (int i = 0; i < 10; i++) tabs.push_back(OpenAndSub("task/1"));
  EXPECT_EQ(hub_->topics(), 1u);
  for (Tab& tab : tabs) EXPECT_EQ(tab.Got(), (Heads{"hello", "task/1 0"}));
  Progress(1, 1);
  const int before = backend_.rows.reads;
  loop_.Pass(milliseconds(500));
  EXPECT_EQ(backend_.rows.reads - before, 1);
  for (Tab& tab : tabs) EXPECT_EQ(tab.Got(), Heads{"task/1 0"});
}

TEST_F(LiveTest, ReadsNothingWhenNobodyWantsAnything) {
  AddTask(1);
  Tab tab = OpenAndSub("task/1");
  tab.Say(R"({"unsub":["task/1","never"]})");
  EXPECT_EQ(hub_->topics(), 0u);
  const int before = backend_.rows.reads;
  loop_.Pass(seconds(9));
  EXPECT_EQ(backend_.rows.reads, before);
  tab.client->Gone();
  EXPECT_EQ(hub_->streams(), 0u);
  backend_.Emit("task.submitted");
  loop_.Pass(minutes(1));
  EXPECT_EQ(backend_.rows.reads, before);
  EXPECT_EQ(backend_.waiting(), 0u);
  EXPECT_EQ(loop_.pending(), 0u);
}

TEST_F(LiveTest, SpeaksTheLanguageOfEachTab) {
  Tab english = OpenAndSub("yard"), chinese = Open(Language::kChinese);
  chinese.Say(R"({"sub":["yard"]})");
  EXPECT_EQ(english.browser->Take().at(1).at("value").at("language").as_string(), "en");
  EXPECT_EQ(chinese.browser->Take().at(1).at("value").at("language").as_string(), "zh-CN");
  EXPECT_EQ(hub_->topics(), 2u);
}

TEST_F(LiveTest, EndsATopicThatCannotBeRead) {
  Tab tab = OpenAndSub("task/99");
  EXPECT_EQ(tab.Got(), (Heads{"hello", "task/99 0 404"}));
  EXPECT_EQ(hub_->topics(), 0u);
  for (const char* topic :
       {"nothing", "task/", "task/0", "task/x", "task/1/2", "task/@last", "log/1/1", "log/1/0/-", "log/1/1/x",
        "log/1/1/-1", "log/1/1/99999999", "/", "", "task/99999999999999999999"}) {
    tab.Say("{\"sub\":[\"" + std::string(topic) + "\"]}");
    EXPECT_EQ(tab.Got(), Heads{std::string(topic) + " 0 404"});
  }
  AddTask(99);
  tab.Say(R"({"sub":["task/99"]})");
  EXPECT_EQ(tab.Got(), Heads{"task/99 0"});
  backend_.open.clear();
  backend_.rows.tasks.clear();
  loop_.Pass(seconds(1));
  EXPECT_EQ(tab.Got(), Heads{"task/99 0 404"}) << "it was removed";
}

TEST_F(LiveTest, EndsAStreamThatSaysSomethingElse) {
  for (const char* frame :
       {"", "x", "[]", "{}", "null", R"({"sub":"yard"})", R"({"sub":[1]})", R"({"foo":1})",
        R"({"sub":["yard"],"ping":1})", R"({"ping":"x"})", R"({"since":1})",
        R"({"unsub":["events"],"since":1})", R"({"sub":["events"],"since":-1})",
        R"({"sub":["events"],"since":1.5})", "{\"sub\":[\"\xff\"]}"}) {
    Tab tab = Open();
    tab.Got();
    tab.Say(frame);
    EXPECT_EQ(tab.browser->closed, kBadFrame) << frame;
    tab.Say(R"({"ping":1})");
    EXPECT_EQ(tab.Got(), Heads{});
  }
  Tab tab = Open();
  tab.Say("{\"sub\":[\"" + std::string(101, 'x') + "\"]}");
  EXPECT_EQ(tab.browser->closed, kBadFrame);
  EXPECT_EQ(hub_->streams(), 0u);
}

TEST_F(LiveTest, FollowsSixtyFourTopicsAtMost) {
  Tab tab = Open();
  for (int i = 1; i <= 65; i++) {
    AddTask(i);
    tab.Say("{\"sub\":[\"task/" + std::to_string(i) + "\"]}");
  }
  EXPECT_EQ(hub_->topics(), 64u);
  EXPECT_EQ(tab.Got().back(), "task/65 0 409");
  tab.Say(R"({"sub":["task/64"]})");
  EXPECT_EQ(tab.Got(), Heads{"task/64 0"}) << "one it has already";
  tab.Say(R"({"unsub":["task/1"]})");
  tab.Say(R"({"sub":["events"]})");
  EXPECT_EQ(tab.Got(), Heads{"events 0"});
  tab.Say(R"({"sub":["task/1"]})");
  EXPECT_EQ(tab.Got(), Heads{"task/1 0 409"});
}

TEST_F(LiveTest, TellsOfTheQueueWhenItMovedThoughItsNumbersAreTheSame) {
  backend_.facts.yard.waiting = 8;
  backend_.facts.yard.held = 1;
  Tab tab = OpenAndSub("queue");
  EXPECT_EQ(tab.browser->Take().at(1).at("value"), json::parse(R"({"waiting":7,"held":1,"paused":false})"));
  loop_.Pass(seconds(2));
  EXPECT_EQ(tab.Got(), Heads{});
  backend_.Emit("task.changed");
  loop_.Pass(milliseconds(500));
  EXPECT_EQ(tab.Got(), Heads{"queue 1"});
  backend_.Emit("checkpoint.saved");
  loop_.Pass(seconds(2));
  EXPECT_EQ(tab.Got(), Heads{});
}

TEST_F(LiveTest, TellsHowLongALogIs) {
  AddLog(1, "one\n");
  Tab tab = OpenAndSub("log/1/1/-");
  EXPECT_EQ(tab.browser->Take().at(1).at("value"), json::parse(R"({"size":4,"ended":false})"));
  std::ofstream(LogOf(1), std::ios::app) << "two\n";
  loop_.Pass(milliseconds(250));
  EXPECT_EQ(tab.browser->Take().at(0).at("value"), json::parse(R"({"size":8,"ended":false})"));
  Attempt ended = *backend_.open[TaskId{1}].attempt;
  ended.state = AttemptState::kEnded;
  backend_.rows.tasks[TaskId{1}].attempts = {ended};
  backend_.End(TaskId{1}, Outcome{});
  backend_.Emit("attempt.ended");
  loop_.Pass(milliseconds(250));
  EXPECT_EQ(tab.browser->Take().at(0).at("value"), json::parse(R"({"size":8,"ended":true})"));
  const int before = backend_.rows.reads;
  loop_.Pass(seconds(5));
  EXPECT_EQ(backend_.rows.reads, before) << "it has ended: nobody looks again";
  Tab late = OpenAndSub("log/1/1/-");
  EXPECT_EQ(late.Got(), (Heads{"hello", "log/1/1/- 1"}));
  tab.Say(R"({"sub":["log/1/2/-","log/1/1/0","log/2/1/-"]})");
  tab.Got();
}

TEST_F(LiveTest, RefusesLogsThatAreNotThere) {
  AddLog(1, "");
  Tab tab = OpenAndSub("log/1/2/-");
  EXPECT_EQ(tab.Got(), (Heads{"hello", "log/1/2/- 0 404"}));
  tab.Say(R"({"sub":["log/1/1/0","log/2/1/-"]})");
  EXPECT_EQ(tab.Got(), (Heads{"log/1/1/0 0 404", "log/2/1/- 0 404"}));
}

// ---- Events

TEST_F(LiveTest, GivesEventsFromNowOn) {
  backend_.Emit("task.submitted");
  Tab tab = OpenAndSub("events");
  std::vector<json::value> frames = tab.browser->Take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[1].at("value"), json::parse(R"({"items":[],"next":1})"));
  loop_.Pass(milliseconds(250));
  backend_.Emit("attempt.started");
  backend_.Emit("attempt.ended");
  loop_.Pass(milliseconds(250));
  frames = tab.browser->Take();
  ASSERT_EQ(frames.size(), 2u) << "the first at once, the second after the period";
  EXPECT_EQ(frames[0].at("value").at("items").at(0).at("seq").as_int64(), 2);
  EXPECT_EQ(frames[1].at("value").at("next").as_int64(), 3);
}

TEST_F(LiveTest, ReplaysEventsAndThenFollows) {
  for (int i = 0; i < 700; i++) backend_.Emit("task.submitted");
  Tab tab = Open();
  tab.Say(R"({"sub":["events"],"since":10})");
  std::vector<json::value> frames = tab.browser->Take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[1].at("value").at("items").as_array().size(), 500u);
  EXPECT_EQ(frames[1].at("value").at("items").at(0).at("seq").as_int64(), 11);
  backend_.Emit("task.ended");
  loop_.Pass(seconds(2));
  frames = tab.browser->Take();
  int64_t last = 510;
  for (const json::value& frame : frames) {
    for (const json::value& event : frame.at("value").at("items").as_array())
      EXPECT_EQ(event.at("seq").as_int64(), ++last) << "none twice, none missing";
  }
  EXPECT_EQ(last, 701);
}

TEST_F(LiveTest, HasThoseBeginAnewWhoAreTooFarBehindOrAhead) {
  for (int i = 0; i < 5100; i++) backend_.Emit("task.submitted");
  Tab tab = Open();
  tab.Say(R"({"sub":["events"],"since":99})");
  EXPECT_EQ(tab.Got(), (Heads{"hello", "events 5100 resync"}));
  tab.Say(R"({"sub":["events"],"since":6000})");
  EXPECT_EQ(tab.Got(), Heads{"events 5100 resync"});
  tab.Say(R"({"sub":["events"],"since":5100})");
  EXPECT_EQ(tab.Got(), Heads{"events 5100"});
  backend_.Emit("task.ended");
  loop_.Pass(milliseconds(500));
  EXPECT_EQ(tab.Got(), Heads{"events 5101"});
}

TEST_F(LiveTest, DoesNotReadAFloodOfEventsToItsEnd) {
  Tab tab = OpenAndSub("events");
  tab.Say(R"({"sub":["queue"]})");
  loop_.Pass(seconds(1));
  tab.Got();
  MapBackend& backend = backend_;
  for (int i = 0; i < 20'000; i++) {
    Event event;
    event.seq = i + 1;
    event.kind = "task.submitted";
    backend.rows.events.push_back(event);
  }
  backend.rows.events.pop_back();
  backend.Emit("task.submitted");
  loop_.Pass(seconds(2));
  const Heads got = tab.Got();
  EXPECT_NE(std::find(got.begin(), got.end(), "events 20000 resync"), got.end());
  EXPECT_LT(got.size(), 10u);
}

// ---- Slow readers, and ends

TEST_F(LiveTest, WaitsForAReaderWhoIsSlowAndGivesItTheNewestOnly) {
  AddTask(1);
  Tab slow = OpenAndSub("task/1"), quick = OpenAndSub("task/1");
  slow.Say(R"({"sub":["events"]})");
  loop_.Pass(milliseconds(500));
  slow.Got();
  quick.Got();
  slow.browser->kept = (1 << 20) + 1;
  slow.browser->reads = false;
  for (int i = 1; i <= 3; i++) {
    Progress(1, i);
    backend_.Emit("progress.mark");
    loop_.Pass(milliseconds(500));
  }
  EXPECT_EQ(slow.Got(), Heads{});
  EXPECT_EQ(quick.Got().size(), 3u);
  slow.Say(R"({"sub":["task/1"]})");
  EXPECT_EQ(slow.Got(), Heads{});
  slow.browser->kept = 0;
  slow.browser->reads = true;
  slow.client->Sent();
  const std::vector<json::value> frames = slow.browser->Take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].at("value").at("progress").at("done").as_double(), 3);
  EXPECT_EQ(frames[1].at("value").at("items").as_array().size(), 3u) << "events are all kept for it";
}

TEST_F(LiveTest, ClosesAStreamThatTakesNothingForThirtySeconds) {
  Tab tab = Open(), other = Open();
  tab.browser->reads = false;
  tab.Say(R"({"ping":1})");
  loop_.Pass(seconds(30));
  EXPECT_EQ(tab.browser->closed, kTooSlow);
  EXPECT_EQ(other.browser->closed, 0);
  EXPECT_EQ(hub_->streams(), 1u);
}

TEST_F(LiveTest, KeepsAStreamThatTakesALittle) {
  Tab tab = Open();
  tab.browser->reads = false;
  tab.Say(R"({"ping":1})");
  for (int i = 0; i < 10; i++) {
    loop_.Pass(seconds(10));
    tab.client->Sent();
  }
  EXPECT_EQ(tab.browser->closed, 0);
}

TEST_F(LiveTest, EndsAStreamThatOnlyAsks) {
  Tab tab = Open();
  tab.browser->kept = 5 << 20;
  tab.Say(R"({"ping":1})");
  EXPECT_EQ(tab.browser->closed, kTooSlow);
}

TEST_F(LiveTest, ClosesAllWhenTheYardEnds) {
  Tab one = OpenAndSub("yard"), two = OpenAndSub("events");
  hub_->CloseAll();
  EXPECT_EQ(one.browser->closed, kGoingAway);
  EXPECT_EQ(two.browser->closed, kGoingAway);
  EXPECT_EQ(hub_->streams() + hub_->topics(), 0u);
}

class SignedInTest : public LiveTest {
 protected:
  std::string SignIn() {
    Codes codes;
    auto ask = [this](std::string target, std::string body, Peer peer) {
      Request request;
      request.method = "POST";
      request.target = std::move(target);
      request.body = std::move(body);
      request.headers = {{"Host", "localhost"}, {"Content-Type", "application/json"}};
      request.peer = std::move(peer);
      Response answer;
      auto call = std::make_shared<Call>(request, [&](Response response) { answer = std::move(response); });
      if (api_->Admit(call)) api_->Handle(call);
      return answer;
    };
    const json::value code =
        json::parse(ask("/api/v1/session/code", "", {.socket = true, .trusted = true}).body).at("code");
    const Response in = ask("/api/v1/session", json::serialize(json::object{{"code", code}}), {});
    for (const auto& [name, value] : in.headers) {
      if (name == "Set-Cookie") cookie_ = value.substr(0, value.find(';'));
    }
    return Recognized().browser;
  }
  Peer Recognized() {
    Request request;
    request.method = "GET";
    request.target = "/healthz";
    request.headers = {{"Host", "localhost"}, {"Cookie", cookie_}};
    auto call = std::make_shared<Call>(request, [](Response) {});
    EXPECT_TRUE(api_->Admit(call));
    return call->request.peer;
  }
  std::string cookie_;
};

TEST_F(SignedInTest, AStreamKeepsItsBrowserSignedIn) {
  Tab tab = Open(Language::kEnglish, SignIn());
  for (int day = 0; day < 90; day++) {
    now_ += hours(24);
    loop_.Pass(seconds(10));
  }
  EXPECT_EQ(tab.browser->closed, 0);
  EXPECT_TRUE(Recognized().session);
}

TEST_F(SignedInTest, SigningOutEndsTheStreamsOfThatBrowser) {
  const std::string one = SignIn(), two = SignIn();
  Tab first = Open(Language::kEnglish, one), again = Open(Language::kEnglish, one),
      second = Open(Language::kEnglish, two), socket = Open();
  hub_->SignedOut(one);
  EXPECT_EQ(first.browser->closed, kSignedOut);
  EXPECT_EQ(again.browser->closed, kSignedOut);
  EXPECT_EQ(second.browser->closed, 0);
  hub_->SignedOut("");
  EXPECT_EQ(second.browser->closed, kSignedOut);
  EXPECT_EQ(socket.browser->closed, 0);
}

TEST_F(SignedInTest, AStreamOfAForgottenBrowserEnds) {
  Tab tab = Open(Language::kEnglish, "nobody");
  loop_.Pass(seconds(10));
  EXPECT_EQ(tab.browser->closed, kSignedOut);
}

}  // namespace
}  // namespace ty
