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
Result<Bound> ListenTcp(const ListenAddress& address);

struct BoundSocket {
  UniqueFd fd;
  dev_t device = 0;  // of its file, to tell later whether it is still ours
  ino_t inode = 0;
};
// Makes `home`/sock, 0600, in place of what was there. Refuses a folder that others may enter.
Result<BoundSocket> ListenSocket(const std::string& home);

}  // namespace ty
