// HelperProcess is the probe's helper as the watch sees it: something to ask, that may never answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "posix/process.h"

namespace ty {

class HelperProcess {
 public:
  // `variables`: its whole environment, "K=V" each.
  static SysResult<HelperProcess> Start(const std::string& program,
                                        const std::vector<std::string>& variables);
  HelperProcess(HelperProcess&&) = default;
  HelperProcess& operator=(HelperProcess&&) = default;

  int socket() const { return socket_.get(); }
  int pid() const { return pid_; }
  bool Ask();  // false: it is gone
  // A whole line if there is one. `*gone` when it will say nothing more.
  std::optional<std::string> Hear(bool* gone);
  // SIGKILL. One that hangs in the kernel does not die of it: then false, and somebody may call Reap later.
  static bool End(int pid);
  static bool Reap(int pid);

 private:
  HelperProcess(UniqueFd socket, int pid) : socket_(std::move(socket)), pid_(pid) {}

  UniqueFd socket_;
  int pid_;
  std::string heard_;
};

}  // namespace ty
