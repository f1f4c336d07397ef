// The second and last file that knows Beast: its WebSocket, without compression.
#include "http/websocket.h"

#include <strings.h>
#include <sys/socket.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>

#include "base/text.h"

namespace ty {

namespace asio = boost::asio;
namespace beast = boost::beast;
using beast::error_code;

namespace {

constexpr size_t kMessageLimit = 64 * 1024;
constexpr size_t kReadAtOnce = 16 * 1024;
constexpr size_t kKeptBuffer = 4 * 1024;

bool Same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.empty() || ::strncasecmp(a.data(), b.data(), a.size()) == 0);
}

// Whether a header's list has the word: "keep-alive, Upgrade".
bool HasWord(const Request& request, std::string_view header, std::string_view word) {
  for (const auto& [name, value] : request.headers) {
    if (!Same(name, header)) continue;
    for (std::string_view rest = value; !rest.empty();) {
      const size_t end = std::min(rest.find(','), rest.size());
      std::string_view part = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      while (!part.empty() && (part.front() == ' ' || part.front() == '\t')) part.remove_prefix(1);
      while (!part.empty() && (part.back() == ' ' || part.back() == '\t')) part.remove_suffix(1);
      if (Same(part, word)) return true;
    }
  }
  return false;
}

class BeastWebsocket final : public Websocket, public std::enable_shared_from_this<BeastWebsocket> {
 public:
  using Socket = asio::generic::stream_protocol::socket;

  explicit BeastWebsocket(Socket socket) : stream_(std::move(socket)) {
    beast::websocket::stream_base::timeout limits{};
    limits.handshake_timeout = std::chrono::seconds(5);
    limits.idle_timeout = std::chrono::seconds(40);
    limits.keep_alive_pings = true;
    stream_.set_option(limits);
    stream_.read_message_max(0);  // counted here, for a close code of our own
    stream_.auto_fragment(false);
  }

  void Begin(const Request& request, const std::string& cookie, Opener open,
             std::function<void()> ended) override {
    ended_ = std::move(ended);
    stream_.set_option(
        beast::websocket::stream_base::decorator([cookie](beast::websocket::response_type& answer) {
          answer.set(beast::http::field::server, "trainyard");
          if (!cookie.empty()) answer.set(beast::http::field::set_cookie, cookie);
        }));
    beast::http::request<beast::http::empty_body> asked;
    asked.method(beast::http::verb::get);
    asked.target("/");
    asked.version(11);
    for (const char* name : {"Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version"})
      asked.set(name, std::string(request.Header(name)));
    asked.set(beast::http::field::connection, "upgrade");
    if (request.Header("Host").empty())
      asked.set(beast::http::field::host, "localhost");  // on the Unix socket
    stream_.async_accept(asked, [self = shared_from_this(), open = std::move(open)](error_code fault) {
      if (fault || self->over_) return self->End();
      self->client_ = open(self);
      self->Read();
    });
  }

  void Send(Frame frame) override {
    if (over_ || closing_) return;
    pending_ += frame->size();
    out_.push_back(std::move(frame));
    if (out_.size() == 1) Write();
  }

  size_t pending() const override { return pending_; }

  void Close(int code) override {
    if (over_ || std::exchange(closing_, true)) return;
    if (code == kTooSlow) return Drop();
    while (out_.size() > 1) {
      pending_ -= out_.back()->size();
      out_.pop_back();
    }
    stream_.async_close(static_cast<beast::websocket::close_code>(code),
                        [self = shared_from_this()](error_code) { self->End(); });
  }

  void Drop() override {
    closing_ = true;
    beast::close_socket(beast::get_lowest_layer(stream_));
    End();
  }

 private:
  void Read() {
    stream_.async_read_some(in_, kReadAtOnce, [self = shared_from_this()](error_code fault, size_t) {
      if (fault) return self->closing_ ? void() : self->End();
      self->Take();
      if (!self->over_ && !self->closing_) self->Read();
    });
  }

  void Take() {
    const bool done = stream_.is_message_done();
    if (!done && in_.size() <= kMessageLimit) return;
    const auto bytes = in_.cdata();
    const std::string_view frame(static_cast<const char*>(bytes.data()), bytes.size());
    const bool good = done && stream_.got_text() && frame.size() <= kMessageLimit;
    client_->Take(good ? frame : std::string_view());  // an empty frame is none of the known ones
    in_.clear();
    if (in_.capacity() > kKeptBuffer) in_.shrink_to_fit();
  }

  void Write() {
    stream_.text(true);
    stream_.async_write(asio::buffer(*out_.front()), [self = shared_from_this()](error_code fault, size_t) {
      self->pending_ -= self->out_.front()->size();
      self->out_.pop_front();
      if (fault) return self->closing_ ? void() : self->End();
      if (!self->out_.empty() && !self->closing_) self->Write();
      if (self->client_) self->client_->Sent();
    });
  }

  void End() {
    if (std::exchange(over_, true)) return;
    const auto self = shared_from_this();
    if (const auto client = std::exchange(client_, nullptr)) client->Gone();
    if (const auto ended = std::exchange(ended_, nullptr)) ended();
  }

  beast::websocket::stream<Socket, false> stream_;
  beast::flat_buffer in_;
  std::deque<Frame> out_;  // the first is being written
  size_t pending_ = 0;
  bool closing_ = false, over_ = false;
  std::shared_ptr<LiveClient> client_;
  std::function<void()> ended_;
};

}  // namespace

std::shared_ptr<Websocket> Websocket::Make(asio::io_context& io, UniqueFd fd, bool unix_socket) {
  BeastWebsocket::Socket socket(io);
  error_code fault;
  socket.assign(asio::generic::stream_protocol(unix_socket ? AF_UNIX : AF_INET, 0), fd.get(), fault);
  if (fault) return nullptr;
  fd.Release();
  return std::make_shared<BeastWebsocket>(std::move(socket));
}

Upgrade JudgeUpgrade(const Request& request) {
  Upgrade upgrade;
  upgrade.asked = request.method == "GET" && request.version >= 11 &&
                  HasWord(request, "Upgrade", "websocket") && HasWord(request, "Connection", "upgrade");
  if (!upgrade.asked) return upgrade;
  const std::optional<std::string> key = FromBase64(request.Header("Sec-WebSocket-Key"));
  if (request.Header("Sec-WebSocket-Version") != "13") {
    upgrade.fault = 426;
  } else if (request.Count("Sec-WebSocket-Key") != 1 || !key || key->size() != 16 ||
             request.content_length.value_or(0) != 0) {
    upgrade.fault = 400;
  }
  return upgrade;
}

}  // namespace ty
