// What the code of a task looks like at submit, read without running anything: the script files that its
// command names, and the commit that .git/HEAD points to.
#pragma once

#include <string>
#include <vector>

namespace ty {

// Absolute paths of regular files under 16 MB that look like scripts or settings (train.py, --config=a.yaml).
std::vector<std::string> ScriptsIn(const std::vector<std::string>& argv, const std::string& workdir);

struct Repository {
  std::string folder;  // the working tree's; empty: none around
  std::string commit;  // empty: no commit yet, or it cannot be read
};
Repository FindRepository(const std::string& workdir);

}  // namespace ty
