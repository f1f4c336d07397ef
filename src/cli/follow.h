// Following one task: to its end, with or without its log.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/log_gaps.h"
#include "base/result.h"
#include "cli/caller.h"
#include "cli/link.h"

namespace ty {

struct LogChoice {
  std::string task;
  int attempt = 0;          // 0: the newest, and those that follow it
  std::optional<int> rank;  // of a run with ranks; rank 0 when not said
  bool follow = false;
  bool raw = false;   // the task's bytes as they are
  int64_t tail = -1;  // only the last lines; -1: all
  // The task's bytes go here instead, and what is missing between them.
  std::function<void(std::string_view bytes)> take;
  std::function<void(const LogGap& gap)> take_gap;
};
// Prints the log to stdout, block by block, however long it is; with `follow` until the task has ended or
// Ctrl-C.
Status PrintLog(Caller& caller, Link& link, const LogChoice& choice);

// Waits for the end of one task. A failed one's last lines and exception line are shown, unless its log was.
// The exit code of contracts C14; 130 when Ctrl-C left the task running.
int WaitForEnd(Caller& caller, Link& link, const std::string& task, bool show_log);

// The end of a failed task's log, on stderr or stdout.
void PrintTail(const Caller& caller, Link& link, const boost::json::value& task, bool to_stderr,
               bool with_lines = true);

}  // namespace ty
