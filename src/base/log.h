// A small log for the daemon's own trouble, one line a call with the time, to stderr or a file opened at
// start. It is for whoever mends the yard: English, no secrets, never the way to tell a user something.
#pragma once

#include <string_view>

namespace ty {
void Log(std::string_view line);
}
