// Where the kernel has put the core dump of a process that has just ended with one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ty {

// The file name that a pattern as in /proc/sys/kernel/core_pattern makes, for fnmatch: what is not known
// here, such as %e or %t, may be anything. Empty where it is a pipe or a socket.
std::string CoreNames(std::string_view pattern, bool uses_pid, pid_t pid);

// The newest file of such a name that was written since, in `workdir` or where the pattern says. Empty where
// the dump went to a program, or the process had gone to another folder.
std::string FindCoreFile(std::string_view pattern, bool uses_pid, pid_t pid, const std::string& workdir,
                         int64_t since_ns);
std::string FindCoreFile(pid_t pid, const std::string& workdir, int64_t since_ns);  // by the kernel's pattern

}  // namespace ty
