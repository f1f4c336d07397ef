// Fail points: places with a name where a test can end, halt or delay this process, to see that nothing is
// lost there. Off unless armed, and then one read of a bool; `script/chaos --points` arms each of them in
// turn.
//
//   TRAINYARD_FAIL="launch.spawned=kill@2,submit.committed=delay:50,log=/tmp/hits"
//
// An action is kill (SIGKILL to itself), stop (SIGSTOP to itself: whoever tests kills what it likes and lets
// go on what is left) or delay:MS, at the N-th passing in this process, else at the first. A delay is at
// every passing from there on. `log` names a file that gets a line "NAME PID" before each act.
#pragma once

#include <atomic>

namespace ty {

// `setting` is the text above, or null. Before any other thread runs. False: it could not be read.
bool ArmFailPoints(const char* setting);
// What the supervisors are to be armed with; null when nothing is armed.
const char* ArmedFailPoints();

namespace fail_points {
extern std::atomic<bool> armed;
void Pass(const char* name);
}  // namespace fail_points

}  // namespace ty

#define FAIL_POINT(name) \
  (::ty::fail_points::armed.load(std::memory_order_relaxed) ? ::ty::fail_points::Pass(name) : void(0))
