// Lines, search, files and preview as a caller of the API meets them.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "base/log_gaps.h"
#include "base/paths.h"
#include "http/testing.h"

namespace ty {
namespace {

namespace json = boost::json;
using testing::HandLoop;
using testing::MakeTask;
using testing::MapBackend;

class LinesTest : public ::testing::Test {
 protected:
  LinesTest() {
    home_ = ::testing::TempDir() + "lines-" + std::to_string(::getpid());
    ApiSettings settings;
    settings.home = home_;
    settings.now = [] { return FromNanos(0); };
    api_ = std::make_unique<Api>(std::move(settings), backend_, loop_);
    TaskView view = MakeTask(7, "seven", Running{});
    view.task.attempts = 1;
    view.attempt = Attempt{};
    view.attempt->uid = Ulid::Make(FromNanos(1));
    view.attempt->task = TaskId{7};
    view.attempt->state = AttemptState::kRunning;
    folder_ = StatePaths{home_}.Attempt(view.attempt->uid);
    out_ = StatePaths{home_}.Out(TaskId{7});
    std::filesystem::create_directories(folder_);
    std::filesystem::create_directories(out_);
    backend_.open[TaskId{7}] = view;
    backend_.rows.tasks[TaskId{7}].task = view.task;
    backend_.rows.tasks[TaskId{7}].attempts = {*view.attempt};
  }
  ~LinesTest() override { std::filesystem::remove_all(home_); }

  Response Send(const std::string& method, std::string target, std::string body = "") {
    Request request;
    request.method = method;
    request.target = std::move(target);
    request.body = std::move(body);
    request.peer = {.socket = true, .trusted = true};
    if (method == "POST") request.headers.emplace_back("Content-Type", "application/json");
    Response answer;
    auto call =
        std::make_shared<Call>(std::move(request), [&](Response given) { answer = std::move(given); });
    if (api_->Admit(call)) api_->Handle(call);
    return answer;
  }
  json::value Get(const std::string& what, int status = 200) {
    const Response answer = Send("GET", "/api/v1/tasks/7/" + what);
    EXPECT_EQ(answer.status, status) << answer.body;
    return json::parse(answer.body);
  }
  void Log(const std::string& text) { std::ofstream(folder_ + "/log", std::ios::app) << text; }
  std::string Texts(const json::value& answer) {
    std::string texts;
    for (const json::value& item : answer.at("items").as_array())
      texts += std::string(item.at("text").as_string()) + "|";
    return texts;
  }

