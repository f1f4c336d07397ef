// Ctrl-C while a command follows a task: it leaves the task running and says so, instead of dying at once.
#pragma once

namespace ty {
void CatchInterrupts();  // from now on SIGINT and SIGTERM only set the flag
bool Interrupted();
void ForgetInterrupt();  // before tidying up, which asks the yard again; another Ctrl-C breaks that off too
}  // namespace ty
