// Unix sockets of packets: one send is one receive. Sends never block and never raise SIGPIPE.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "posix/fd.h"

namespace ty {

inline constexpr size_t kPacketLimit = 64 * 1024;

SysResult<std::pair<UniqueFd, UniqueFd>> MakePacketPair();  // both non-blocking

// A socket named `name` in the folder behind `folder`, however long the folder's path is.
SysResult<UniqueFd> ListenPackets(int folder, const char* name);   // 0600; a stale one must be removed before
SysResult<UniqueFd> ConnectPackets(int folder, const char* name);  // non-blocking
SysResult<UniqueFd> AcceptPackets(int listener);                   // non-blocking

// Who is at the other end: root or the user we run as, else the connection is not to be trusted.
bool PeerIsTrusted(int fd);

SysStatus SendPacket(int fd, std::string_view packet);
// EAGAIN when there is none; an empty string at the end of the connection.
SysResult<std::string> ReceivePacket(int fd);
// Waits until the descriptor is readable (or at its end); false when the time is over.
bool WaitReadable(int fd, int timeout_ms);

}  // namespace ty
