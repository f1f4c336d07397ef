// Folders that programs of others write into: looked through and read from without following any link, so
// that nothing outside is ever shown, whatever they put there, even while we look.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "posix/fd.h"

namespace ty {

struct FoundFile {
  std::string path;  // below the folder, bytes as they are
  int64_t bytes = 0;
  int64_t modified_ns = 0;  // since 1970
};
struct FoundFiles {
  std::vector<FoundFile> files;  // plain ones, in no order
  bool cut = false;              // there was more than was looked at
};

// At most about `most` names are looked at, in folders at most `depth` deep. A folder that is not there is
// empty.
FoundFiles FindFiles(const std::string& base, const std::string& folder, size_t most, int depth);

// A plain file at `path` below `base`, which itself may be anywhere. ELOOP: a link is in the way or it is no
// plain file; EINVAL: the path leads out or is none.
SysResult<UniqueFd> OpenBelow(const std::string& base, const std::string& path);

}  // namespace ty
