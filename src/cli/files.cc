#include "cli/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "posix/files.h"

namespace ty {

std::string CurrentFolder() {
  char here[PATH_MAX];
  if (!getcwd(here, sizeof here) || here[0] != '/') return {};
  struct stat real, said;
  const char* pwd = getenv("PWD");
  if (pwd && pwd[0] == '/' && stat(pwd, &said) == 0 && stat(here, &real) == 0 && said.st_dev == real.st_dev &&
      said.st_ino == real.st_ino)
    return pwd;
  return here;
}

std::string AbsolutePath(std::string_view path, const std::string& base) {
  if (path.empty() || path == ".") return base;
  if (path.front() == '/') return std::string(path);
  while (path.substr(0, 2) == "./") path.remove_prefix(2);
  return base + (base.empty() || base.back() != '/' ? "/" : "") + std::string(path);
}

std::string AbsolutePath(std::string_view path) {
  if (!path.empty() && path.front() == '/') return std::string(path);
  return AbsolutePath(path, CurrentFolder());
}

std::string ParentFolder(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool IsFolder(const std::string& path) {
  struct stat seen;
  return stat(path.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode);
}

}  // namespace ty
