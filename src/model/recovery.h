// What `trainyard recover` goes by and what it did: nouns that store, daemon and command line share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/task.h"

namespace ty {

// An attempt as its folder tells of it, which no copy of the state may know.
struct FoundRun {
  Ulid uid;
  TaskId task;
  int number = 1;
  std::string name;  // of the task; empty: not told
  std::string boot;
  TaskSpec spec;                     // command, folder, variables and limits as its supervisor was given them
  std::vector<std::string> devices;  // ids of what it was given
  bool open = false;                 // its end was never taken in: the next start looks at what became of it
  Time created;
};

struct Recovery {
  bool healthy = false;       // the state file is whole: nothing was done
  std::string found;          // what was wrong with it; empty: it was not there
  std::string moved_to;       // where the damaged file is kept now; empty: there was none
  bool read_damaged = false;  // something could be read of it
  bool read_whole = false;    // all of it
  std::string backup;         // the copy that filled what could not be read; empty: none was there or needed
  std::optional<Time> backup_made;
  int64_t tasks = 0, open = 0;  // that the state has now
  int64_t runs_taken_in = 0;    // known from their folders alone
  std::vector<TaskId> made;     // tasks known from there alone
  std::vector<TaskId> held;     // may have run since the copy: they wait for a person
  std::vector<TaskId> lost;     // nobody knows any more what they were to run
};

}  // namespace ty