  std::string home_, folder_, out_;
  MapBackend backend_;
  HandLoop loop_;
  std::unique_ptr<Api> api_;
};

TEST_F(LinesTest, GivesLinesAsATerminalShowsThem) {
  Log("1%\r2%\r\x1b[32mdone\x1b[0m\nnext\x01\xff\nlast");
  const json::value all = Get("lines");
  EXPECT_EQ(Texts(all), "\x1b[0;32mdone\x1b[0m|next\uFFFD|last|");
  EXPECT_EQ(all.at("total").as_int64(), 3);
  EXPECT_EQ(all.at("whole"), json::value(true));
  EXPECT_EQ(all.at("ended"), json::value(false));
  EXPECT_EQ(all.at("attempt").as_int64(), 1);
  EXPECT_TRUE(all.at("rank").is_null());
  const json::value end = Get("lines?from=-2&count=1");
  EXPECT_EQ(Texts(end), "next\uFFFD|");
  EXPECT_EQ(end.at("first").as_int64(), 1);
  EXPECT_EQ(Get("lines?from=-99").at("first").as_int64(), 0);
  EXPECT_EQ(Get("lines?from=99").at("first").as_int64(), 3);
  Log(" and more\n");
  EXPECT_EQ(Texts(Get("lines?from=2")), "last and more|");
}

TEST_F(LinesTest, ALogThatIsNotThereHasNoLines) {
  EXPECT_EQ(Get("lines").at("total").as_int64(), 0);
  EXPECT_EQ(Get("search?q=x").at("items").as_array().size(), 0u);
  backend_.open[TaskId{7}].attempt.reset();
  backend_.open[TaskId{7}].task.attempts = 0;
  EXPECT_EQ(Get("lines").at("attempt").as_int64(), 0);
}

TEST_F(LinesTest, ALogThatBeginsAnewIsCountedAnew) {
  Log("one\ntwo\nthree\n");
  EXPECT_EQ(Get("lines").at("total").as_int64(), 3);
  std::ofstream(folder_ + "/log") << "anew\n";
  EXPECT_EQ(Texts(Get("lines")), "anew|");
  std::ofstream(folder_ + "/log") << "again and longer\nthan before\n";
  EXPECT_EQ(Texts(Get("lines")), "again and longer|than before|");
}

TEST_F(LinesTest, ARemovedMiddleIsOneLineInTheReadersLanguage) {
  Log("one\n" + std::string(4096, '\0') + "last\n");
  EXPECT_EQ(Get("lines").at("total").as_int64(), 2);
  std::ofstream(folder_ + "/log.gaps") << EncodeGap({4, 4100, LogGap::Why::kLimit});
  const json::value lines = Get("lines");
  EXPECT_EQ(lines.at("total").as_int64(), 3) << "known at once, though the lines had been counted";
  EXPECT_NE(lines.at("items").at(1).at("text").as_string().find("removed here"), json::string::npos);
}

TEST_F(LinesTest, NothingButAPlainFileIsRead) {
  ::symlink("/etc/passwd", (folder_ + "/log").c_str());
  Get("lines", 403);
  Get("search?q=root", 403);
  ::unlink((folder_ + "/log").c_str());
  ::mkfifo((folder_ + "/log").c_str(), 0600);
  Get("lines", 403);
}

TEST_F(LinesTest, RefusesWhatCannotBeMeant) {
  EXPECT_EQ(Get("lines?count=2001", 422).at("field").as_string(), "count");
  Get("lines?rank=1", 404);
  Get("lines?attempt=2", 404);
  EXPECT_EQ(Get("search", 422).at("field").as_string(), "q");
  EXPECT_EQ(Get("search?q=" + std::string(1001, 'x'), 422).at("field").as_string(), "q");
  const json::value bad = Get("search?q=(&regex=true", 422);
  EXPECT_EQ(bad.at("field").as_string(), "q");
  EXPECT_EQ(bad.at("message").at("id").as_string(), "log.bad_pattern");
}

TEST_F(LinesTest, FindsLines) {
  Log("Epoch 1\n\x1b[31mLoss\x1b[0m 0.5\nepoch 2\nloss (nan)\n");
  EXPECT_EQ(Texts(Get("search?q=loss")), "Loss 0.5|loss (nan)|");
  EXPECT_EQ(Texts(Get("search?q=loss&case=true")), "loss (nan)|");
  EXPECT_EQ(Texts(Get("search?q=(nan)")), "loss (nan)|") << "as it is, not as an expression";
  EXPECT_EQ(Texts(Get("search?q=%5Eepoch%20%5Cd%24&regex=true")), "Epoch 1|epoch 2|");
  const json::value first = Get("search?q=o&limit=2");
  EXPECT_EQ(first.at("next").as_int64(), 2);
  EXPECT_EQ(Texts(Get("search?q=o&from=2")), "epoch 2|loss (nan)|");
  EXPECT_TRUE(Get("search?q=o&from=2").at("next").is_null());
  EXPECT_EQ(first.at("items").at(1).at("line").as_int64(), 1);
}

TEST_F(LinesTest, AMatchInALongLineIsShownWithWhatIsAroundIt) {
  Log(std::string(5000, 'x') + "需要的 needle" + std::string(5000, 'y') + "\n");
  const json::value found = Get("search?q=needle");
  const std::string text(found.at("items").at(0).at("text").as_string());
  EXPECT_NE(text.find("需要的 needle"), std::string::npos);
  EXPECT_LE(text.size(), 1006u);
}

// A hundred megabytes are searched over several calls, and the answer comes from all of them.
TEST_F(LinesTest, ALongLogIsSearchedOverSeveralCalls) {
  std::string piece;
  while (piece.size() < 1 << 20) piece += "a line of a usual length, as trainings write them, loss 0.5\n";
  for (int i = 0; i < 100; ++i) Log(piece);
  Log("needle\n");
  int64_t from = 0;
  int calls = 0;
  json::value found;
  do {
    found = Get("search?q=needle&from=" + std::to_string(from));
    if (!found.at("next").is_null()) from = found.at("next").as_int64();
    ASSERT_LT(++calls, 1000);
  } while (found.at("items").as_array().empty() && !found.at("next").is_null());
  ASSERT_EQ(found.at("items").as_array().size(), 1u);
  EXPECT_GT(calls, 1);
  const int64_t line = found.at("items").at(0).at("line").as_int64();
  EXPECT_EQ(Texts(Get("lines?from=" + std::to_string(line))), "needle|");
}

TEST_F(LinesTest, TheEndOfALongLogComesAtOnce) {
  std::string piece;
  while (piece.size() < 1 << 20) piece += "a line of a usual length, as trainings write them, loss 0.5\n";
  for (int i = 0; i < 64; ++i) Log(piece);
  Log("the end\n");
  const json::value first = Get("lines?from=-2");
  EXPECT_EQ(first.at("whole"), json::value(false));
  EXPECT_EQ(first.at("items").as_array().size(), 2u);
  EXPECT_EQ(first.at("items").at(1).at("text").as_string(), "the end");
  json::value again = Get("lines?from=-2");
  for (int i = 0; i < 5 && !again.at("whole").as_bool(); ++i) again = Get("lines?from=-2");
  EXPECT_EQ(again.at("whole"), json::value(true));
  EXPECT_EQ(again.at("items"), first.at("items"));
  EXPECT_EQ(again.at("first").as_int64() + 2, again.at("total").as_int64());
}

// ---- Files

TEST_F(LinesTest, ListsFilesOfTheTaskAndKeepsSecrets) {
  std::filesystem::create_directories(out_ + "/run");
  std::ofstream(out_ + "/run/model 模.pt") << "weights";
  ::symlink("/etc/passwd", (out_ + "/link").c_str());
  Log("one\n");
  for (const char* name : {"spec", "slot", "decision", "head.json", "log.idx"})
    std::ofstream(folder_ + "/" + name) << "x";
  std::vector<std::string> paths;
  const json::value files = Get("files");
  for (const json::value& item : files.at("items").as_array())
    paths.emplace_back(item.at("path").as_string());
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(paths, (std::vector<std::string>{"attempts/1/head.json", "attempts/1/log", "attempts/1/log.idx",
                                             "out/run/model 模.pt"}));
  EXPECT_EQ(files.at("cut"), json::value(false));
}

TEST_F(LinesTest, GivesAFileAsAnAttachmentThatDoesNothing) {
  std::ofstream(out_ + "/a b.html") << "<script>alert(1)</script>";
  const Response file = Send("GET", "/api/v1/tasks/7/file?path=out/a%20b.html&offset=1&limit=6");
  EXPECT_EQ(file.status, 200);
  EXPECT_EQ(file.body, "script");
  EXPECT_EQ(file.type, "application/octet-stream");
  std::map<std::string, std::string> headers(file.headers.begin(), file.headers.end());
  EXPECT_EQ(headers["X-File-Size"], "25");
  EXPECT_EQ(headers["Content-Disposition"], "attachment; filename*=UTF-8''a%20b.html");
  EXPECT_EQ(headers["Content-Security-Policy"], "sandbox; default-src 'none'");
  EXPECT_EQ(Send("GET", "/api/v1/tasks/7/file?path=out/a%20b.html&offset=99").body, "");
}

TEST_F(LinesTest, NoPathLeadsOut) {
  std::ofstream(home_ + "/secret") << "x";
  std::ofstream(folder_ + "/spec") << "x";
  ::symlink("../../secret", (out_ + "/link").c_str());
  for (const char* path : {"out/../../secret", "out/%2e%2e/%2e%2e/secret", "..%2fsecret", "%2fetc%2fpasswd",
                           "out", "out/", "attempts/1/spec", "attempts/1/../1/spec", "attempts/2/log",
                           "attempts/1/log%00", "attempts/01/log", "out/none", "spec"}) {
    Get(std::string("file?path=") + path, 404);
  }
  Get("file?path=out/link", 403);
  Get("file", 404);
}

// ---- Preview and places

TEST_F(LinesTest, PreviewReadsATaskAsASubmitDoes) {
  backend_.preview_answer.starts_now = true;
  const Response good =
      Send("POST", "/api/v1/tasks/preview", R"({"name":"n","command":["true"],"workdir":"/"})");
  EXPECT_EQ(good.status, 200) << good.body;
  EXPECT_EQ(json::parse(good.body).at("starts_now"), json::value(true));
  EXPECT_EQ(json::parse(good.body).at("name").as_string(), "n");
  EXPECT_EQ(backend_.previews.size(), 1u);
  EXPECT_TRUE(backend_.submits.empty());
  EXPECT_EQ(Send("POST", "/api/v1/tasks/preview", "{").status, 400);
  EXPECT_EQ(Send("POST", "/api/v1/tasks/preview", R"({"command":[]})").status, 422);
}

TEST_F(LinesTest, ARefusalNamesAllThatIsWrongAndTheFirstOnTop) {
  backend_.preview_answer.faults = {
      {Code::kInvalid, {"submit.no_devices", {{"want", int64_t{1}}}}, "/resources/gpus"},
      {Code::kInvalid, {"submit.no_python", {}}, "/name"}};
  for (const char* path : {"/api/v1/tasks", "/api/v1/tasks/preview"}) {
    const Response refused =
        Send("POST", path, R"({"name":"12","command":["true"],"workdir":"/","limits":{"time":"abc"}})");
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.type, "application/problem+json");
    const json::value problem = json::parse(refused.body);
    EXPECT_EQ(problem.at("field").as_string(), "/name");
    std::string fields;
    for (const json::value& one : problem.at("errors").as_array()) {
      fields += std::string(one.at("field").as_string()) + " ";
      EXPECT_FALSE(one.at("detail").as_string().empty());
    }
    EXPECT_EQ(fields, "/name /limits/time /resources/gpus ") << "a field is blamed once";
    EXPECT_EQ(problem.at("errors").at(0).at("detail"), problem.at("detail"));
  }
  EXPECT_TRUE(backend_.submits.empty());
  EXPECT_TRUE(backend_.previews.back().faults_only);
  const Response alone = Send("POST", "/api/v1/tasks/preview", R"({"command":["true"],"workdir":"/"})");
  EXPECT_EQ(json::parse(alone.body).at("errors").as_array().size(), 2u)
      << "the Yard's, of a task that reads well";
  backend_.preview_answer.faults.resize(1);
  const Response one = Send("POST", "/api/v1/tasks/preview", R"({"command":["true"],"workdir":"/"})");
  EXPECT_EQ(one.status, 422);
  EXPECT_EQ(json::parse(one.body).as_object().count("errors"), 0u) << "one fault needs no list";
}

TEST_F(LinesTest, ReadsWhereATaskIsMoved) {
  auto move = [&](const char* body) { return Send("POST", "/api/v1/tasks/priority", body).status; };
  EXPECT_EQ(move(R"({"tasks":[7],"after":12})"), 200);
  EXPECT_EQ(backend_.acts.back().beside, TaskId{12});
  EXPECT_TRUE(backend_.acts.back().behind);
  EXPECT_EQ(move(R"({"tasks":[7],"before":12})"), 200);
  EXPECT_FALSE(backend_.acts.back().behind);
  for (const char* bad :
       {R"({"tasks":[7],"before":12,"after":13})", R"({"tasks":[7],"before":12,"first":true})",
        R"({"tasks":[7],"after":12,"priority":3})", R"({"tasks":[7],"before":"x"})",
        R"({"tasks":[7],"before":0})"}) {
    EXPECT_EQ(move(bad), 422) << bad;
  }
  EXPECT_EQ(Send("POST", "/api/v1/tasks/hold", R"({"tasks":[7],"before":12})").status, 422);
}

}  // namespace
}  // namespace ty
