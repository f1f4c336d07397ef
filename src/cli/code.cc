#include "cli/code.h"

#include <sys/stat.h>

#include <algorithm>

#include "cli/files.h"
#include "posix/files.h"

namespace ty {
namespace {

constexpr off_t kLargestScript = 16 << 20;
constexpr size_t kMostScripts = 64;

bool LooksLikeScript(std::string_view path) {
  size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || path.find('/', dot) != std::string_view::npos) return false;
  std::string_view end = path.substr(dot + 1);
  for (std::string_view known : {"py", "sh", "bash", "yaml", "yml", "json", "toml", "ini", "cfg", "conf", "r",
                                 "R", "jl", "lua", "pl", "m", "ipynb"})
    if (end == known) return true;
  return false;
}

std::string Trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string SmallFile(const std::string& path) {
  SysResult<std::string> text = ReadFile(path, 4 << 20);
  return text ? std::move(*text) : std::string();
}

bool IsCommit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The folder behind `.git`: itself, or where a worktree's or submodule's `.git` file points.
std::string GitFolder(const std::string& tree) {
  std::string git = tree + "/.git";
  if (IsFolder(git)) return git;
  std::string pointer = Trimmed(SmallFile(git));
  if (pointer.rfind("gitdir: ", 0) != 0) return {};
  return AbsolutePath(pointer.substr(8), tree);
}

std::string CommitOf(const std::string& git) {
  std::string head = Trimmed(SmallFile(git + "/HEAD"));
  if (head.rfind("ref: ", 0) != 0) return IsCommit(head) ? head : std::string();
  std::string reference = head.substr(5);
  if (reference.find("..") != std::string::npos) return {};
  // A worktree keeps its branches in the repository it belongs to.
  std::string common = Trimmed(SmallFile(git + "/commondir"));
  std::string base = common.empty() ? git : AbsolutePath(common, git);
  if (std::string commit = Trimmed(SmallFile(base + "/" + reference)); IsCommit(commit)) return commit;
  std::string packed = SmallFile(base + "/packed-refs");
  size_t at = packed.find(" " + reference + "\n");
  if (at == std::string::npos || at < 40) return {};
  size_t start = packed.rfind('\n', at);
  start = start == std::string::npos ? 0 : start + 1;
  std::string commit = packed.substr(start, at - start);
  return IsCommit(commit) ? commit : std::string();
}

}  // namespace

std::vector<std::string> ScriptsIn(const std::vector<std::string>& argv, const std::string& workdir) {
  std::vector<std::string> scripts;
  for (const std::string& word : argv) {
    if (scripts.size() == kMostScripts) break;
    std::string_view path = word;
    if (size_t equals = path.rfind('='); equals != std::string_view::npos) path.remove_prefix(equals + 1);
    if (!LooksLikeScript(path)) continue;
    std::string file = AbsolutePath(path, workdir);
    struct stat seen;
    if (stat(file.c_str(), &seen) != 0 || !S_ISREG(seen.st_mode) || seen.st_size >= kLargestScript) continue;
    if (std::find(scripts.begin(), scripts.end(), file) == scripts.end()) scripts.push_back(std::move(file));
  }
  return scripts;
}

Repository FindRepository(const std::string& workdir) {
  for (std::string folder = workdir; !folder.empty(); folder = ParentFolder(folder)) {
    std::string git = GitFolder(folder);
    if (!git.empty() && Exists(git + "/HEAD")) return {folder, CommitOf(git)};
    if (folder == "/" || folder == ".") break;
  }
  return {};
}

}  // namespace ty
