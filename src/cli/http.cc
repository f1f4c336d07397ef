#include "cli/http.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "cli/files.h"
#include "cli/interrupt.h"
#include "posix/sockets.h"

namespace ty {
namespace {

using Trouble = HttpTrouble;

constexpr size_t kLongestLine = 64 * 1024;

std::string Lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// Waits for `events`; Ctrl-C ends the wait where it is caught.
tl::expected<void, Trouble> Await(int fd, short events, int timeout_s) {
  while (true) {
    if (Interrupted()) return tl::unexpected(Trouble::kInterrupted);
    pollfd waited{fd, events, 0};
    int ready = poll(&waited, 1, timeout_s * 1000);
    if (ready > 0) return {};
    if (ready == 0) return tl::unexpected(Trouble::kTimeout);
    if (errno != EINTR) return tl::unexpected(Trouble::kBroken);
  }
}

}  // namespace

std::string_view HttpReply::Header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

std::string PercentEncode(std::string_view word) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (char c : word) {
    auto byte = static_cast<unsigned char>(c);
    bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
                 c == '.' || c == '_' || c == '~' || c == '@';
    if (plain) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kHex[byte >> 4];
      encoded += kHex[byte & 15];
    }
  }
  return encoded;
}

SysResult<HttpLine> HttpLine::Open(const std::string& socket_path) {
  HttpLine line;
  line.fd_.Reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!line.fd_) return FailErrno(errno);
  // A path longer than a socket's name may be is reached through its folder.
  std::string name = socket_path;
  UniqueFd folder;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) {
    folder.Reset(open(ParentFolder(socket_path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return FailErrno(errno);
    name = "/proc/self/fd/" + std::to_string(folder.get()) + socket_path.substr(socket_path.rfind('/'));
  }
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  while (connect(line.fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    if (errno != EINTR) return FailErrno(errno);
  if (!PeerIsTrusted(line.fd_.get())) return FailErrno(EPERM);
  fcntl(line.fd_.get(), F_SETFL, O_NONBLOCK);
  return line;
}

tl::expected<void, Trouble> HttpLine::Send(std::string_view bytes, int timeout_s) {
  while (!bytes.empty()) {
    ssize_t put = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put >= 0) {
      bytes.remove_prefix(static_cast<size_t>(put));
      continue;
    }
    if (errno == EINTR) continue;
    // A refusal may come before all was sent: it waits to be read.
    if (errno != EAGAIN) return tl::unexpected(Trouble::kBroken);
    if (auto ready = Await(fd_.get(), POLLOUT, timeout_s); !ready) return ready;
  }
  return {};
}

tl::expected<void, Trouble> HttpLine::More(int timeout_s) {
  if (used_ > 0 && used_ == arrived_.size()) {
    arrived_.clear();
    used_ = 0;
  }
  while (true) {
    char block[65536];
    ssize_t got = recv(fd_.get(), block, sizeof block, 0);
    if (got > 0) {
      arrived_.append(block, static_cast<size_t>(got));
      return {};
    }
    if (got == 0) return tl::unexpected(Trouble::kBroken);
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return tl::unexpected(Trouble::kBroken);
    if (auto ready = Await(fd_.get(), POLLIN, timeout_s); !ready) return ready;
  }
}

tl::expected<std::string, Trouble> HttpLine::Line(int timeout_s) {
  while (true) {
    size_t end = arrived_.find('\n', used_);
    if (end != std::string::npos) {
      std::string line(Trimmed(std::string_view(arrived_).substr(used_, end - used_)));
      used_ = end + 1;
      return line;
    }
    if (arrived_.size() - used_ > kLongestLine) return tl::unexpected(Trouble::kBroken);
    if (auto more = More(timeout_s); !more) return tl::unexpected(more.error());
  }
}

tl::expected<void, Trouble> HttpLine::Take(size_t count, std::string& to, int timeout_s) {
  while (count > 0) {
    size_t here = std::min(count, arrived_.size() - used_);
    to.append(arrived_, used_, here);
    used_ += here;
    count -= here;
    if (count == 0) break;
    if (auto more = More(timeout_s); !more) return more;
  }
  return {};
}

tl::expected<void, Trouble> HttpLine::TakeChunks(std::string& to, int timeout_s) {
  while (true) {
    auto line = Line(timeout_s);
    if (!line) return tl::unexpected(line.error());
    size_t size = 0;
    auto [end, problem] = std::from_chars(line->data(), line->data() + line->size(), size, 16);
    if (problem != std::errc() || (end != line->data() + line->size() && *end != ';'))
      return tl::unexpected(Trouble::kBroken);
    if (size > 0)
      if (auto taken = Take(size, to, timeout_s); !taken) return taken;
    do {  // the line end of the chunk, or the trailers up to an empty line
      line = Line(timeout_s);
      if (!line) return tl::unexpected(line.error());
    } while (size == 0 && !line->empty());
    if (size == 0) return {};
  }
}

tl::expected<HttpReply, Trouble> HttpLine::Ask(const HttpRequest& request) {
  sent_ = false;
  std::string head = request.method + " " + request.target + " HTTP/1.1\r\nHost: localhost\r\n";
  for (const auto& [name, value] : request.headers) head += name + ": " + value + "\r\n";
  if (request.method != "GET")
    head += "Content-Type: " + request.type + "\r\nContent-Length: " + std::to_string(request.body.size()) +
            "\r\n";
  head += "\r\n";
  // One write where the body is small: the daemon then wakes once.
  bool together = request.body.size() < 256 * 1024;
  if (together) head += request.body;
  auto put = Send(head, request.timeout_s);
  if (put && !together) put = Send(request.body, request.timeout_s);
  if (!put && put.error() != Trouble::kBroken) return tl::unexpected(put.error());
  sent_ = put.has_value();

  HttpReply reply;
  do {
    auto status = Line(request.timeout_s);
    if (!status) return tl::unexpected(status.error());
    if (status->size() < 12 || status->compare(0, 7, "HTTP/1.") != 0) return tl::unexpected(Trouble::kBroken);
    auto [end, problem] = std::from_chars(status->data() + 9, status->data() + 12, reply.status);
    if (problem != std::errc() || end != status->data() + 12) return tl::unexpected(Trouble::kBroken);
    reply.headers.clear();
    while (true) {
      auto line = Line(request.timeout_s);
      if (!line) return tl::unexpected(line.error());
      if (line->empty()) break;
      size_t colon = line->find(':');
      if (colon == std::string::npos || reply.headers.size() > 100) return tl::unexpected(Trouble::kBroken);
      reply.headers.emplace_back(Lower(line->substr(0, colon)),
                                 Trimmed(std::string_view(*line).substr(colon + 1)));
    }
  } while (reply.status < 200);  // 100 Continue and its like

  if (Lower(std::string(reply.Header("transfer-encoding"))) == "chunked") {
    if (auto taken = TakeChunks(reply.body, request.timeout_s); !taken) return tl::unexpected(taken.error());
    return reply;
  }
  std::string_view length = reply.Header("content-length");
  size_t size = 0;
  if (!length.empty()) {
    auto [end, problem] = std::from_chars(length.data(), length.data() + length.size(), size);
    if (problem != std::errc() || end != length.data() + length.size())
      return tl::unexpected(Trouble::kBroken);
    if (auto taken = Take(size, reply.body, request.timeout_s); !taken) return tl::unexpected(taken.error());
  } else if (reply.status != 204 && reply.status != 304) {  // up to the end of the connection
    while (true) {
      reply.body.append(arrived_, used_);
      used_ = arrived_.size();
      if (auto more = More(request.timeout_s); !more) {
        if (more.error() == Trouble::kBroken) break;
        return tl::unexpected(more.error());
      }
    }
  }
  return reply;
}

}  // namespace ty
