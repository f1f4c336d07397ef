// Small files and folders. Everything here is safe against EINTR and short writes, opens with O_CLOEXEC and
// never syncs. `at` is a folder's descriptor or AT_FDCWD.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "posix/fd.h"

namespace ty {

SysResult<UniqueFd> OpenAt(int at, const char* path, int flags, mode_t mode = 0);
SysResult<UniqueFd> OpenFolder(const std::string& path);

// The whole file; EFBIG when it is longer than `limit`.
SysResult<std::string> ReadFileAt(int at, const char* path, size_t limit);
inline SysResult<std::string> ReadFile(const std::string& path, size_t limit);
// The whole of what one descriptor gives from its start, at most `limit`.
SysResult<std::string> ReadAllAt(int fd, size_t limit);

// Makes the file (EEXIST when it is there) and writes it.
SysStatus WriteNewFileAt(int at, const char* path, std::string_view content, mode_t mode = 0600);
// Makes or replaces the content of a file in place.
SysStatus WriteFileAt(int at, const char* path, std::string_view content, mode_t mode = 0600);
// Writes the file whole beside its place and renames it there: a reader sees the old or the new one, never a
// part, and neither does the next run of a process killed meanwhile.
SysStatus ReplaceFile(const std::string& path, std::string_view content, mode_t mode = 0600);
// One write to a file that is there already: control files of the kernel.
SysStatus PokeFile(const std::string& path, std::string_view content);
SysStatus WriteAll(int fd, std::string_view content);
SysStatus WriteAllAt(int fd, std::string_view content, int64_t offset);

// mkdir -p; folders made get `mode`.
SysStatus MakeFolders(const std::string& path, mode_t mode = 0700);
// rm -r without following symlinks; a path that is not there is fine.
SysStatus RemoveTree(const std::string& path);
// Names in a folder, without "." and "..", sorted.
SysResult<std::vector<std::string>> ListFolder(const std::string& path);
// Target text of a symlink.
SysResult<std::string> ReadLinkAt(int at, const char* path);
bool Exists(const std::string& path);

inline SysResult<std::string> ReadFile(const std::string& path, size_t limit) {
  return ReadFileAt(-100 /* AT_FDCWD */, path.c_str(), limit);
}

}  // namespace ty
