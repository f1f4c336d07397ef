// Logs as files. They lie in folders of the user, who may put anything in their place: nothing but a plain
// file is read, and no link is followed.
#pragma once

#include <cstdint>
#include <string>

#include "base/log_gaps.h"
#include "base/result.h"
#include "posix/fd.h"

namespace ty {

// No descriptor and no error: it is not there yet. A conflict: it is no plain file.
Result<UniqueFd> OpenLog(const std::string& path);
int64_t SizeOf(int fd);
// As much of the range as there is.
size_t ReadRange(int fd, int64_t offset, char* buffer, size_t size);
std::string ReadRange(int fd, int64_t offset, size_t size);

// What was removed from the log at `path`. To be asked after its bytes were read: a record comes before its
// bytes go, so that zeros among them are always explained. The newest records cover what older ones said.
LogGaps ReadGaps(const std::string& path);

}  // namespace ty
