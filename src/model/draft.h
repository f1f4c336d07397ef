// Draft is a TaskSpec as far as it could be read, with everything that is wrong with it: people mend what
// they are told of, and one fault at a time is slow. What is wrong is left as if it had not been said.
#pragma once

#include <vector>

#include "model/spec.h"

namespace ty {

struct Draft : TaskSpec {
  std::vector<Error> faults;  // in the order of the document; the first is ParseTaskSpec's
};

Draft ReadTaskSpec(const boost::json::value& json);

// Adds those about fields that nothing is said of yet.
void AddFaults(std::vector<Error>& faults, std::vector<Error> more);

}  // namespace ty
