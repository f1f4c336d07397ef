#include "http/gate.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <set>
#include <sstream>

#include "http/api.h"

namespace ty {
namespace {

TEST(Host, OursIsAnyLoopbackNameWithAnyPort) {
  for (const char* host : {"localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:7788", "[::1]", "[::1]:65535",
                           "lab.example:1"}) {
    EXPECT_EQ(JudgeHost(host, {"lab.example"}), HostKind::kOurs) << host;
  }
}

TEST(Host, NearMissesAreForeign) {
  for (const char* host : {"evil.test", "localhost.evil.test", "127.0.0.1.evil.test:80", "localhost.",
                           "127.1", "[::2]", "0.0.0.0", "localhost/openapi.json?x=", "localhost@evil.test"}) {
    EXPECT_EQ(JudgeHost(host, {}), HostKind::kForeign) << host;
  }
}

TEST(Host, WhatIsNoHostIsMalformed) {
  for (const char* host : {"", "[::1", "[::1]x", "[::1]:", ":80", "localhost:", "localhost:80a",
                           "localhost:99999", "local host", "a\tb", "\xff"}) {
    EXPECT_EQ(JudgeHost(host, {}), HostKind::kMalformed) << host;
  }
}

Request Ask(std::string method, std::string target,
            std::vector<std::pair<std::string, std::string>> headers) {
  Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers = std::move(headers);
  return request;
}

int StatusFor(const Request& request) {
  const std::optional<Response> refusal = Refusal(request, {});
  return refusal ? refusal->status : 0;
}

TEST(Gate, WantsExactlyOneHostOfOurs) {
  EXPECT_EQ(StatusFor(Ask("GET", "/", {{"Host", "localhost"}})), 0);
  EXPECT_EQ(StatusFor(Ask("GET", "/", {})), 400);
  EXPECT_EQ(StatusFor(Ask("GET", "/", {{"Host", "localhost"}, {"host", "localhost"}})), 400);
  EXPECT_EQ(StatusFor(Ask("GET", "/", {{"Host", "evil.test"}})), 421);
  EXPECT_EQ(StatusFor(Ask("GET", "http://evil.test/", {{"Host", "localhost"}})), 400);
}

TEST(Gate, WantsOriginToEqualHost) {
  auto with = [](const char* origin) {
    return StatusFor(Ask("GET", "/", {{"Host", "localhost:7788"}, {"Origin", origin}}));
  };
  EXPECT_EQ(with("http://localhost:7788"), 0);
  EXPECT_EQ(with("null"), 403);
  EXPECT_EQ(with(""), 403);
  EXPECT_EQ(with("http://evil.test"), 403);
  EXPECT_EQ(with("http://localhost:7789"), 403);
  EXPECT_EQ(with("http://127.0.0.1:7788"), 403);
  EXPECT_EQ(with("http://localhost:7788.evil.test"), 403);
}

TEST(Gate, WantsSameOriginFetches) {
  auto with = [](const char* site) {
    return StatusFor(Ask("GET", "/", {{"Host", "localhost"}, {"Sec-Fetch-Site", site}}));
  };
  EXPECT_EQ(with("same-origin"), 0);
  EXPECT_EQ(with("none"), 0);
  EXPECT_EQ(with("same-site"), 403);
  EXPECT_EQ(with("cross-site"), 403);
  EXPECT_EQ(with(""), 403);
}

TEST(Gate, WantsJsonFromEveryMethodThatIsNotKnownToRead) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "PROPFIND", "get", "post", "FOO"}) {
    EXPECT_EQ(StatusFor(Ask(method, "/", {{"Host", "localhost"}})), 415) << method;
    EXPECT_EQ(StatusFor(Ask(method, "/", {{"Host", "localhost"}, {"Content-Type", "text/plain"}})), 415)
        << method;
    EXPECT_EQ(StatusFor(Ask(method, "/",
                            {{"Host", "localhost"}, {"Content-Type", "application/json; charset=utf-8"}})),
              0)
        << method;
  }
  EXPECT_EQ(StatusFor(Ask("POST", "/api/v1/tasks/bulk",
                          {{"Host", "localhost"}, {"Content-Type", "application/x-ndjson"}})),
            0);
  EXPECT_EQ(StatusFor(Ask("POST", "/api/v1/tasks/bulk",
                          {{"Host", "localhost"}, {"Content-Type", "application/json"}})),
            415);
}

