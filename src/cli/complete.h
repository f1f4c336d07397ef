// What may stand at the cursor of a command line being typed: all the thinking behind completion. The scripts
// of completion.cc only ask and show. Pure but for `known`, which is asked only when its answer is needed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace ty {

struct Candidate {
  std::string word, about;  // about: for shells that show it; may be empty
  bool operator==(const Candidate&) const = default;
};

// What only the yard can tell.
struct YardWords {
  std::function<std::vector<Candidate>(const std::string& state)> tasks;  // numbers and names
  std::function<std::vector<Candidate>()> devices, tags;
};

struct Completion {
  enum class Also : unsigned char { kNothing, kFiles, kFolders, kCommand };  // what the shell itself adds
  std::vector<Candidate> words;
  Also also = Also::kNothing;
  size_t command_at = 0;  // kCommand: which word is the program's name; the verb is word 1
};

// `typed` is what follows the program's name up to the cursor; the last word is the one at the cursor,
// perhaps empty. `about` puts a message id into words. The kinds of values are read off the help: ID, DEVICE,
// TAG, STATE, FILE, DIR, or choices as high|normal|low.
Completion Complete(const std::vector<std::string>& typed, const YardWords& known,
                    const std::function<std::string(const char*)>& about);

}  // namespace ty
