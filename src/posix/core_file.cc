#include "posix/core_file.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/text.h"
#include "posix/files.h"

namespace ty {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kClockStep = kSecond;  // time stamps of files are coarser than the clock
constexpr size_t kLongest = 1024;        // a slot has little room

std::string FirstLine(const char* path) {
  std::string text = ReadFile(path, 4096).value_or("");
  return text.substr(0, text.find('\n'));
}

int64_t WrittenAt(const std::string& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return 0;
  return file.st_mtim.tv_sec * kSecond + file.st_mtim.tv_nsec;
}

}  // namespace

std::string CoreNames(std::string_view pattern, bool uses_pid, pid_t pid) {
  if (pattern.empty() || pattern.front() == '|' || pattern.front() == '@') return "";
  std::string names;
  bool has_pid = false;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c != '%') {
      if (std::string_view("*?[]\\").find(c) != std::string_view::npos) names += '\\';
      names += c;
      continue;
    }
    if (++at == pattern.size()) break;  // the kernel drops a lone one
    if (pattern[at] == '%') {
      names += '%';
    } else if (pattern[at] == 'p') {
      names += std::to_string(pid);
      has_pid = true;
    } else {
      names += '*';
    }
  }
  if (uses_pid && !has_pid) names += "." + std::to_string(pid);
  return names;
}

std::string FindCoreFile(std::string_view pattern, bool uses_pid, pid_t pid, const std::string& workdir,
                         int64_t since_ns) {
  std::string names = CoreNames(pattern, uses_pid, pid);
  if (names.empty()) return "";
  if (names.front() != '/') names = "/" + names;
  const size_t slash = names.rfind('/');
  std::string folder = names.substr(0, slash);
  if (folder.find_first_of("*\\") != std::string::npos)
    return "";  // a folder whose name is only known to the kernel
  if (pattern.front() != '/') folder = workdir + folder;
  if (folder.empty()) folder = "/";
  std::string newest;
  int64_t newest_at = since_ns - kClockStep;
  for (const std::string& name : ListFolder(folder).value_or(std::vector<std::string>())) {
    if (::fnmatch(names.c_str() + slash + 1, name.c_str(), 0) != 0) continue;
    const std::string path = (folder == "/" ? "" : folder) + "/" + name;
    const int64_t at = WrittenAt(path);
    if (at < newest_at) continue;
    newest = path;
    newest_at = at;
  }
  const bool plain = std::all_of(newest.begin(), newest.end(),
                                 [](unsigned char c) { return c >= ' ' && c != '"' && c != '\\'; });
  return newest.size() <= kLongest && plain && IsUtf8(newest) ? newest : "";
}

std::string FindCoreFile(pid_t pid, const std::string& workdir, int64_t since_ns) {
  return FindCoreFile(FirstLine("/proc/sys/kernel/core_pattern"),
                      FirstLine("/proc/sys/kernel/core_uses_pid") == "1", pid, workdir, since_ns);
}

}  // namespace ty
