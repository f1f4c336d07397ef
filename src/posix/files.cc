#include "posix/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>

namespace ty {

SysStatus FailErrno() {
  return tl::unexpected<int>(errno);
}

SysResult<UniqueFd> OpenAt(int at, const char* path, int flags, mode_t mode) {
  for (;;) {
    const int fd = ::openat(at, path, flags | O_CLOEXEC, mode);
    if (fd >= 0) return UniqueFd(fd);
    if (errno != EINTR) return FailErrno(errno);
  }
}

SysResult<UniqueFd> OpenFolder(const std::string& path) {
  return OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
}

SysResult<std::string> ReadAllAt(int fd, size_t limit) {
  std::string content;
  struct stat info;
  // Files of /proc have size 0: start with a page and grow.
  const bool sized = ::fstat(fd, &info) == 0 && info.st_size > 0;
  const size_t guess = sized ? static_cast<size_t>(info.st_size) + 1 : 4096;
  content.resize(std::min(guess, limit + 1));
  size_t used = 0;
  for (;;) {
    if (used == content.size()) {
      if (used > limit) return FailErrno(EFBIG);
      content.resize(std::min(content.size() * 2, limit + 1));
    }
    const ssize_t n = ::pread(fd, content.data() + used, content.size() - used, static_cast<off_t>(used));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno);
    used += static_cast<size_t>(n);
    if (n == 0 || (sized && used < content.size())) break;
  }
  if (used > limit) return FailErrno(EFBIG);
  content.resize(used);
  return content;
}

SysResult<std::string> ReadFileAt(int at, const char* path, size_t limit) {
  auto fd = OpenAt(at, path, O_RDONLY | O_NOCTTY);
  if (!fd) return FailErrno(fd.error());
  return ReadAllAt(fd->get(), limit);
}

SysStatus WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno();
    content.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

SysStatus WriteAllAt(int fd, std::string_view content, int64_t offset) {
  while (!content.empty()) {
    const ssize_t n = ::pwrite(fd, content.data(), content.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno();
    content.remove_prefix(static_cast<size_t>(n));
    offset += n;
  }
  return {};
}

SysStatus WriteNewFileAt(int at, const char* path, std::string_view content, mode_t mode) {
  auto fd = OpenAt(at, path, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!fd) return FailErrno(fd.error());
  return WriteAll(fd->get(), content);
}

SysStatus WriteFileAt(int at, const char* path, std::string_view content, mode_t mode) {
  auto fd = OpenAt(at, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
  if (!fd) return FailErrno(fd.error());
  return WriteAll(fd->get(), content);
}

SysStatus ReplaceFile(const std::string& path, std::string_view content, mode_t mode) {
  const std::string beside = path + "." + std::to_string(::getpid());
  SysStatus written = WriteFileAt(AT_FDCWD, beside.c_str(), content, mode);
  if (written && ::rename(beside.c_str(), path.c_str()) != 0) written = FailErrno();
  if (!written) ::unlink(beside.c_str());
  return written;
}

SysStatus PokeFile(const std::string& path, std::string_view content) {
  auto fd = OpenAt(AT_FDCWD, path.c_str(), O_WRONLY);
  if (!fd) return FailErrno(fd.error());
  return WriteAll(fd->get(), content);
}

SysStatus MakeFolders(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) return {};
  if (errno == ENOENT) {
    const size_t slash = path.find_last_of('/', path.find_last_not_of('/'));
    if (slash == std::string::npos || slash == 0) return FailErrno();
    if (auto parent = MakeFolders(path.substr(0, slash), mode); !parent) return parent;
    if (::mkdir(path.c_str(), mode) == 0) return {};
  }
  if (errno != EEXIST) return FailErrno();
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return FailErrno();
  if (!S_ISDIR(info.st_mode)) return FailErrno(ENOTDIR);
  return {};
}

namespace {

// Empties the folder behind `folder` (taken over), not following symlinks.
SysStatus EmptyFolder(UniqueFd folder) {
  DIR* listing = ::fdopendir(folder.get());
  if (listing == nullptr) return FailErrno();
  const int at = folder.Release();  // closedir closes it
  SysStatus result;
  while (const dirent* entry = ::readdir(listing)) {
    const char* name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    if (::unlinkat(at, name, 0) == 0 || errno == ENOENT) continue;
    if (errno != EISDIR && errno != EPERM) {
      result = FailErrno();
      break;
    }
    // A folder; one without write permission for its owner is opened up first.
    ::fchmodat(at, name, 0700, 0);
    auto inner = OpenAt(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!inner) {
      result = FailErrno(inner.error());
      break;
    }
    if (result = EmptyFolder(std::move(*inner)); !result) break;
    if (::unlinkat(at, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
      result = FailErrno();
      break;
    }
  }
  ::closedir(listing);
  return result;
}

}  // namespace

SysStatus RemoveTree(const std::string& path) {
  auto folder = OpenAt(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!folder) {
    if (folder.error() == ENOENT) return {};
    if (folder.error() != ENOTDIR && folder.error() != ELOOP) return FailErrno(folder.error());
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return FailErrno();
    return {};
  }
  if (auto emptied = EmptyFolder(std::move(*folder)); !emptied) return emptied;
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT) return FailErrno();
  return {};
}

SysResult<std::vector<std::string>> ListFolder(const std::string& path) {
  DIR* listing = ::opendir(path.c_str());
  if (listing == nullptr) return FailErrno(errno);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(listing)) {
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

SysResult<std::string> ReadLinkAt(int at, const char* path) {
  char target[PATH_MAX];
  const ssize_t n = ::readlinkat(at, path, target, sizeof target);
  if (n < 0) return FailErrno(errno);
  return std::string(target, static_cast<size_t>(n));
}

bool Exists(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace ty
