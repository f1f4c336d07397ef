#include "os/ports.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "posix/fd.h"

namespace ty {

namespace {

// Binding to every address fails when anybody listens on the port at any of them. SO_REUSEADDR lets us pass
// by connections that are only remembered (TIME_WAIT); listen() then fails beside a listener that allows it
// too.
bool CanListen(int family, const void* address, socklen_t length) {
  const UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return false;
  const int on = 1, off = 0;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  return ::bind(socket.get(), static_cast<const sockaddr*>(address), length) == 0 &&
         ::listen(socket.get(), 1) == 0;
}

bool HasIpv6() {
  const UniqueFd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 any = {};
  any.sin6_family = AF_INET6;
  any.sin6_addr = in6addr_any;
  return socket && ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
}

}  // namespace

bool PortIsFree(int port) {
  if (port < 1 || port > 65535) return false;
  sockaddr_in any4 = {};
  any4.sin_family = AF_INET;
  any4.sin_port = htons(static_cast<uint16_t>(port));
  if (!CanListen(AF_INET, &any4, sizeof any4)) return false;
  // Rendezvous servers listen on both families: the other one must be free too, where there is one.
  static const bool has_ipv6 = HasIpv6();
  if (!has_ipv6) return true;
  sockaddr_in6 any6 = {};
  any6.sin6_family = AF_INET6;
  any6.sin6_addr = in6addr_any;
  any6.sin6_port = htons(static_cast<uint16_t>(port));
  return CanListen(AF_INET6, &any6, sizeof any6);
}

}  // namespace ty
