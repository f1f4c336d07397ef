#include "cli/interrupt.h"

#include <signal.h>

namespace ty {
namespace {
volatile sig_atomic_t interrupted = 0;
}

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };  // no SA_RESTART: waits end
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() {
  return interrupted != 0;
}

void ForgetInterrupt() {
  interrupted = 0;
}

}  // namespace ty
