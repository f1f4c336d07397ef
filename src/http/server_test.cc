// The server with real sockets in front and a Backend of maps behind.
#include "http/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "base/text.h"
#include "http/listen.h"
#include "http/testing.h"
#include "posix/fd.h"

namespace ty {
namespace {

using testing::MakeTask;
using testing::MapBackend;

class Client {
 public:
  explicit Client(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path.c_str());
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  void HalfClose() { ::shutdown(fd_.get(), SHUT_WR); }
  // One whole answer: head and body.
  std::string Answer() {
    while (true) {
      const size_t end = kept_.find("\r\n\r\n");
      if (end != std::string::npos) {
        const size_t at = kept_.find("Content-Length: ");
        const size_t length = at < end ? std::stoul(kept_.substr(at + 16)) : 0;
        if (kept_.size() >= end + 4 + length) {
          std::string answer = kept_.substr(0, end + 4 + length);
          kept_.erase(0, answer.size());
          return answer;
        }
      }
      if (!More()) return std::exchange(kept_, {});
    }
  }
  // All that came up to and with `text`.
  std::string Await(std::string_view text) {
    while (kept_.find(text) == std::string::npos) {
      if (!More()) return std::exchange(kept_, {});
    }
    const size_t end = kept_.find(text) + text.size();
    std::string seen = kept_.substr(0, end);
    kept_.erase(0, end);
    return seen;
  }
  std::string Rest() {
    while (More()) {
    }
    return std::exchange(kept_, {});
  }

 private:
  bool More() {
    pollfd wait{fd_.get(), POLLIN, 0};
    if (::poll(&wait, 1, 20000) <= 0) return false;
    char buffer[65536];
    const ssize_t n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    if (n <= 0) return false;
    kept_.append(buffer, static_cast<size_t>(n));
    return true;
  }
  UniqueFd fd_;
  bool connected_ = false;
  std::string kept_;
};

int StatusOfAnswer(const std::string& answer) {
  return answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
}

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    home_ = ::testing::TempDir() + "server-" + std::to_string(::getpid());
    std::filesystem::create_directories(home_);
    ::chmod(home_.c_str(), 0700);
  }
  ~ServerTest() override {
    server_.reset();
    std::filesystem::remove_all(home_);
  }
  ServerSettings Settings() {
    ServerSettings settings;
    settings.home = home_;
    settings.listen = "127.0.0.1:0";
    settings.owner = "ann";
    return settings;
  }
  Result<std::unique_ptr<Server>> TryStart(ServerSettings settings) {
    return Server::Start(std::move(settings), [this](std::shared_ptr<Loop> loop) {
      loop_ = std::move(loop);
      auto backend = std::make_unique<MapBackend>();
      backend_ = backend.get();
      return backend;
    });
  }
  void Begin(ServerSettings settings) {
    auto server = TryStart(std::move(settings));
    ASSERT_TRUE(server) << server.error().message.id;
    server_ = std::move(*server);
  }
  void Begin() { Begin(Settings()); }
  // On the loop's thread, waited for.
  void OnLoop(std::function<void()> act) {
    std::promise<void> done;
    loop_->Post([&] {
      act();
      done.set_value();
    });
    done.get_future().wait();
  }
  int port() const { return std::stoi(server_->url().substr(server_->url().rfind(':') + 1)); }
  std::string socket() const { return home_ + "/sock"; }

  std::string home_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<Loop> loop_;
  MapBackend* backend_ = nullptr;
};

constexpr std::string_view kHealth = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr std::string_view kStatus = "GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string Submit(const std::string& body, const std::string& extra = "") {
  return "POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
         "application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + extra + "\r\n" + body;
}

TEST_F(ServerTest, MakesItsSocketForTheOwnerAlone) {
  Begin();
  struct stat about {};
  ASSERT_EQ(::lstat(socket().c_str(), &about), 0);
  EXPECT_TRUE(S_ISSOCK(about.st_mode));
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  server_.reset();
  EXPECT_NE(::lstat(socket().c_str(), &about), 0) << "a stopped server takes its socket away";
}

TEST_F(ServerTest, AnswersTheSocketAndDeniesTheNetwork) {
  Begin();
  Client near(socket()), far(port());
  near.Send(kStatus);
  EXPECT_EQ(StatusOfAnswer(near.Answer()), 200);
  far.Send(kStatus);
  EXPECT_EQ(StatusOfAnswer(far.Answer()), 401);
  far.Send(kHealth);
  const std::string health = far.Answer();
  EXPECT_EQ(StatusOfAnswer(health), 200) << "a refusal without body keeps the connection";
  EXPECT_NE(health.find("X-Content-Type-Options: nosniff"), std::string::npos);
  EXPECT_NE(health.find("Cross-Origin-Resource-Policy: same-origin"), std::string::npos);
  EXPECT_NE(health.find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_NE(health.find("Cache-Control: no-store"), std::string::npos);
}

TEST_F(ServerTest, ReplacesAStaleSocketFile) {
  std::ofstream(socket()) << "stale";
  Begin();
  Client client(socket());
  client.Send(kHealth);
  EXPECT_EQ(StatusOfAnswer(client.Answer()), 200);
}

TEST_F(ServerTest, RefusesAFolderThatOthersMayEnter) {
  ::chmod(home_.c_str(), 0755);
  auto server = TryStart(Settings());
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().message.id, "listen.folder_open");
}

