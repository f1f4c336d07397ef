// What a folder lies on. A queue needs locks and syncs that mean what they say, which a disk of this machine
// gives and a file system of the network does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ty {

// The kernel's name of the network file system that `path`, or the nearest folder above it that exists, lies
// on: "nfs4", "fuse.sshfs"; empty on a disk of this machine.
std::string NetworkFileSystem(const std::string& path);
// Of the text of /proc/self/mountinfo; `path` without links.
std::string NetworkFileSystem(std::string_view mounts, std::string_view path);

// Whether the disk of this file takes no writing at all, room or not: mounted so, or made so by the kernel
// after an error. Found out without writing a byte. Of a file that is not there, what its mount says.
bool IsReadOnlyDisk(const std::string& file);

// Bytes that we may still write there; 0 when that cannot be told.
int64_t RoomAt(const std::string& path);

}  // namespace ty
