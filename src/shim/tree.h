// Tree is every process of the attempt: what its cgroup holds, and in any case what descends from us, since a
// subreaper inherits whoever loses its parent.
#pragma once

#include "posix/cgroups.h"

namespace ty {

class Tree {
 public:
  explicit Tree(Cgroup leaf) : leaf_(std::move(leaf)) {}

  const Cgroup& leaf() const { return leaf_; }
  void Signal(int signal) const;
  // One round; call again until it is gone. `again`: quicker than whatever forks faster than a round takes.
  void Kill(bool again) const;
  SysStatus Freeze(bool frozen) const;  // on an error nothing is frozen
  // To ask once no child is left to be reaped: takes the cgroup away, which only works when nobody is inside.
  bool Gone() const;

 private:
  void StopAll() const;
  void ContinueAll() const;

  Cgroup leaf_;
};

}  // namespace ty
