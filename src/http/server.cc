// The file that knows Asio (websocket.cc apart), and of it little: waiting for readiness and time. Bytes are
// read and written with plain system calls, so that one socket type serves TCP and Unix and an idle
// connection costs no buffer.
#include "http/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/log.h"
#include "base/paths.h"
#include "base/text.h"
#include "http/desk.h"
#include "http/listen.h"
#include "http/live.h"
#include "http/reader.h"
#include "http/render.h"
#include "http/websocket.h"
#include "msg/api.h"
#include "msg/live.h"
#include "os/clock.h"
#include "posix/clocks.h"
#include "posix/fd.h"
#include "posix/sockets.h"

namespace ty {

namespace asio = boost::asio;
using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;

namespace {

constexpr Duration kFirstHead = seconds(5);  // from connecting to a whole head
constexpr Duration kIdle = seconds(60);      // between requests, and without a byte of progress inside one
constexpr Duration kLinger = seconds(2);     // to read away what a refused client still sends
constexpr Duration kBackOff = milliseconds(100);
constexpr Duration kSweep = milliseconds(500);
constexpr Duration kSocketWatch = seconds(2);
constexpr Duration kFarewell = seconds(1);  // answers that are on their way when the server stops
constexpr size_t kScratch = 64 * 1024;
constexpr size_t kMostStreams = 64;

int64_t Now() {
  return MonotonicNanos();
}

class AsioLoop final : public Loop, public std::enable_shared_from_this<AsioLoop> {
 public:
  void Post(std::function<void()> act) override {
    std::lock_guard lock(mutex_);
    if (!stopped_) asio::post(io, std::move(act));
  }
  std::shared_ptr<void> After(Duration delay, std::function<void()> act) override {
    auto timer = std::make_shared<asio::steady_timer>(io, delay);
    timer->async_wait([act = std::move(act), token = std::weak_ptr(timer)](error_code fault) {
      const auto alive = token.lock();  // it may have been dropped when the time was already over
      if (!fault && alive) act();
    });
    return timer;
  }
  void Stopped() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }

  asio::io_context io{1};

 private:
  std::mutex mutex_;
  bool stopped_ = false;
};

std::string MakeHead(const Response& response, bool keep_alive) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " ";
  head += StatusText(response.status);
  if (response.status != 304) {
    head += "\r\nContent-Type: " + response.type +
            "\r\nContent-Length: " + std::to_string(response.content().size());
  }
  head +=
      "\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin"
      "\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n";
  bool has_policy = false, may_be_kept = false;
  for (const auto& [name, value] : response.headers) {
    head += name;
    head += ": " + value + "\r\n";
    has_policy = has_policy || name == "Content-Security-Policy";
    may_be_kept = may_be_kept || name == "Cache-Control";
  }
  if (!may_be_kept) head += "Cache-Control: no-store\r\n";
  if (!has_policy) head += "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n";
  head += keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
  return head;
}

bool OutOfFiles(int fault) {
  return fault == EMFILE || fault == ENFILE || fault == ENOBUFS || fault == ENOMEM;
}

}  // namespace

// ---- The thread and what lives on it.

class Server::Engine : public std::enable_shared_from_this<Engine> {
 public:
  class Session;
  class Listener;
  using SessionPtr = std::shared_ptr<Session>;

  explicit Engine(ServerSettings settings) : settings_(std::move(settings)), scratch_(kScratch) {}

  Status Open(const BackendMaker& make_backend);
  void Stop();
  std::string url() const { return url_; }

 private:
  friend class Session;
  friend class Listener;

  void WatchSocket();
  void Sweep();
  void Accept(UniqueFd fd, bool unix_socket);
  bool MakeRoom(bool unix_socket);
  void Forget(const SessionPtr& session);
  void OpenStream(UniqueFd fd, bool unix_socket, const CallPtr& call);
  void EndWhenEmpty();

