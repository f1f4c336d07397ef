#include "posix/browse.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>

#include "posix/files.h"

namespace ty {

namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

int64_t ModifiedOf(const struct stat& about) {
  return int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec;
}

// From folder to folder, one name at a time: none of them may be a link.
SysResult<UniqueFd> Descend(UniqueFd at, const std::string& path) {
  if (path.empty()) return at;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string::npos)
      return FailErrno(EINVAL);
    auto next = OpenAt(at.get(), name.c_str(), kFolder);
    if (!next) return FailErrno(next.error());
    at = std::move(*next);
    begin = end + 1;
  }
  return at;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

void Look(UniqueFd at, const std::string& prefix, size_t& left, int depth, FoundFiles& found) {
  std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(at.get()));
  if (!folder) return;
  at.Release();
  const int fd = ::dirfd(folder.get());
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (left == 0) {
      found.cut = true;
      return;
    }
    --left;
    struct stat about {};
    if (::fstatat(fd, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(about.st_mode)) found.files.push_back({prefix + name, about.st_size, ModifiedOf(about)});
    if (!S_ISDIR(about.st_mode)) continue;
    if (depth <= 1) {
      found.cut = true;
      continue;
    }
    if (auto inner = OpenAt(fd, name.c_str(), kFolder))
      Look(std::move(*inner), prefix + name + "/", left, depth - 1, found);
  }
}

}  // namespace

FoundFiles FindFiles(const std::string& base, const std::string& folder, size_t most, int depth) {
  FoundFiles found;
  auto top = OpenFolder(base);
  if (!top) return found;
  if (auto at = Descend(std::move(*top), folder)) Look(std::move(*at), "", most, depth, found);
  return found;
}

SysResult<UniqueFd> OpenBelow(const std::string& base, const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == ".." || path.find('\0') != std::string::npos)
    return FailErrno(EINVAL);
  auto top = OpenFolder(base);
  if (!top) return FailErrno(top.error());
  auto at = Descend(std::move(*top), slash == std::string::npos ? "" : path.substr(0, slash));
  if (!at) return FailErrno(at.error() == ENOTDIR ? ELOOP : at.error());
  auto file = OpenAt(at->get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!file) return FailErrno(file.error() == ENXIO ? ELOOP : file.error());
  struct stat about {};
  if (::fstat(file->get(), &about) != 0 || !S_ISREG(about.st_mode)) return FailErrno(ELOOP);
  return file;
}

}  // namespace ty
