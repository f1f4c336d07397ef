// What a state folder shows of having been in use, whatever became of its file: so that one that is gone is
// not taken for one that never was.
#pragma once

#include <cstdint>
#include <string>

namespace ty {

// Not there, or of no length.
bool IsGoneOrEmpty(const std::string& file);
// The highest N of tasks/<N>; 0 when there is none.
int64_t LastTaskFolder(const std::string& home);
// What there is of "backups/", "attempts/", "tasks/" and "yard.db-wal", for people; empty: nothing.
std::string TracesIn(const std::string& home);

}  // namespace ty
