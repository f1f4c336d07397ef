// Names of users.
#pragma once

#include <sys/types.h>

#include <string>

namespace ty {

// "ann", or "uid 1234" for one without a name. It may ask a directory server, which may take long.
std::string UserNameOf(uid_t uid);
// The same from /etc/passwd and what was asked before: it never waits.
std::string UserNameAtHand(uid_t uid);

}  // namespace ty
