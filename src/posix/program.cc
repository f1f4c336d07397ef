#include "posix/program.h"

#include <sys/stat.h>
#include <unistd.h>

namespace ty {

bool IsProgram(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string FindProgram(std::string_view program, std::string_view path, const std::string& workdir) {
  while (true) {
    const size_t colon = path.find(':');
    std::string folder(path.substr(0, colon));
    if (folder.empty()) folder = workdir;  // an empty entry is the current folder, as for execvp
    if (folder.front() != '/') folder = workdir + "/" + folder;
    const std::string candidate = folder + "/" + std::string(program);
    if (IsProgram(candidate)) return candidate;
    if (colon == std::string_view::npos) return {};
    path.remove_prefix(colon + 1);
  }
}

}  // namespace ty
