#include "store/traces.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/ids.h"
#include "base/paths.h"
#include "base/text.h"
#include "posix/files.h"
#include "store/backups.h"

namespace ty {

namespace {

std::vector<std::string> NamesIn(const std::string& folder) {
  return ListFolder(folder).value_or(std::vector<std::string>());
}

}  // namespace

bool IsGoneOrEmpty(const std::string& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) != 0 ? errno == ENOENT : S_ISREG(info.st_mode) && info.st_size == 0;
}

int64_t LastTaskFolder(const std::string& home) {
  int64_t last = 0;
  for (const std::string& name : NamesIn(home + "/tasks")) last = std::max(last, ParseInt(name).value_or(0));
  return last;
}

std::string TracesIn(const std::string& home) {
  const StatePaths paths{home};
  const std::vector<std::string> attempts = NamesIn(paths.Attempts());
  const bool runs = std::any_of(attempts.begin(), attempts.end(),
                                [](const std::string& name) { return Ulid::Parse(name).has_value(); });
  std::string traces;
  const auto add = [&](bool there, const char* what) {
    if (there) traces += (traces.empty() ? "" : ", ") + std::string(what);
  };
  add(!ListBackups(paths.Backups()).empty(), "backups/");
  add(runs, "attempts/");
  add(LastTaskFolder(home) > 0, "tasks/");
  add(!IsGoneOrEmpty(paths.Database() + "-wal"), "yard.db-wal");
  return traces;
}

}  // namespace ty