TEST_F(ServerTest, MakesItsSocketUnderAPathLongerThanAnAddress) {
  home_ += "/" + std::string(120, 'x');
  std::filesystem::create_directories(home_);
  ::chmod(home_.c_str(), 0700);
  Begin();
  EXPECT_TRUE(std::filesystem::exists(socket()));
}

TEST_F(ServerTest, RefusesEveryAddressThatIsNotLoopback) {
  for (const char* listen : {"0.0.0.0:1", "192.168.1.2:7788", "[::]:7788", "*:7788"}) {
    const auto address = ParseListen(listen);
    ASSERT_FALSE(address) << listen;
    EXPECT_EQ(address.error().message.id, "listen.not_loopback") << listen;
  }
  for (const char* listen : {"nonsense", "127.0.0.1:99999", "127.0.0.1", "example.com:80"}) {
    const auto address = ParseListen(listen);
    ASSERT_FALSE(address) << listen;
    EXPECT_EQ(address.error().message.id, "listen.bad") << listen;
  }
  EXPECT_EQ(ParseListen(":80")->host, "127.0.0.1");
  EXPECT_EQ(ParseListen("[::1]:0")->host, "::1");
  EXPECT_TRUE(ParseListen("")->search);
}

TEST_F(ServerTest, SaysThatAPortIsTaken) {
  Begin();
  const std::string other = home_ + "/other";
  std::filesystem::create_directories(other);
  ::chmod(other.c_str(), 0700);
  ServerSettings settings = Settings();
  settings.home = other;
  settings.listen = "127.0.0.1:" + std::to_string(port());
  auto second = Server::Start(settings, [](std::shared_ptr<Loop>) { return std::make_unique<MapBackend>(); });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message.id, "listen.taken");
  EXPECT_FALSE(std::filesystem::exists(other + "/sock"));
}

TEST_F(ServerTest, AnswersPipelinedRequestsInOrder) {
  Begin();
  Client client(socket());
  std::string many;
  for (int i = 0; i < 500; i++)
    many += i % 2 == 0 ? Submit(R"({"command":["true"],"workdir":"/"})") : std::string(kHealth);
  client.Send(many);
  for (int i = 0; i < 500; i++) ASSERT_EQ(StatusOfAnswer(client.Answer()), i % 2 == 0 ? 201 : 200) << i;
}

TEST_F(ServerTest, TakesARequestByteByByte) {
  Begin();
  Client client(socket());
  for (char c : Submit(R"({"command":["true"],"workdir":"/"})")) client.Send(std::string_view(&c, 1));
  EXPECT_EQ(StatusOfAnswer(client.Answer()), 201);
}