  ServerSettings settings_;
  std::shared_ptr<AsioLoop> loop_ = std::make_shared<AsioLoop>();
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<LiveHub> live_;
  Desk log_desk_{[this] { api_->ForgetLogs(); }}, file_desk_;
  std::shared_ptr<Listener> tcp_, unix_;
  BoundSocket socket_;
  std::string url_;
  std::shared_ptr<void> watch_, sweep_, farewell_;
  std::set<SessionPtr> sessions_;
  std::set<std::shared_ptr<Websocket>> streams_;
  std::vector<char> scratch_;  // what a read fills; copied on at once
  bool stopping_ = false;
  std::thread thread_;
};

// One connection: request, answer, request, … A call in hand is never read past; what came behind it waits.
class Server::Engine::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Engine& engine, Socket socket, Peer peer)
      : engine_(engine), socket_(std::move(socket)), peer_(peer) {}

  void Begin() {
    deadline_ = Now() + kFirstHead.count();
    waiting_since_ = Now();
    ReadOn();
  }
  void Close() {
    if (closed_) return;
    closed_ = true;
    error_code ignored;
    socket_.close(ignored);
    sink_.reset();
    if (call_) std::exchange(call_, nullptr)->Gone();
    if (auto after = std::exchange(after_, nullptr)) after();
    engine_.Forget(shared_from_this());
  }
  // The server stops: what is being written may go out, everything else ends now.
  void Farewell() {
    last_ = true;
    if (const CallPtr call = call_) call->Gone();
    if (!writing_ && !call_) Close();
  }

  bool unix_socket() const { return peer_.socket; }
  bool overdue(int64_t now) const { return now >= deadline_; }
  bool awaits_head() const { return !call_ && !writing_; }
  int64_t waiting_since() const { return waiting_since_; }

 private:
  int fd() { return socket_.native_handle(); }

  void ArmRead() {
    if (armed_ || closed_) return;
    armed_ = true;
    socket_.async_wait(Socket::wait_read, [self = shared_from_this()](error_code fault) {
      self->armed_ = false;
      if (fault || self->closed_) return;
      self->Readable();
    });
  }

  void Readable() {
    if (call_ && body_done_) return LookWhetherGone();
    ReadOn();
  }

  // While a call waits for something to happen, only the end of the connection matters.
  void LookWhetherGone() {
    char byte;
    const ssize_t n = ::recv(fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
      last_ = true;
      const CallPtr call = call_;
      call->Gone();
    } else if (n < 0) {
      ArmRead();
    }
  }

  void ReadOn() {
    std::vector<char>& scratch = engine_.scratch_;
    const ssize_t n = ::recv(fd(), scratch.data(), scratch.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return ArmRead();
    if (n <= 0) return Close();
    if (draining_) {
      drained_ += static_cast<size_t>(n);
      return drained_ > kBulkLimit ? Close() : ArmRead();
    }
    kept_.append(scratch.data(), static_cast<size_t>(n));
    if (call_) deadline_ = Now() + kIdle.count();
    Process();
  }

  // Goes through the bytes at hand until more are needed or a call is in hand. `busy_` keeps answers that
  // come at once from going deeper and deeper into a pipeline.
  void Process() {
    if (busy_) return;
    busy_ = true;
    while (!closed_ && !draining_ && !writing_ && !(call_ && body_done_)) {
      if (!Step()) break;
    }
    busy_ = false;
    if (closed_ || writing_ || (call_ && body_done_)) return;
    ArmRead();
  }

  // One part of a message; false when more bytes are needed.
  bool Step() {
    const bool had_head = reader_.has_head();
    if (kept_.empty()) return false;
    const size_t used = reader_.Feed(kept_);
    kept_.erase(0, used);
    if (reader_.trouble() != 0) {
      RefuseBytes(reader_.trouble());
      return true;
    }
    if (!reader_.has_head()) return false;
    if (!had_head && !TakeHead()) return true;
    return TakeBody() || (used > 0 && !kept_.empty());
  }

  // True when the call goes on to its body.
  bool TakeHead() {
    Request request = reader_.TakeRequest();
    request.peer = peer_;
    request.language = FromAcceptLanguage(request.Header("Accept-Language"));
    keep_alive_ = request.keep_alive;
    head_only_ = request.method == "HEAD";
    body_done_ = reader_.done();
    body_size_ = 0;
    const std::optional<uint64_t> length = request.content_length;
    const bool expects = request.expects_continue;
    call_ = std::make_shared<Call>(std::move(request), [self = weak_from_this()](Response response) {
      if (SessionPtr session = self.lock()) session->Write(std::move(response));
    });
    CallPtr call = call_;
    deadline_ = body_done_ ? INT64_MAX : Now() + kIdle.count();
    if (!engine_.api_->Admit(call)) return false;
    if (length && *length > BodyLimit()) {
      RefuseBody(call);
      return false;
    }
    if (call->route->streams) {
      sink_ = engine_.api_->OpenBulk(call);
      if (sink_ == nullptr) return false;
    }
    if (call->route->upgrades && engine_.api_->MayUpgrade(call)) {
      HandOver(call);
      return false;
    }
    if (call->answered()) return false;
    if (expects && !body_done_ && kept_.empty()) {
      constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      if (::send(fd(), kContinue.data(), kContinue.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) Close();
    }
    return !closed_;
  }

  // True when the call has its whole body, or has been answered without.
  bool TakeBody() {
    std::string piece = reader_.TakeBody();
    const CallPtr call = call_;
    body_size_ += piece.size();
    if (body_size_ > BodyLimit()) {
      RefuseBody(call);
      return true;
    }
    if (sink_ != nullptr) {
      std::shared_ptr<BodySink> sink = sink_;
      sink->Take(piece);
      if (call->answered()) return true;
    } else if (call->request.body.empty()) {
      call->request.body = std::move(piece);
    } else {
      call->request.body += piece;
    }
    if (!reader_.done()) return false;
    body_done_ = true;
    deadline_ = INT64_MAX;
    call->on_wait = [self = weak_from_this()] {
      if (SessionPtr session = self.lock()) session->ArmRead();
    };
    if (std::shared_ptr<BodySink> sink = std::exchange(sink_, nullptr)) {
      sink->Finish();
    } else {
      engine_.api_->Handle(call);
    }
    return true;
  }

  // The connection goes on as a live stream, which is none of our business any more.
  void HandOver(const CallPtr& call) {
    if (engine_.stopping_ || engine_.streams_.size() >= kMostStreams) {
      return call->Refuse(
          Error{Code::kUnavailable, msg::LiveStreams{.limit = static_cast<int64_t>(kMostStreams)}, {}});
    }
    // Nobody may speak before the handshake is answered.
    if (!body_done_ || !kept_.empty())
      return call->Refuse(400, Error{Code::kInvalid, msg::ApiMalformed{}, {}});
    closed_ = true;
    error_code fault;
    UniqueFd fd(socket_.release(fault));
    call_.reset();
    if (!fault) engine_.OpenStream(std::move(fd), peer_.socket, call);
    engine_.Forget(shared_from_this());
  }

  uint64_t BodyLimit() const {
    return call_->route != nullptr && call_->route->streams ? kBulkLimit : kBodyLimit;
  }
  void RefuseBody(const CallPtr& call) {
    call->Refuse(413,
                 Error{Code::kInvalid, msg::ApiBodyTooLarge{.limit = static_cast<int64_t>(BodyLimit())}, ""});
  }

  // Bytes that are no request; nobody knows where the next one would begin.
  void RefuseBytes(int status) {
    Message message = status == 431 ? Message(msg::ApiHeadTooLarge{.limit = kHeadLimit})
                      : status == 413
                          ? Message(msg::ApiBodyTooLarge{.limit = static_cast<int64_t>(kBulkLimit)})
                          : Message(msg::ApiMalformed{});
    Response response = ProblemResponse(status, Error{Code::kInvalid, std::move(message), ""},
                                        call_ ? call_->language() : Language::kEnglish);
    last_ = true;
    if (const CallPtr call = call_) return call->Answer(std::move(response));
    body_done_ = false;
    Write(std::move(response));
  }

  void Write(Response response) {
    if (closed_) {
      if (response.after) response.after();
      return;
    }
    // A body that has not been read to its end makes the connection useless for another request.
    if (!body_done_) last_ = true;
    if (engine_.stopping_) last_ = true;
    out_head_ = MakeHead(response, keep_alive_ && !last_);
    out_body_ = head_only_ ? std::string() : std::move(response.body);
    out_lasting_ = head_only_ ? std::string_view() : response.lasting;
    after_ = std::move(response.after);
    out_done_ = 0;
    writing_ = true;
    call_.reset();
    sink_.reset();
    deadline_ = Now() + kIdle.count();
    Send();
  }

  void Send() {
    while (true) {
      const std::string_view body = out_lasting_.empty() ? std::string_view(out_body_) : out_lasting_;
      const size_t total = out_head_.size() + body.size();
      if (out_done_ == total) return Sent();
      iovec parts[2];
      int count = 0;
      if (out_done_ < out_head_.size())
        parts[count++] = {out_head_.data() + out_done_, out_head_.size() - out_done_};
      const size_t body_done = out_done_ > out_head_.size() ? out_done_ - out_head_.size() : 0;
      if (body_done < body.size())
        parts[count++] = {const_cast<char*>(body.data()) + body_done, body.size() - body_done};
      msghdr message{};
      message.msg_iov = parts;
      message.msg_iovlen = static_cast<size_t>(count);
      const ssize_t n = ::sendmsg(fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n > 0) {
        out_done_ += static_cast<size_t>(n);
        deadline_ = Now() + kIdle.count();
      } else if (n < 0 && errno == EINTR) {
        continue;
      } else if (n < 0 && errno == EAGAIN) {
        socket_.async_wait(Socket::wait_write, [self = shared_from_this()](error_code fault) {
          if (!fault && !self->closed_) self->Send();
        });
        return;
      } else {
        return Close();
      }
    }
  }

  void Sent() {
    writing_ = false;
    out_head_.clear();
    out_body_ = {};
    if (auto after = std::exchange(after_, nullptr)) after();
    if (closed_) return;
    waiting_since_ = Now();
    deadline_ = Now() + kIdle.count();
    if (!keep_alive_ || last_) {
      if (body_done_) return Close();
      // Closing with bytes unread would reset the connection and take the answer with it.
      draining_ = true;
      kept_ = {};
      deadline_ = Now() + kLinger.count();
      ::shutdown(fd(), SHUT_WR);
      return ArmRead();
    }
    reader_.Next();
    if (kept_.empty()) kept_.shrink_to_fit();
    if (!busy_) Process();
  }

  Engine& engine_;
  Socket socket_;
  Peer peer_;
  Reader reader_;
  std::string kept_;  // read and not yet used
  CallPtr call_;      // in hand
  std::shared_ptr<BodySink> sink_;
  uint64_t body_size_ = 0;
  bool keep_alive_ = true, head_only_ = false;
  bool body_done_ = false;
  bool last_ = false;  // close after this answer
  bool busy_ = false, writing_ = false, draining_ = false, armed_ = false, closed_ = false;
  size_t drained_ = 0;
  std::string out_head_, out_body_;
  std::string_view out_lasting_;
  size_t out_done_ = 0;
  std::function<void()> after_;
  int64_t deadline_ = INT64_MAX, waiting_since_ = 0;
};

class Server::Engine::Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(Engine& engine, UniqueFd fd, bool unix_socket)
      : engine_(engine), descriptor_(engine.loop_->io, fd.Release()), unix_socket_(unix_socket) {}

  void Arm() {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                           [self = shared_from_this()](error_code fault) {
                             if (!fault && !self->closed_) self->AcceptSome();
                           });
  }
  void Close() {
    closed_ = true;
    pause_.reset();
    error_code ignored;
    descriptor_.close(ignored);
  }

 private:
  void AcceptSome() {
    for (int i = 0; i < 64; i++) {
      UniqueFd fd(::accept4(descriptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (fd) {
        engine_.Accept(std::move(fd), unix_socket_);
        continue;
      }
      if (OutOfFiles(errno)) {  // the waiting client would be reported again at once: no spinning
        pause_ = engine_.loop_->After(kBackOff, [self = shared_from_this()] { self->Arm(); });
        return;
      }
      if (errno != EINTR && errno != ECONNABORTED) break;
    }
    Arm();
  }

  Engine& engine_;
  asio::posix::stream_descriptor descriptor_;
  bool unix_socket_;
  bool closed_ = false;
  std::shared_ptr<void> pause_;
};

Status Server::Engine::Open(const BackendMaker& make_backend) {
  std::optional<Bound> tcp;
  if (settings_.listen != "none") {
    Result<ListenAddress> address = ParseListen(settings_.listen);
    if (!address) return Forward(address.error());
    Result<Bound> bound = ListenTcp(*address, KeptPort(settings_.home));
    if (!bound) return Forward(bound.error());
    KeepPort(settings_.home, bound->port);
    const bool six = address->host.find(':') != std::string::npos;
    url_ = "http://" + (six ? "[" + address->host + "]" : address->host) + ":" + std::to_string(bound->port);
    tcp = std::move(*bound);
  }
  Result<BoundSocket> socket = ListenSocket(settings_.home);
  if (!socket) return Forward(socket.error());
  socket_ = std::move(*socket);

  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    settings_.most_connections = static_cast<int>(std::min<rlim_t>(
        static_cast<rlim_t>(settings_.most_connections), std::max<rlim_t>(8, files.rlim_cur / 4)));
  }
  if (!settings_.now) settings_.now = [] { return SystemClock().Now(); };
  backend_ = make_backend(loop_);
  ApiSettings api;
  api.version = settings_.version;
  api.home = settings_.home;
  api.owner = settings_.owner;
  api.instance = settings_.instance;
  api.started = settings_.now();
  api.url = [this] { return url_; };
  api.now = settings_.now;
  api.on_down = settings_.on_down;
  api.on_signed_out = [this](const std::string& browser) { live_->SignedOut(browser); };
  api.doctor = settings_.doctor;
  api.basics = settings_.basics;
  api.gate.hosts = settings_.hosts;
  api.assets = EmbeddedAssets();
  api.web_folder = settings_.web_folder;
  api.log_desk = [this](Desk::Job job) { log_desk_.Do(std::move(job)); };
  api.file_desk = [this](Desk::Job job) { file_desk_.Do(std::move(job)); };
  api_ = std::make_unique<Api>(std::move(api), *backend_, *loop_);
  live_ = std::make_unique<LiveHub>(
      LiveHub::Settings{.instance = settings_.instance, .version = settings_.version, .now = settings_.now},
      *api_, *loop_);

  unix_ = std::make_shared<Listener>(*this, std::move(socket_.fd), true);
  unix_->Arm();
  if (tcp) {
    tcp_ = std::make_shared<Listener>(*this, std::move(tcp->fd), false);
    tcp_->Arm();
  }
  watch_ = loop_->After(kSocketWatch, [this] { WatchSocket(); });
  thread_ = std::thread([this] { loop_->io.run(); });
  return {};
}

