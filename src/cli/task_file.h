// Reads a task file (YAML): the keys of TaskSpec in api/openapi.yaml, and a few short forms.
//
//   name: digits
//   command: [python3, train.py, --lr, 1e-4]   # words as typed: 1e-4 stays 1e-4
//   # shell: python3 train.py > out.txt    # instead of command: one line for sh -c
//   workdir: .                                  # from the file's own folder; left out: where submit is typed
//   resources: {gpus: 1-2, memory: 8G, share: '0.5:turns', gpu_memory: 6G, exclusive: true, gpu_ids: index}
//   ranks: true                                 # one process for each device
//   after: [prepare, 12:any]                    # or {task: 12, on: any}
//   begin: 22:00                                # what --begin takes
//   limits: {time: 90m}
//   retry: 2                                    # or {max: 2, on: any, delay: 10s}
//   tags: [mnist]
//   variables: {SEED: 7}
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace ty {

// The JSON of the task, checked by ParseTaskSpec (but for the names in `after`, which the yard knows).
// An error's field is where it is: "digits.yaml:4: resources.gpus".
// `folder` is the file's, `here` the current one; both absolute.
Result<boost::json::object> ParseTaskFile(std::string_view text, const std::string& file,
                                          const std::string& folder, const std::string& here, Time now);

}  // namespace ty
