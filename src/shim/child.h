// The birth of the attempt's processes: everything between the clone and the first instruction of each.
#pragma once

#include <string>

#include "posix/cgroups.h"
#include "posix/fd.h"
#include "posix/process.h"
#include "wire/spec.h"

namespace ty {

struct StartFailure {
  int error = 0;          // errno; 0: none
  const char* step = "";  // "exec", "chdir", …
};

class Birthplace {
 public:
  // `oom_score` is what a process gets back after we protected ourselves; empty leaves it. `leases`: how many
  // descriptors from wire::kFirstLease on stay open in it. `spec` and `oom_score` are borrowed.
  Birthplace(const wire::ShimSpec& spec, const std::string& oom_score, int leases)
      : spec_(spec), oom_score_(oom_score), leases_(leases) {}

  // Makes the leaf where that is a cgroup. Once, before the first Start.
  StartFailure Prepare();
  // The one process, or that of a rank, in a session of its own, with its output on `log`.
  tl::expected<Child, StartFailure> Start(size_t rank, int log) const;

 private:
  const wire::ShimSpec& spec_;
  const std::string& oom_score_;
  const int leases_;
  UniqueFd null_, cgroup_;
  CloneOptions options_;
};

}  // namespace ty