// Somebody may tidy up the state folder; the command line must find the yard again.
void Server::Engine::WatchSocket() {
  struct stat about {};
  const std::string path = StatePaths{settings_.home}.Socket();
  const bool there =
      ::lstat(path.c_str(), &about) == 0 && about.st_dev == socket_.device && about.st_ino == socket_.inode;
  if (!there) {
    if (Result<BoundSocket> again = ListenSocket(settings_.home)) {
      Log("the socket was gone and is bound again");
      unix_->Close();
      socket_.device = again->device;
      socket_.inode = again->inode;
      unix_ = std::make_shared<Listener>(*this, std::move(again->fd), true);
      unix_->Arm();
    }
  }
  watch_ = loop_->After(kSocketWatch, [this] { WatchSocket(); });
}

void Server::Engine::Accept(UniqueFd fd, bool unix_socket) {
  if (!MakeRoom(unix_socket)) return;
  Peer peer;
  peer.socket = unix_socket;
  peer.trusted = unix_socket && PeerIsTrusted(fd.get());
  if (!unix_socket) {
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  const asio::generic::stream_protocol protocol(unix_socket ? AF_UNIX : AF_INET, 0);
  Socket socket(loop_->io);
  error_code fault;
  socket.assign(protocol, fd.get(), fault);
  if (fault) return;
  fd.Release();
  auto session = std::make_shared<Session>(*this, std::move(socket), peer);
  sessions_.insert(session);
  if (!sweep_) sweep_ = loop_->After(kSweep, [this] { Sweep(); });
  session->Begin();
}

// Of each kind so many; the one that has kept us waiting longest goes. Strangers on TCP cannot crowd out the
// socket.
bool Server::Engine::MakeRoom(bool unix_socket) {
  int count = 0;
  SessionPtr idle;
  for (const SessionPtr& session : sessions_) {
    if (session->unix_socket() != unix_socket) continue;
    count++;
    if (session->awaits_head() && (!idle || session->waiting_since() < idle->waiting_since())) idle = session;
  }
  if (count < settings_.most_connections) return true;
  if (!idle) return false;
  idle->Close();
  return true;
}

void Server::Engine::Forget(const SessionPtr& session) {
  sessions_.erase(session);
  EndWhenEmpty();
}

void Server::Engine::EndWhenEmpty() {
  if (stopping_ && sessions_.empty() && streams_.empty()) loop_->io.stop();
}

void Server::Engine::OpenStream(UniqueFd fd, bool unix_socket, const CallPtr& call) {
  const std::shared_ptr<Websocket> stream = Websocket::Make(loop_->io, std::move(fd), unix_socket);
  if (!stream) return;
  streams_.insert(stream);
  const Request& request = call->request;
  auto open = [this, language = request.language, browser = request.peer.browser](
                  std::shared_ptr<LiveLine> line) { return live_->Open(std::move(line), language, browser); };
  stream->Begin(request, call->renewed_cookie, std::move(open), [this, weak = std::weak_ptr(stream)] {
    streams_.erase(weak.lock());
    EndWhenEmpty();
  });
}

void Server::Engine::Sweep() {
  std::vector<SessionPtr> overdue;
  const int64_t now = Now();
  for (const SessionPtr& session : sessions_) {
    if (session->overdue(now)) overdue.push_back(session);
  }
  for (const SessionPtr& session : overdue) session->Close();
  sweep_.reset();
  if (!sessions_.empty()) sweep_ = loop_->After(kSweep, [this] { Sweep(); });
}

void Server::Engine::Stop() {
  if (!thread_.joinable()) return;
  loop_->Post([this] {
    stopping_ = true;
    watch_.reset();
    if (tcp_) tcp_->Close();
    unix_->Close();
    struct stat about {};
    const std::string path = StatePaths{settings_.home}.Socket();
    if (::lstat(path.c_str(), &about) == 0 && about.st_dev == socket_.device && about.st_ino == socket_.inode)
      ::unlink(path.c_str());
    const std::vector<SessionPtr> all(sessions_.begin(), sessions_.end());
    for (const SessionPtr& session : all) session->Farewell();
    live_->CloseAll();
    if (sessions_.empty() && streams_.empty()) return loop_->io.stop();
    farewell_ = loop_->After(kFarewell, [this] {
      const std::vector<SessionPtr> left(sessions_.begin(), sessions_.end());
      for (const SessionPtr& session : left) session->Close();
      const std::vector<std::shared_ptr<Websocket>> streams(streams_.begin(), streams_.end());
      for (const auto& stream : streams) stream->Drop();
      loop_->io.stop();
    });
  });
  thread_.join();
  log_desk_.Close();
  file_desk_.Close();
  loop_->Stopped();
  for (std::shared_ptr<void>* token : {&watch_, &sweep_, &farewell_}) token->reset();
  sessions_.clear();
  streams_.clear();
  live_.reset();
  tcp_.reset();
  unix_.reset();
}

Server::Server(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}
Server::~Server() {
  Stop();
}
std::string Server::url() const {
  return engine_->url();
}
void Server::Stop() {
  engine_->Stop();
}

Result<std::unique_ptr<Server>> Server::Start(ServerSettings settings, const BackendMaker& make_backend) {
  auto engine = std::make_shared<Engine>(std::move(settings));
  if (Status opened = engine->Open(make_backend); !opened) return Forward(opened.error());
  return std::unique_ptr<Server>(new Server(std::move(engine)));
}

Result<std::unique_ptr<Server>> Server::Start(ServerSettings settings, Inbox& inbox, Store& store,
                                              SeriesStore& series) {
  return Start(std::move(settings), [&](std::shared_ptr<Loop> loop) {
    return MakeBackend(inbox, store, series, std::move(loop));
  });
}

}  // namespace ty
