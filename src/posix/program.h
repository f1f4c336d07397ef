// Finding a program as execvp would, but in a PATH and from a folder that are given, not this process's own.
#pragma once

#include <string>
#include <string_view>

namespace ty {

bool IsProgram(const std::string& path);  // a regular file this user may execute
// `program` looked up in the folders of a PATH, relative ones from `workdir`; empty when it is in none.
std::string FindProgram(std::string_view program, std::string_view path, const std::string& workdir);

}  // namespace ty
