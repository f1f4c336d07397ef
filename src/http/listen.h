// Where the server listens: loopback addresses alone (contracts C11), and the Unix socket of the state
// folder.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "posix/fd.h"

namespace ty {

struct ListenAddress {
  std::string host;  // "127.0.0.1" or "::1"
  int port = 0;
  bool search = false;  // the port may be another one when it is taken
};
// "127.0.0.1:7788", "[::1]:0", ":80"; "" is port 7788 or the next free one. Refuses what is not loopback.
Result<ListenAddress> ParseListen(const std::string& text);

struct Bound {
  UniqueFd fd;  // listens, non-blocking
  int port = 0;
};
// `kept` is the port of the last time, 0 when there was none: it is tried first where the port is ours to
// choose (`search`, or port 0), so that an open page and a bookmark find the yard again.
Result<Bound> ListenTcp(const ListenAddress& address, int kept = 0);

// The port kept in `home`, 0 without one; and keeps `port` for the next start.
int KeptPort(const std::string& home);
void KeepPort(const std::string& home, int port);

struct BoundSocket {
  UniqueFd fd;
  dev_t device = 0;  // of its file, to tell later whether it is still ours
  ino_t inode = 0;
};
// Makes `home`/sock, 0600, in place of what was there. Refuses a folder that others may enter.
Result<BoundSocket> ListenSocket(const std::string& home);

}  // namespace ty
