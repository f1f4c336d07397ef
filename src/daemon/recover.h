// `trainyard recover` as main hands it to the command line: finds out what the attempts' folders tell and
// lets the store build its file anew. Refuses while a daemon holds the state folder.
#pragma once

#include <string>

#include "base/result.h"
#include "model/recovery.h"

namespace ty {

Result<Recovery> RecoverHome(const std::string& home);

}  // namespace ty
