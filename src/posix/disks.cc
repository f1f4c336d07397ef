#include "posix/disks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "posix/files.h"

namespace ty {
namespace {

bool IsOfTheNetwork(std::string_view type, std::string_view mounted_at) {
  for (std::string_view known :
       {"nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "lustre", "gpfs", "beegfs",
        "beegfs_nodev", "pvfs2", "orangefs", "coda", "panfs", "wekafs", "davfs"})
    if (type == known) return true;
  // A container or a sandbox may have its whole disk through these; a folder that is one is another
  // machine's.
  if (mounted_at == "/") return false;
  if (type == "9p") return true;
  if (type.substr(0, 5) != "fuse.") return false;
  for (std::string_view local : {"fuse.fuse-overlayfs", "fuse.mergerfs", "fuse.ntfs-3g", "fuse.bindfs"})
    if (type == local) return false;
  return true;
}

// mountinfo writes a space as \040.
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool IsBelow(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string_view Word(std::string_view line, int number) {
  for (; number > 0; --number) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return {};
    line.remove_prefix(space + 1);
  }
  return line.substr(0, line.find(' '));
}

// Without links; of a path that is not there yet, the nearest folder above it that is.
std::string RealPath(std::string path) {
  for (;;) {
    char real[PATH_MAX];
    if (realpath(path.c_str(), real)) return real;
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) return "/";
    path.resize(slash);
  }
}

}  // namespace

std::string NetworkFileSystem(std::string_view mounts, std::string_view path) {
  std::string found_at, type;
  while (!mounts.empty()) {
    const std::string_view line = mounts.substr(0, mounts.find('\n'));
    mounts.remove_prefix(std::min(mounts.size(), line.size() + 1));
    // "36 35 98:0 /root /where options… - ext4 /dev/sda1 …"
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const std::string where = Unescaped(Word(line, 4));
    // Of two mounts on one folder the later one is seen.
    if (!IsBelow(path, where) || where.size() < found_at.size()) continue;
    found_at = where;
    type = Word(line.substr(dash + 3), 0);
  }
  return IsOfTheNetwork(type, found_at) ? type : std::string();
}

std::string NetworkFileSystem(const std::string& path) {
  const std::string real = RealPath(path);
  // For tests: "nfs:/folder" makes everything below that folder lie on NFS.
  if (const char* pretend = getenv("TRAINYARD_FS_TYPE")) {
    const std::string_view text = pretend;
    const size_t colon = text.find(':');
    if (colon != std::string_view::npos && IsBelow(real, text.substr(colon + 1)))
      return std::string(text.substr(0, colon));
  }
  return NetworkFileSystem(ReadFile("/proc/self/mountinfo", 8 << 20).value_or(""), real);
}

bool IsReadOnlyDisk(const std::string& file) {
  struct statvfs disk {};
  if (::statvfs(file.c_str(), &disk) == 0 && (disk.f_flag & ST_RDONLY) != 0) return true;
  // After an error ext4 still calls itself writable. No bytes cost nothing where all is well, not even a look
  // at the disk, and are refused there as any others.
  const auto opened = OpenAt(AT_FDCWD, file.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK);
  if (!opened) return opened.error() == EROFS;
  return ::pwrite(opened->get(), "", 0, 0) < 0 && errno == EROFS;
}

int64_t RoomAt(const std::string& path) {
  struct statvfs disk {};
  if (statvfs(RealPath(path).c_str(), &disk) != 0) return 0;
  return static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
}

}  // namespace ty