TEST(Gate, IgnoresHostAndOriginOnTheSocket) {
  Request request = Ask("GET", "/", {{"Origin", "null"}});
  request.peer = {.socket = true, .trusted = true};
  EXPECT_EQ(StatusFor(request), 0);
  request.method = "POST";
  EXPECT_EQ(StatusFor(request), 415);
}

TEST(Gate, LetsTheSocketsOwnUserInAndNobodyElse) {
  EXPECT_TRUE(MayEnter(Access::kPublic, {}));
  EXPECT_FALSE(MayEnter(Access::kSession, {}));
  EXPECT_FALSE(MayEnter(Access::kSession, {.socket = true, .trusted = false}));
  EXPECT_TRUE(MayEnter(Access::kSession, {.socket = true, .trusted = true}));
  EXPECT_FALSE(MayEnter(Access::kSocket, {}));
  EXPECT_TRUE(MayEnter(Access::kSession, {.session = true, .browser = "x"}));
  EXPECT_FALSE(MayEnter(Access::kSession, {.socket = true, .session = true, .browser = "x"}));
  EXPECT_FALSE(MayEnter(Access::kSocket, {.session = true, .browser = "x"}));
}

TEST(Path, IsDecodedOnce) {
  EXPECT_EQ(DecodePath("/api/v1/tasks/a%20b"), (std::vector<std::string>{"api", "v1", "tasks", "a b"}));
  EXPECT_EQ(DecodePath("/"), (std::vector<std::string>{""}));
  for (const char* path : {"/%252e%252e%252f", "/%2e%2e/x", "/../etc/passwd", "/a/./b", "/%00", "/a%5cb",
                           "/%ff", "/%4", "/%zz", "", "x"}) {
    EXPECT_EQ(DecodePath(path), std::nullopt) << path;
  }
}

// The table of routes and the contract say the same: methods, access, parameters.
TEST(Routes, AreThoseOfTheContract) {
  const YAML::Node contract = YAML::LoadFile(TY_SOURCE_DIR "/api/openapi.yaml");
  struct Said {
    std::string access;
    std::set<std::string> parameters;
    bool operator==(const Said&) const = default;
  };
  std::map<std::string, Said> said, built;
  for (const auto& path : contract["paths"]) {
    for (const auto& operation : path.second) {
      std::string method = operation.first.as<std::string>();
      if (method == "parameters") continue;
      for (char& c : method) c = static_cast<char>(std::toupper(c));
      Said& one = said[method + " " + path.first.as<std::string>()];
      ASSERT_TRUE(operation.second["x-access"]) << path.first << " " << method << " has no x-access";
      one.access = operation.second["x-access"].as<std::string>();
      for (const auto& parameter : operation.second["parameters"]) {
        if (parameter["in"] && parameter["in"].as<std::string>() == "query")
          one.parameters.insert(parameter["name"].as<std::string>());
      }
    }
  }
  for (const Route& route : Routes()) {
    Said& one = built[std::string(route.method) + " " + route.path];
    one.access = route.access == Access::kPublic    ? "public"
                 : route.access == Access::kSession ? "session"
                                                    : "socket";
    std::istringstream words{std::string(route.parameters)};
    for (std::string word; words >> word;) one.parameters.insert(word);
  }
  for (const auto& [route, one] : said) {
    ASSERT_EQ(built.count(route), 1u) << route << " is described and not there";
    EXPECT_EQ(built[route].access, one.access) << route;
    EXPECT_EQ(built[route].parameters, one.parameters) << route;
  }
  for (const auto& [route, one] : built)
    EXPECT_EQ(said.count(route), 1u) << route << " is there and not described";
}

}  // namespace
}  // namespace ty
