// HostLeases keeps yards of one host from giving out the same GPU, whoever owns them (contracts C8): one
// flock a card in a folder that everybody may open. The lock lives as long as any process that inherited it,
// so it outlives a daemon and its shims. Calls are a handful of system calls on a memory file system and
// never wait.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "os/device_watch.h"
#include "posix/fd.h"

namespace ty {

// What others may read about a lease of ours.
struct HostNote {
  std::string user, instance;
  TaskId task;
  std::string task_name;
  Time since;
};

struct HostClaim {
  std::shared_ptr<const UniqueFd> lock;  // ours now; to be inherited by the task's tree, and by nobody else
  std::optional<HostHolder> holder;  // somebody else's; `holder->instance` is ours when what is left of an
                                     // earlier attempt still has it
  bool again = false;                // another yard is just deciding about this device: ask again in a moment
};

class HostLeases {
 public:
  virtual ~HostLeases() = default;
  // `shared`: for a share; `ours`: this yard has leases on the device already.
  virtual HostClaim Claim(const std::string& device, bool shared, bool ours, const HostNote& note) = 0;
  // The last lease of this yard on it ended: our note goes, unless what is left of an attempt still has the
  // lock: then the note stays and says whose it is. Whether it is gone.
  virtual bool Leave(const std::string& device) = 0;
  // Who has had its gate for longer than anybody decides; a user only, and empty when that cannot be seen.
  virtual HostHolder WhoHasGate(const std::string& device) = 0;
};

// `folder` empty: /run/lock/trainyard where /run/lock is 1777, else /dev/shm/trainyard.
std::unique_ptr<HostLeases> OpenHostLeases(const std::string& instance, const std::string& folder = {});
// For the watch: who has it, when we do not; nothing while another yard is just deciding. `instance` is ours
// when what is left of an earlier attempt of ours has it.
std::optional<HostHolder> FindHostHolder(const std::string& device, const std::string& instance,
                                         const std::string& folder = {});

}  // namespace ty
