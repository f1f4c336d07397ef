// What a task of the yard outlives on this machine, and why: the user's logout, a reboot. And the unit that
// has systemd start the yard at boot.
#pragma once

#include <string>

#include "base/message.h"
#include "base/result.h"

namespace ty {

class Caller;

struct Survival {
  bool logout = false, reboot = false;
  Message logout_why, reboot_why;
};
// `pid`: of the daemon, or 0 for ourselves.
Survival SurvivalOf(const std::string& home, int pid = 0);

// The unit of one state folder: of the user's own manager, or of the machine's when we are root.
struct BootUnit {
  std::string name;    // "trainyard.service"
  std::string folder;  // where units of this manager lie; empty without HOME
  bool of_machine = false;

  static BootUnit Of(const std::string& home);
  std::string File() const { return folder + "/" + name; }
  // What `systemctl enable` makes.
  std::string Link() const {
    return folder + "/" + (of_machine ? "multi-user" : "default") + ".target.wants/" + name;
  }
};

// Has the yard started at boot, from now on. Where there is no systemd: says which line of a crontab does it.
Status StartAtBoot(const Caller& caller, const std::string& config);
Status NoStartAtBoot(const Caller& caller);

}  // namespace ty
