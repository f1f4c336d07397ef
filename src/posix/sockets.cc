#include "posix/sockets.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "posix/clocks.h"

namespace ty {

namespace {

constexpr int kPacketSocket = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

// sun_path holds 108 bytes; a folder's path may be far longer, its descriptor is short.
sockaddr_un AddressIn(int folder, const char* name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", folder, name);
  return address;
}

}  // namespace

SysResult<std::pair<UniqueFd, UniqueFd>> MakePacketPair() {
  int ends[2];
  if (::socketpair(AF_UNIX, kPacketSocket, 0, ends) != 0) return FailErrno(errno);
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

SysResult<UniqueFd> ListenPackets(int folder, const char* name) {
  UniqueFd socket(::socket(AF_UNIX, kPacketSocket, 0));
  if (!socket) return FailErrno(errno);
  ::fchmod(socket.get(), 0600);  // the mode bind gives the name
  const sockaddr_un address = AddressIn(folder, name);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return FailErrno(errno);
  if (::listen(socket.get(), 16) != 0) return FailErrno(errno);
  return socket;
}

SysResult<UniqueFd> ConnectPackets(int folder, const char* name) {
  UniqueFd socket(::socket(AF_UNIX, kPacketSocket, 0));
  if (!socket) return FailErrno(errno);
  const sockaddr_un address = AddressIn(folder, name);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return FailErrno(errno);
  }
  return socket;
}

SysResult<UniqueFd> AcceptPackets(int listener) {
  for (;;) {
    UniqueFd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) return socket;
    if (errno != EINTR) return FailErrno(errno);
  }
}

bool PeerIsTrusted(int fd) {
  ucred peer;
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

SysStatus SendPacket(int fd, std::string_view packet) {
  for (;;) {
    if (::send(fd, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
    if (errno != EINTR) return FailErrno();
  }
}

SysResult<std::string> ReceivePacket(int fd) {
  char packet[kPacketLimit];
  for (;;) {
    const ssize_t n = ::recv(fd, packet, sizeof packet, MSG_DONTWAIT);
    if (n >= 0) return std::string(packet, static_cast<size_t>(n));
    if (errno != EINTR) return FailErrno(errno);
  }
}

bool WaitReadable(int fd, int timeout_ms) {
  const int64_t until = MonotonicNanos() + int64_t{timeout_ms} * 1'000'000;
  for (;;) {
    pollfd waiting = {fd, POLLIN, 0};
    const int64_t left = (until - MonotonicNanos() + 999'999) / 1'000'000;
    const int ready = ::poll(&waiting, 1, static_cast<int>(left < 0 ? 0 : left));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return false;
  }
}

}  // namespace ty
