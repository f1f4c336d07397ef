#include "shim/tree.h"

#include <signal.h>
#include <unistd.h>

#include "posix/process.h"

namespace ty {

void Tree::Signal(int signal) const {
  for (const Process& process : FindDescendants(::getpid())) (void)SignalProcess(process, signal);
}

void Tree::Kill() const {
  leaf_.Kill();
  // Besides the cgroup: somebody may have walked out of it. Those killed above are zombies now or about to
  // be.
  Signal(SIGKILL);
}

SysStatus Tree::Freeze(bool frozen) const {
  if (leaf_) return leaf_.Freeze(frozen);
  Signal(frozen ? SIGSTOP : SIGCONT);
  return {};
}

bool Tree::Gone() const {
  return !leaf_ || leaf_.Remove() || !leaf_.Populated();
}

}  // namespace ty
