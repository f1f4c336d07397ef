#include "base/paths.h"

#include <limits.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace ty {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// A state folder must mean the same from every working directory.
std::string Absolute(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path.empty() || path.front() == '/') return path;
  char here[PATH_MAX];
  if (!getcwd(here, sizeof here)) return path;
  return std::string(here) + "/" + path;
}

std::string Parent(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

StatePaths StatePaths::FromEnvironment() {
  if (std::string home = Variable("TRAINYARD_HOME"); !home.empty()) return {Absolute(home)};
  // The XDG rules have a relative XDG_STATE_HOME ignored.
  if (std::string state = Variable("XDG_STATE_HOME"); !state.empty() && state.front() == '/')
    return {Absolute(state) + "/trainyard"};
  if (std::string home = Variable("HOME"); !home.empty()) return {Absolute(home) + "/.local/state/trainyard"};
  return {};
}

std::string ProgramFolder() {
  std::string path(PATH_MAX, '\0');
  ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0) return {};
  path.resize(static_cast<size_t>(size));
  return Parent(
      path);  // the kernel's " (deleted)" after an upgrade is part of the last name: it goes with it
}

std::string ShareFolder() {
  std::string folder = ProgramFolder();
  if (folder.empty()) return {};
  std::string prefix = Parent(folder);
  return (prefix == "/" ? "" : prefix) + "/share/trainyard";
}

}  // namespace ty
