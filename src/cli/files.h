// Small looks at files for the command line: paths, programs.
#pragma once

#include <string>
#include <string_view>

#include "posix/fd.h"
#include "posix/program.h"

namespace ty {

// As the user sees the current folder: $PWD where it is true, so that links keep their names. Empty when it
// is gone.
std::string CurrentFolder();
std::string AbsolutePath(std::string_view path);                           // from the current folder
std::string AbsolutePath(std::string_view path, const std::string& base);  // from `base`
std::string ParentFolder(const std::string& path);

bool IsFolder(const std::string& path);

}  // namespace ty