TEST_F(ServerTest, TellsAClientThatWaitsToGoOn) {
  Begin();
  Client client(socket());
  const std::string request = Submit(R"({"command":["true"],"workdir":"/"})", "Expect: 100-continue\r\n");
  const size_t head = request.find("\r\n\r\n") + 4;
  client.Send(request.substr(0, head));
  EXPECT_EQ(client.Answer(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send(request.substr(head));
  EXPECT_EQ(StatusOfAnswer(client.Answer()), 201);
}

TEST_F(ServerTest, ClosesOnlyTheConnectionThatTalksNonsense) {
  Begin();
  Client good(port());
  good.Send(kHealth);
  EXPECT_EQ(StatusOfAnswer(good.Answer()), 200);
  for (std::string_view bytes :
       {std::string_view("\x16\x03\x01\x02hello\r\n\r\n"), std::string_view("GET\r\n\r\n"),
        std::string_view("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")}) {
    Client bad(port());
    bad.Send(bytes);
    bad.HalfClose();
    const std::string answer = bad.Rest();
    EXPECT_TRUE(StatusOfAnswer(answer) == 400 || StatusOfAnswer(answer) == 415) << answer;
  }
  {
    Client half(port());
    half.Send("GET /healthz HTT");
  }
  good.Send(kHealth);
  EXPECT_EQ(StatusOfAnswer(good.Answer()), 200);
}

TEST_F(ServerTest, BoundsHeadsAndBodies) {
  Begin();
  Client head(port());
  head.Send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20000, 'x') + "\r\n\r\n");
  EXPECT_EQ(StatusOfAnswer(head.Answer()), 431);
  Client body(socket());
  body.Send(
      "POST /api/v1/tasks HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n");
  EXPECT_EQ(StatusOfAnswer(body.Answer()), 413);
  Client chunks(socket());
  chunks.Send(
      "POST /api/v1/tasks HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "100000\r\n" + std::string(1 << 20, ' ') + "\r\n";
  for (int i = 0; i < 5; i++) chunks.Send(chunk);
  EXPECT_EQ(StatusOfAnswer(chunks.Answer()), 413);
}

TEST_F(ServerTest, RefusesAStrangersBodyUnreadAndStillDeliversTheAnswer) {
  Begin();
  Client client(port());
  client.Send(
      "POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "3000000\r\n\r\n");
  client.Send(std::string(1 << 20, 'x'));
  const std::string answer = client.Rest();
  EXPECT_EQ(StatusOfAnswer(answer), 401) << answer;
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
}

TEST_F(ServerTest, StreamsABulkOfManyLines) {
  Begin();
  Client client(socket());
  std::string body;
  for (int i = 0; i < 20000; i++) body += "{\"command\":[\"true\"],\"workdir\":\"/\"}\n";
  client.Send("POST /api/v1/tasks/bulk HTTP/1.1\r\nContent-Type: application/x-ndjson\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  const std::string answer = client.Answer();
  EXPECT_EQ(StatusOfAnswer(answer), 201) << answer;
  EXPECT_NE(answer.find("\"count\":20000"), std::string::npos) << answer;
  client.Send(kHealth);
  EXPECT_EQ(StatusOfAnswer(client.Answer()), 200);
}

TEST_F(ServerTest, AnswersABadBulkLineBeforeTheRestHasCome) {
  Begin();
  Client client(socket());
  client.Send(
      "POST /api/v1/tasks/bulk HTTP/1.1\r\nContent-Type: application/x-ndjson\r\nContent-Length: "
      "60000000\r\n\r\n{}\n");
  const std::string answer = client.Answer();
  EXPECT_EQ(StatusOfAnswer(answer), 422) << answer;
  EXPECT_NE(answer.find("/lines/1"), std::string::npos);
}

TEST_F(ServerTest, EndsAWaitWhenItsCallerGoes) {
  Begin();
  OnLoop([&] {
    backend_->open[TaskId{7}] = MakeTask(7, "t", Running{});
    backend_->rows.tasks[TaskId{7}] =
        TaskRecord{MakeTask(7, "t", Running{}).task, std::make_shared<TaskSpec>(), {}};
  });
  auto waiting = [&] {
    size_t count = 0;
    OnLoop([&] { count = backend_->waiting(); });
    return count;
  };
  {
    Client client(socket());
    client.Send("GET /api/v1/tasks/7?wait=ended&timeout=600 HTTP/1.1\r\n\r\n");
    while (waiting() == 0) std::this_thread::yield();
  }
  while (waiting() != 0) std::this_thread::yield();

  Client stays(socket());
  stays.Send("GET /api/v1/tasks/7?wait=ended&timeout=600 HTTP/1.1\r\n\r\n" + std::string(kHealth));
  while (waiting() == 0) std::this_thread::yield();
  OnLoop([&] { backend_->End(TaskId{7}, Outcome{}); });
  EXPECT_NE(stays.Answer().find("\"state\":\"ended\""), std::string::npos);
  EXPECT_EQ(StatusOfAnswer(stays.Answer()), 200) << "what was sent behind a wait is answered after it";
}

TEST_F(ServerTest, GivesHeadsWithoutBodiesToHead) {
  Begin();
  Client client(port());
  client.Send("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string answer = client.Rest();
  EXPECT_EQ(StatusOfAnswer(answer), 200);
  EXPECT_EQ(answer.substr(answer.size() - 4), "\r\n\r\n");
}

TEST_F(ServerTest, MakesRoomByClosingTheLongestIdleConnection) {
  ServerSettings settings = Settings();
  settings.most_connections = 8;
  Begin(settings);
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 200; i++) idle.push_back(std::make_unique<Client>(port()));
  Client late(port());
  late.Send(kHealth);
  EXPECT_EQ(StatusOfAnswer(late.Answer()), 200);
  EXPECT_EQ(idle.front()->Rest(), "");
  Client near(socket());
  near.Send(kStatus);
  EXPECT_EQ(StatusOfAnswer(near.Answer()), 200);
}

TEST_F(ServerTest, BindsItsSocketAgainWhenItIsRemoved) {
  Begin();
  ASSERT_TRUE(std::filesystem::remove(socket()));
  while (!std::filesystem::exists(socket())) std::this_thread::sleep_for(milliseconds(20));
  Client client(socket());
  ASSERT_TRUE(client.connected());
  client.Send(kStatus);
  EXPECT_EQ(StatusOfAnswer(client.Answer()), 200);
}

TEST_F(ServerTest, EndsOpenWaitsWhenItStops) {
  Begin();
  OnLoop([&] {
    backend_->open[TaskId{7}] = MakeTask(7, "t", Running{});
    backend_->rows.tasks[TaskId{7}] =
        TaskRecord{MakeTask(7, "t", Running{}).task, std::make_shared<TaskSpec>(), {}};
  });
  Client client(socket());
  client.Send("GET /api/v1/tasks/7?wait=ended&timeout=600 HTTP/1.1\r\n\r\n");
  size_t waiting = 0;
  while (waiting == 0) OnLoop([&] { waiting = backend_->waiting(); });
  server_->Stop();
  EXPECT_NE(client.Answer().find("\"state\":\"running\""), std::string::npos);
}

// ---- Live streams

constexpr std::string_view kUpgrade =
    "GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";

// A frame of a client: short text, under a mask of zeros.
std::string ClientFrame(const std::string& text) {
  return std::string("\x81") + static_cast<char>(0x80 | text.size()) + std::string(4, '\0') + text;
}

TEST_F(ServerTest, GoesOnAsALiveStreamAndSaysGoodbye) {
  Begin();
  Client client(socket());
  client.Send(std::string(kUpgrade) + "\r\n");
  const std::string head = client.Answer();
  EXPECT_EQ(StatusOfAnswer(head), 101);
  EXPECT_NE(head.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), std::string::npos) << "the answer of RFC 6455";
  client.Send(ClientFrame(R"({"sub":["queue"]})") + ClientFrame(R"({"ping":1})"));
  Client other(socket());  // the server serves on
  other.Send(kStatus);
  EXPECT_EQ(StatusOfAnswer(other.Answer()), 200);
  std::string seen = client.Await(R"({"pong":1})");
  EXPECT_NE(seen.find("\"hello\""), std::string::npos);
  EXPECT_NE(seen.find("\"topic\":\"queue\""), std::string::npos);
  server_->Stop();
  EXPECT_EQ(client.Rest(), "\x88\x02\x03\xe9") << "closed with 1001";
}

TEST_F(ServerTest, ForgetsAStreamWhoseBrowserGoesAway) {
  Begin();
  for (int i = 0; i < 200; i++) {
    Client client(socket());
    client.Send(std::string(kUpgrade) + "\r\n");
    const int status = StatusOfAnswer(client.Answer());
    EXPECT_TRUE(status == 101 || status == 503) << "at most 64 whose end has not been seen yet";
    if (i % 2 == 0) client.Send(ClientFrame(R"({"sub":["yard","events"]})"));
  }
  Client last(socket());
  last.Send(kHealth);
  EXPECT_EQ(StatusOfAnswer(last.Answer()), 200);
}

TEST_F(ServerTest, TakesNoFramesBeforeTheHandshake) {
  Begin();
  Client client(socket());
  client.Send(std::string(kUpgrade) + "\r\n" + ClientFrame(R"({"ping":1})"));
  EXPECT_EQ(StatusOfAnswer(client.Answer()), 400);
  Client stranger(port());
  stranger.Send(std::string(kUpgrade) + "Origin: http://localhost\r\n\r\n");
  EXPECT_EQ(StatusOfAnswer(stranger.Answer()), 401);
}

TEST_F(ServerTest, AsksTheDoctorOffItsOwnThread) {
  ServerSettings settings = Settings();
  std::thread doctor;
  settings.doctor = [&doctor](Language, std::function<void(std::string)> then) {
    doctor = std::thread([then = std::move(then)] { then(R"({"items":[],"next":null})"); });
  };
  Begin(std::move(settings));
  Client client(socket());
  client.Send("GET /api/v1/doctor HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(client.Answer().find(R"({"items":[],"next":null})"), std::string::npos);
  doctor.join();
}

TEST_F(ServerTest, ServesThePageFromAFolder) {
  std::filesystem::create_directories(home_ + "/dist");
  std::ofstream(home_ + "/dist/index.html") << "the page";
  ServerSettings settings = Settings();
  settings.web_folder = home_ + "/dist";
  Begin(std::move(settings));
  Client client(port());
  client.Send("GET /tasks/12 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string page = client.Answer();
  EXPECT_EQ(StatusOfAnswer(page), 200);
  EXPECT_NE(page.find("\r\n\r\nthe page"), std::string::npos);
  EXPECT_NE(page.find("Cache-Control: no-cache\r\n"), std::string::npos);
  EXPECT_EQ(page.find("no-store"), std::string::npos);
  client.Send("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string head = client.Rest();
  EXPECT_NE(head.find("Content-Length: 8\r\n"), std::string::npos);
  EXPECT_EQ(head.find("the page"), std::string::npos);
}

}  // namespace
}  // namespace ty
