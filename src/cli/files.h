// Small looks at files for the command line: paths, programs, files replaced whole.
#pragma once

#include <string>
#include <string_view>

#include "posix/fd.h"

namespace ty {

// Written beside and renamed into place, 0600.
SysStatus ReplaceFile(const std::string& path, std::string_view content);

// As the user sees the current folder: $PWD where it is true, so that links keep their names. Empty when it is gone.
std::string CurrentFolder();
std::string AbsolutePath(std::string_view path);                           // from the current folder
std::string AbsolutePath(std::string_view path, const std::string& base);  // from `base`
std::string ParentFolder(const std::string& path);

bool IsFolder(const std::string& path);
bool IsProgram(const std::string& path);  // a regular file this user may execute
// `program` looked up in the folders of a PATH, relative ones from `workdir`; empty when it is in none.
std::string FindProgram(std::string_view program, std::string_view path, const std::string& workdir);

}  // namespace ty
