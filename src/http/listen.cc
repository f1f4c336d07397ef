#include "http/listen.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <optional>

#include "base/paths.h"
#include "base/text.h"
#include "msg/listen.h"
#include "posix/files.h"

namespace ty {

namespace {

constexpr int kDefaultPort = 7788, kPortsTried = 100;

int BindTcp(const ListenAddress& address, int port, Bound& bound) {
  const bool six = address.host.find(':') != std::string::npos;
  UniqueFd fd(::socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno;
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_in);
  if (six) {
    auto* in = reinterpret_cast<sockaddr_in6*>(&storage);
    in->sin6_family = AF_INET6;
    in->sin6_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET6, address.host.c_str(), &in->sin6_addr);
    length = sizeof *in;
  } else {
    auto* in = reinterpret_cast<sockaddr_in*>(&storage);
    in->sin_family = AF_INET;
    in->sin_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET, address.host.c_str(), &in->sin_addr);
  }
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&storage), length) != 0 || ::listen(fd.get(), 512) != 0)
    return errno;
  length = sizeof storage;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&storage), &length);
  bound.port = ntohs(six ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                         : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
  bound.fd = std::move(fd);
  return 0;
}

}  // namespace

Result<ListenAddress> ParseListen(const std::string& text) {
  if (text.empty()) return ListenAddress{"127.0.0.1", kDefaultPort, true};
  const size_t colon = text.rfind(':');
  const std::optional<int64_t> port =
      colon == std::string::npos ? std::nullopt : ParseInt(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) return Invalid(msg::ListenBad{.text = Printable(text)}, "listen");
  std::string host = text.substr(0, colon);
  if (host.empty() || host == "localhost") host = "127.0.0.1";
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  in_addr four{};
  in6_addr six{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) {
    if ((ntohl(four.s_addr) >> 24) == 127) return ListenAddress{host, static_cast<int>(*port), false};
    return Invalid(msg::ListenNotLoopback{.address = host}, "listen");
  }
  if (::inet_pton(AF_INET6, host.c_str(), &six) == 1) {
    if (IN6_IS_ADDR_LOOPBACK(&six)) return ListenAddress{host, static_cast<int>(*port), false};
    return Invalid(msg::ListenNotLoopback{.address = host}, "listen");
  }
  if (host == "*") return Invalid(msg::ListenNotLoopback{.address = host}, "listen");
  return Invalid(msg::ListenBad{.text = Printable(text)}, "listen");
}

Result<Bound> ListenTcp(const ListenAddress& address, int kept) {
  Bound bound;
  const bool ours_to_choose = address.search || address.port == 0;
  if (ours_to_choose && kept != 0 && BindTcp(address, kept, bound) == 0) return bound;
  int fault = BindTcp(address, address.port, bound);
  for (int i = 1; fault == EADDRINUSE && address.search && i < kPortsTried; i++)
    fault = BindTcp(address, address.port + i, bound);
  switch (fault) {
    case 0:
      return bound;
    case EADDRINUSE:
      return Conflict(msg::ListenTaken{.port = address.port, .address = address.host}, "listen");
    case EACCES:
    case EPERM:
      return Invalid(msg::ListenNoPermission{.port = address.port, .address = address.host}, "listen");
    default:
      return Invalid(msg::ListenFailed{.address = address.host + ":" + std::to_string(address.port),
                                       .why = std::strerror(fault)},
                     "listen");
  }
}

int KeptPort(const std::string& home) {
  const SysResult<std::string> text = ReadFile(StatePaths{home}.Port(), 64);
  const std::optional<int64_t> port = text ? ParseInt(text->substr(0, text->find('\n'))) : std::nullopt;
  return port && *port > 0 && *port <= 65535 ? static_cast<int>(*port) : 0;
}

// Without it the next start may choose another port, and no more.
void KeepPort(const std::string& home, int port) {
  if (KeptPort(home) != port) (void)ReplaceFile(StatePaths{home}.Port(), std::to_string(port) + "\n");
}

// The socket gets its mode before it has a name (Linux takes it from the unbound socket), inside a folder
// that nobody else can enter; then it is renamed over a stale one. The folder is named by its descriptor: its
// path may be longer than a socket's address holds.
Result<BoundSocket> ListenSocket(const std::string& home) {
  const std::string path = StatePaths{home}.Socket();
  auto fail = [&](int fault) {
    return Fail(Code::kUnavailable, msg::ListenSocketFailed{.path = path, .why = std::strerror(fault)});
  };
  UniqueFd folder(::open(home.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat about {};
  if (!folder || ::fstat(folder.get(), &about) != 0) return fail(errno);
  if ((about.st_mode & 0077) != 0 || about.st_uid != ::geteuid())
    return Fail(Code::kUnavailable, msg::ListenFolderOpen{.path = home});

  BoundSocket bound;
  bound.fd = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!bound.fd || ::fchmod(bound.fd.get(), 0600) != 0) return fail(errno);
  ::unlinkat(folder.get(), "sock.new", 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/sock.new", folder.get());
  auto bind = [&] {
    return ::bind(bound.fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  };
  int fault = bind();
  // A disk without a free inode: the stale socket's will do, though for a moment there is none.
  if ((fault == ENOSPC || fault == EDQUOT) && ::unlinkat(folder.get(), "sock", 0) == 0) fault = bind();
  if (fault != 0) return fail(fault);
  if (::fstatat(folder.get(), "sock.new", &about, AT_SYMLINK_NOFOLLOW) != 0) return fail(errno);
  if (!S_ISSOCK(about.st_mode) || (about.st_mode & 0777) != 0600 || about.st_uid != ::geteuid()) {
    ::unlinkat(folder.get(), "sock.new", 0);
    return fail(EPERM);
  }
  if (::listen(bound.fd.get(), 512) != 0 || ::renameat(folder.get(), "sock.new", folder.get(), "sock") != 0)
    return fail(errno);
  bound.device = about.st_dev;
  bound.inode = about.st_ino;
  return bound;
}

}  // namespace ty
