#include "cli/http.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <thread>

namespace ty {
namespace {

// A server of one connection that answers every request with the next of its texts, in small pieces.
class Server {
 public:
  explicit Server(std::vector<std::string> answers) : answers_(std::move(answers)) {
    std::string name = ::testing::TempDir() + "ty-http-XXXXXX";
    folder_ = mkdtemp(name.data());
    listener_.Reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path().c_str());
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    listen(listener_.get(), 1);
    thread_ = std::thread([this] { Serve(); });
  }
  ~Server() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    std::filesystem::remove_all(folder_);
  }
  std::string path() const { return folder_ + "/sock"; }
  const std::string& folder() const { return folder_; }
  std::string requests;

 private:
  void Serve() {
    UniqueFd line(accept(listener_.get(), nullptr, nullptr));
    for (const std::string& answer : answers_) {
      size_t body = 0, end;
      std::string request;
      while ((end = request.find("\r\n\r\n")) == std::string::npos || request.size() < end + 4 + body) {
        char block[4096];
        ssize_t got = read(line.get(), block, sizeof block);
        if (got <= 0) return;
        request.append(block, static_cast<size_t>(got));
        size_t length = request.find("Content-Length: ");
        if (length != std::string::npos) body = static_cast<size_t>(std::atoi(request.c_str() + length + 16));
      }
      requests += request;
      for (size_t i = 0; i < answer.size(); i += 7)
        if (send(line.get(), answer.data() + i, std::min<size_t>(7, answer.size() - i), MSG_NOSIGNAL) < 0)
          return;
    }
  }

  std::vector<std::string> answers_;
  std::string folder_;
  UniqueFd listener_;
  std::thread thread_;
};

TEST(HttpLine, ManyRequestsShareOneConnection) {
  Server server({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Log-Size: 9\r\n\r\nhello",
                 "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"});
  auto line = HttpLine::Open(server.path());
  ASSERT_TRUE(line);
  auto reply = line->Ask({.target = "/one"});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "hello");
  EXPECT_EQ(reply->Header("x-log-size"), "9");
  EXPECT_EQ(line->Ask({.method = "POST", .target = "/two", .body = "{}"})->status, 404);
  EXPECT_NE(server.requests.find("POST /two HTTP/1.1\r\n"), std::string::npos);
  EXPECT_NE(server.requests.find("Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"),
            std::string::npos);
}

TEST(HttpLine, ChunksInterimAnswersAndTrailersAreRead) {
  Server server(
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
       "4\r\nabcd\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: z\r\n\r\n",
       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"});
  auto line = HttpLine::Open(server.path());
  ASSERT_TRUE(line);
  EXPECT_EQ(line->Ask({.target = "/"})->body, "abcd0123456789");
  EXPECT_EQ(line->Ask({.target = "/"})->body, "ok");
}

TEST(HttpLine, AnAnswerCutShortIsNoAnswer) {
  for (const char* text :
       {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "HTTP/1.1 200 OK\r\nContent-", "garbage\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", ""}) {
    Server server({text});
    auto line = HttpLine::Open(server.path());
    ASSERT_TRUE(line);
    auto reply = line->Ask({.target = "/"});
    ASSERT_FALSE(reply) << text;
    EXPECT_EQ(reply.error(), HttpTrouble::kBroken) << text;
    EXPECT_TRUE(line->sent());
  }
}

TEST(HttpLine, AnAbsentSocketIsTold) {
  EXPECT_EQ(HttpLine::Open("/nowhere/sock").error(), ENOENT);
  EXPECT_EQ(HttpLine::Open(std::string(300, '/') + "nowhere/sock").error(), ENOENT);
}

TEST(HttpLine, ASocketBehindALongPathIsReached) {
  Server server({"HTTP/1.1 204 No Content\r\n\r\n"});
  std::string longer = server.folder() + "/" + std::string(150, 'x');
  std::filesystem::create_directory_symlink(server.folder(), longer);
  auto line = HttpLine::Open(longer + "/sock");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->Ask({.target = "/"})->status, 204);
}

TEST(PercentEncode, KeepsNamesWholeInAPath) {
  EXPECT_EQ(PercentEncode("@last"), "@last");
  EXPECT_EQ(PercentEncode("a/b ?#%训"), "a%2Fb%20%3F%23%25%E8%AE%AD");
}

}  // namespace
}  // namespace ty
