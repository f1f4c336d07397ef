// How much room the disk of the state folder has, and from where on it is too little.
#pragma once

#include <cstdint>
#include <string>

#include "posix/fd.h"

namespace ty {

struct Room {
  int64_t size = 0, free = 0;           // bytes; free for this user
  int64_t inodes = 0, inodes_free = 0;  // 0 in all: this file system does not count them
};
SysResult<Room> MeasureRoom(const std::string& folder);

// Whether the disk takes no writing at all, room or not. Cheap enough to be asked for each request.
bool TakesNoWriting(const std::string& folder);

// Below it nothing new is taken in: 256 MiB, or 5 % of a disk smaller than 1 GiB.
int64_t LeastRoom(const Room& room);
// So much is kept aside: 64 MiB, less on a small disk.
int64_t BallastSize(const Room& room);
bool IsLow(const Room& room);

}  // namespace ty
