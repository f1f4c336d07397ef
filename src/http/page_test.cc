// The page and its files, as browsers ask for them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "http/api.h"
#include "http/testing.h"

namespace ty {
namespace {

constexpr Asset kAssets[] = {
    {"assets/app-1.js", "text/javascript; charset=utf-8", "d1", "script", "script.gz", "script.br"},
    {"assets/font-1.woff2", "font/woff2", "d2", "font", "", ""},
    {"favicon.svg", "image/svg+xml", "d3", "<svg/>", "", ""},
    {"index.html", "text/html; charset=utf-8", "d4", "<!doctype html>page", "page.gz", ""},
};

class PageTest : public ::testing::Test {
 protected:
  PageTest() : home_(::testing::TempDir() + "page-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(home_);
    Begin([](ApiSettings& settings) { settings.assets = kAssets; });
  }
  ~PageTest() override { std::filesystem::remove_all(home_); }

  void Begin(const std::function<void(ApiSettings&)>& change) {
    ApiSettings settings;
    settings.home = home_;
    settings.owner = "ann<b>";
    settings.instance = "i1";
    settings.now = [] { return FromNanos(0) + hours(24 * 365 * 50); };
    change(settings);
    api_ = std::make_unique<Api>(std::move(settings), backend_, loop_);
  }
  using Headers = std::vector<std::pair<std::string, std::string>>;
  Response Get(std::string target, Headers headers = {}, std::string method = "GET") {
    Request request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers = std::move(headers);
    request.headers.emplace_back("Host", "localhost");
    Response answer;
    auto call = std::make_shared<Call>(request, [&](Response response) { answer = std::move(response); });
    if (api_->Admit(call)) api_->Handle(call);
    return answer;
  }
  static std::string Header(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }

  std::string home_;
  testing::HandLoop loop_;
  testing::MapBackend backend_;
  std::unique_ptr<Api> api_;
};

TEST_F(PageTest, IsOneDocumentForAllItsPlaces) {
  for (const char* path :
       {"/", "/welcome", "/new", "/tasks", "/tasks/12", "/tasks/a%20b", "/tasks?state=failed&x=1"}) {
    const Response page = Get(path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_EQ(page.content(), "<!doctype html>page");
    EXPECT_EQ(page.type, "text/html; charset=utf-8");
    EXPECT_EQ(Header(page, "Cache-Control"), "no-cache");
    EXPECT_EQ(Header(page, "ETag"), "\"d4\"");
    const std::string policy = Header(page, "Content-Security-Policy");
    EXPECT_NE(policy.find("script-src 'self';"), std::string::npos);
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
  }
  EXPECT_EQ(Get("/", {{"Accept-Encoding", "gzip, br"}}).content(), "page.gz");
}

TEST_F(PageTest, KeepsAssetsForEverInTheFormTheBrowserTakes) {
  const Response whole = Get("/assets/app-1.js", {{"Accept-Encoding", "gzip, deflate, br"}});
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.content(), "script.br");
  EXPECT_EQ(whole.type, "text/javascript; charset=utf-8");
  EXPECT_EQ(Header(whole, "Content-Encoding"), "br");
  EXPECT_EQ(Header(whole, "Vary"), "Accept-Encoding");
  EXPECT_EQ(Header(whole, "Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(whole.content().data(), kAssets[0].brotli.data()) << "not copied";
  const Response plain = Get("/assets/app-1.js");
  EXPECT_EQ(plain.content(), "script");
  EXPECT_EQ(Header(plain, "Content-Encoding"), "");
  EXPECT_EQ(Get("/assets/font-1.woff2", {{"Accept-Encoding", "br"}}).content(), "font");
  EXPECT_EQ(Get("/favicon.svg").content(), "<svg/>");
}

TEST_F(PageTest, SaysThatTheBrowserHasItAlready) {
  const Headers asked = {{"Accept-Encoding", "br"}, {"If-None-Match", "\"d1-br\""}};
  const Response kept = Get("/assets/app-1.js", asked);
  EXPECT_EQ(kept.status, 304);
  EXPECT_EQ(kept.content(), "");
  EXPECT_EQ(Header(kept, "ETag"), "\"d1-br\"");
  EXPECT_EQ(Get("/assets/app-1.js", {{"If-None-Match", "\"d1-br\""}}).status, 200) << "another form";
  EXPECT_EQ(Get("/", {{"If-None-Match", "\"d4\""}}).status, 304);
}

TEST_F(PageTest, NeverStandsInForAnAsset) {
  for (const char* path :
       {"/assets/app-2.js", "/assets/index.html", "/assets/..%2findex.html", "/favicon.ico"}) {
    const Response none = Get(path, {{"Accept", "text/html"}});
    EXPECT_EQ(none.status, 404) << path;
    EXPECT_EQ(none.type, "application/problem+json");
  }
  EXPECT_EQ(Get("/assets/", {{"Accept", "text/html"}}).status, 401);
  EXPECT_EQ(Get("/assets/a/b.js", {{"Accept", "text/html"}}).status, 401);
}

TEST_F(PageTest, SaysItselfThatAPlaceIsNotThere) {
  const Headers browser = {{"Accept", "text/html,application/xhtml+xml"}, {"If-None-Match", "\"d4\""}};
  const Response page = Get("/nowhere/at/all", browser);
  EXPECT_EQ(page.status, 404);
  EXPECT_EQ(page.content(), "<!doctype html>page");
  EXPECT_EQ(Get("/nowhere").status, 401) << "no browser";
  EXPECT_EQ(Get("/api/v1/nowhere", browser).status, 401);
  EXPECT_EQ(Get("/nowhere", browser, "PUT").type, "application/problem+json");
}

TEST_F(PageTest, IsAFirstPageOfOurOwnWithoutABuild) {
  Begin([](ApiSettings&) {});
  const Response page = Get("/tasks/12");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.body.find("ann&lt;b&gt;"), std::string::npos);
  EXPECT_NE(page.body.find("trainyard open"), std::string::npos);
  EXPECT_EQ(Get("/nowhere", {{"Accept", "text/html"}}).status, 401);
  EXPECT_EQ(Get("/assets/app-1.js").status, 404);
}

TEST_F(PageTest, IsReadAnewAtEachRequestFromTheFolderOfWhoWorksOnIt) {
  const std::string folder = home_ + "/dist";
  std::filesystem::create_directories(folder + "/assets");
  Begin([&](ApiSettings& settings) {
    settings.assets = kAssets;
    settings.web_folder = folder;
  });
  std::ofstream(folder + "/index.html") << "one";
  EXPECT_EQ(Get("/").content(), "one");
  std::ofstream(folder + "/index.html") << "two";
  EXPECT_EQ(Get("/").content(), "two");
  EXPECT_NE(Header(Get("/"), "Content-Security-Policy").find("script-src 'self';"), std::string::npos);
  EXPECT_EQ(Get("/assets/app-1.js").status, 404);
  std::ofstream(folder + "/assets/app-9.js") << "script";
  EXPECT_EQ(Get("/assets/app-9.js").type, "text/javascript; charset=utf-8");
  EXPECT_EQ(Header(Get("/assets/app-9.js"), "Cache-Control"), "no-cache");
}

}  // namespace
}  // namespace ty
