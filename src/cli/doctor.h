// What `trainyard doctor` finds, for the yard to tell it on its page too.
#pragma once

#include <string>

#include "cli/config.h"
#include "words/words.h"

namespace ty {

// The JSON of a FindingList. Starts programs and asks the yard over its socket, so it takes its time and
// never belongs on a thread of the yard that others wait for.
std::string FindingsJson(const std::string& home, const Config& config, Language language);

}  // namespace ty
