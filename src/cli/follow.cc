#include "cli/follow.h"

#include <stdio.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/answer.h"
#include "cli/interrupt.h"
#include "cli/log_view.h"
#include "cli/task_text.h"
#include "msg/cli.h"
#include "msg/log.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr int kWait_s = 30;
constexpr int64_t kBlock = 1 << 20;
constexpr int kInterruptedExit = 130;

std::string TaskPath(const std::string& task) {
  return "/api/v1/tasks/" + PercentEncode(task);
}

int64_t NumberIn(const HttpReply& reply, std::string_view header) {
  return ParseInt(reply.Header(header)).value_or(0);
}

// One attempt's log from the yard, block by block, to the terminal.
class LogPrinter {
 public:
  LogPrinter(Caller& caller, Link& link, const LogChoice& choice)
      : caller_(caller), link_(link), choice_(choice), attempt_(choice.attempt) {}

  Status Run();

 private:
  Result<HttpReply> Block(int64_t offset, int64_t limit, int wait_s);
  Status FindTail();
  Status BeginAttempt(int attempt, int64_t ranks);
  void Print(std::string_view bytes);
  void PrintGap(const LogGap& gap);
  LogView NewView() const { return LogView(choice_.follow && caller_.out_is_terminal ? caller_.width : 0); }
  void EndAttempt(const HttpReply& last);
  // After the end of an attempt: whether another one follows.
  Result<bool> NextAttempt();

  Caller& caller_;
  Link& link_;
  const LogChoice& choice_;
  int attempt_;    // the one being read; 0: the newest, not known yet
  int begun_ = 0;  // the one whose head was printed
  int64_t offset_ = 0, end_ = -1;
  bool told_waiting_ = false;
  LogView view_;
};

Result<HttpReply> LogPrinter::Block(int64_t offset, int64_t limit, int wait_s) {
  HttpRequest request;
  request.target = TaskPath(choice_.task) + "/log?offset=" + std::to_string(offset) +
                   "&limit=" + std::to_string(limit) + "&wait=" + std::to_string(wait_s);
  if (attempt_ > 0) request.target += "&attempt=" + std::to_string(attempt_);
  if (choice_.rank) request.target += "&rank=" + std::to_string(*choice_.rank);
  request.timeout_s += wait_s;
  return link_.Ask(std::move(request));
}

// Where the last `tail` lines begin: reads backwards, block by block.
Status LogPrinter::FindTail() {
  auto last = Block(-1, 1, 0);
  if (!last) return Forward(last.error());
  int64_t size = NumberIn(*last, "x-log-size");
  attempt_ = static_cast<int>(NumberIn(*last, "x-attempt"));
  int64_t lines = 0, end = size;
  while (end > 0) {
    int64_t start = std::max<int64_t>(0, end - kBlock);
    auto block = Block(start, end - start, 0);
    if (!block) return Forward(block.error());
    const int64_t at = NumberIn(*block, "x-log-offset");  // behind `start` where that was removed
    for (size_t i = block->body.size(); i-- > 0;) {
      bool last_byte = at + static_cast<int64_t>(i) == size - 1;  // the newline that ends the last line
      if (block->body[i] != '\n' || (last_byte && choice_.tail > 0)) continue;
      if (++lines < choice_.tail) continue;
      offset_ = at + static_cast<int64_t>(i) + 1;
      return {};
    }
    const LogGaps gaps = ParseGaps(block->Header("x-log-gaps"));
    const LogGap* gap = GapFrom(gaps, start);
    end = gap && gap->from < start ? gap->from : start;
  }
  offset_ = 0;
  return {};
}

Status LogPrinter::BeginAttempt(int attempt, int64_t ranks) {
  attempt_ = begun_ = attempt;
  view_ = NewView();
  if (choice_.raw || choice_.take) return {};
  auto head = link_.Get(TaskPath(choice_.task) + "/head?attempt=" + std::to_string(attempt));
  if (!head) return Forward(head.error());
  std::string text;
  for (const json::value& item : ItemsAt(*head, "items"))
    if (std::string words = TextAt(item, "text"); !words.empty())
      text += caller_.Painted(Paint::kDim, Printable(words)) + "\n";
  // In a pipe stdout is the task's bytes alone.
  if (caller_.out_is_terminal) {
    caller_.Print(text);
  } else {
    caller_.PrintError(text);
  }
  if (ranks > 1 && !choice_.rank)
    caller_.Note(msg::CliRanksNote{.count = ranks, .rank = 0, .task = choice_.task});
  return {};
}

void LogPrinter::Print(std::string_view bytes) {
  if (choice_.take) return choice_.take(bytes);
  caller_.Print(choice_.raw ? std::string(bytes) : view_.Feed(bytes));
  fflush(stdout);
}

// In its place, on a line of its own; the task's bytes as they are stay free of our words.
void LogPrinter::PrintGap(const LogGap& gap) {
  if (choice_.take_gap) return choice_.take_gap(gap);
  const Message words = gap.why == LogGap::Why::kLimit ? Message(msg::LogGapLimit{.size = gap.size()})
                                                       : Message(msg::LogGapDisk{.size = gap.size()});
  if (choice_.raw) return caller_.Note(words);
  caller_.Print(view_.Finish() + caller_.Painted(Paint::kDim, caller_.Words(words)) + "\n");
  view_ = NewView();  // no line and no escape sequence goes on behind it
}

void LogPrinter::EndAttempt(const HttpReply& last) {
  if (choice_.take) return;
  if (!choice_.raw) caller_.Print(view_.Finish());
  fflush(stdout);
  const auto failed = ParseInt(last.Header("x-failed-rank"));
  if (failed && !choice_.rank && *failed != NumberIn(last, "x-rank"))
    caller_.Note(
        msg::CliRankFailed{.rank = *failed, .count = NumberIn(last, "x-ranks"), .task = choice_.task});
}

Result<bool> LogPrinter::NextAttempt() {
  while (!Interrupted()) {
    auto task = link_.Get(TaskPath(choice_.task) + "?wait=ended&timeout=1", 1);
    if (!task) return Forward(task.error());
    int64_t newest = IntAt(*task, "attempt").value_or(0);
    if (newest > begun_) {
      caller_.Note(msg::CliNextRun{.last = begun_, .number = begun_ + 1});
      attempt_ = begun_ + 1;
      offset_ = 0;
      return true;
    }
    if (TextAt(*task, "state") == "ended") return false;
    if (!told_waiting_ && !WordsAt(*task, "reason").empty()) {
      told_waiting_ = true;
      caller_.Note(msg::CliWaits{.task = std::to_string(IntAt(*task, "id").value_or(0)),
                                 .reason = WordsAt(*task, "reason")});
    }
  }
  return false;
}

Status LogPrinter::Run() {
  if (choice_.tail >= 0)
    if (Status found = FindTail(); !found) return found;
  while (!Interrupted()) {
    // The first look is without waiting, so that a task which has not begun is told at once.
    bool may_wait = choice_.follow && (begun_ > 0 || told_waiting_);
    auto block = Block(offset_, kBlock, may_wait ? kWait_s : 0);
    if (!block) return Forward(block.error());
    int attempt = static_cast<int>(NumberIn(*block, "x-attempt"));
    if (attempt == 0) {
      auto task = link_.Get(TaskPath(choice_.task));
      if (!task) return Forward(task.error());
      std::string id = std::to_string(IntAt(*task, "id").value_or(0));
      bool ended = TextAt(*task, "state") == "ended";
      if (!told_waiting_ || ended)
        caller_.Note(ended ? Message(msg::CliNeverRan{.task = id})
                           : Message(msg::CliNotBegun{.task = id, .reason = WordsAt(*task, "reason")}));
      told_waiting_ = true;
      if (ended || !choice_.follow) return {};
      continue;
    }
    if (attempt != begun_)
      if (Status begun = BeginAttempt(attempt, NumberIn(*block, "x-ranks")); !begun) return begun;
    const int64_t at = NumberIn(*block, "x-log-offset");
    if (at > offset_) {
      const LogGaps gaps = ParseGaps(block->Header("x-log-gaps"));
      // What was printed before it went is not missing here.
      if (const LogGap* gap = GapFrom(gaps, offset_); gap && gap->from < at)
        PrintGap({std::max(gap->from, offset_), at, gap->why});
    }
    Print(block->body);
    offset_ = at + static_cast<int64_t>(block->body.size());
    // Without following, what is written meanwhile is not chased.
    if (end_ < 0 || choice_.follow) end_ = NumberIn(*block, "x-log-size");
    if (offset_ < end_) continue;
    bool ended = block->Header("x-log-ended") == "true";
    if (!ended && choice_.follow) continue;
    EndAttempt(*block);
    if (!choice_.follow || choice_.attempt > 0) return {};
    told_waiting_ = false;
    auto next = NextAttempt();
    if (!next) return Forward(next.error());
    if (!*next) return {};
  }
  return {};
}

}  // namespace

Status PrintLog(Caller& caller, Link& link, const LogChoice& choice) {
  return LogPrinter(caller, link, choice).Run();
}

void PrintTail(const Caller& caller, Link& link, const json::value& task, bool to_stderr, bool with_lines) {
  auto outcome = OutcomeAt(task);
  if (!outcome || outcome->kind == OutcomeKind::kSucceeded || outcome->kind == OutcomeKind::kCancelled)
    return;
  auto tail = link.Get(TaskPath(std::to_string(IntAt(task, "id").value_or(0))) + "/tail");
  if (!tail) return;
  const json::array& lines = ItemsAt(*tail, "lines");
  std::string text;
  const auto rank = IntAt(*tail, "rank");
  if (with_lines && !lines.empty()) {
    const auto count = static_cast<int64_t>(lines.size());
    text += caller.Words(rank ? Message(msg::CliLastLinesRank{.count = count, .rank = *rank})
                              : Message(msg::CliLastLines{.count = count})) +
            "\n";
    for (const json::value& line : lines)
      if (line.is_string()) text += "  " + Printable(std::string(line.get_string())) + "\n";
  }
  std::string exception = TextAt(*tail, "exception");
  if (exception.empty()) exception = outcome->evidence;
  if (!exception.empty()) text += caller.Words(msg::CliException{.line = exception}) + "\n";
  if (to_stderr) {
    caller.PrintError(text);
  } else {
    caller.Print(text);
  }
}

int WaitForEnd(Caller& caller, Link& link, const std::string& task, bool show_log) {
  CatchInterrupts();
  auto trouble = [&](const Error& error) {
    if (Interrupted()) {
      caller.Note(msg::CliLeftRunning{.task = task});
      return kInterruptedExit;
    }
    caller.Complain(error);
    return kOurTrouble;
  };
  if (show_log)
    if (Status printed = PrintLog(caller, link, {.task = task, .follow = true}); !printed)
      return trouble(printed.error());
  while (true) {
    if (Interrupted()) return trouble({});
    auto answer = link.Get(TaskPath(task) + "?wait=ended&timeout=" + std::to_string(kWait_s), kWait_s);
    if (!answer) return trouble(answer.error());
    if (TextAt(*answer, "state") != "ended") continue;
    if (caller.json) {
      caller.Print(json::serialize(*answer) + "\n");
    } else {
      caller.PrintError(EndText(caller, *answer) + "\n");
      // The log that was shown is that of rank 0.
      const auto outcome = OutcomeAt(*answer);
      const bool unseen = !show_log || (outcome && outcome->failed_rank.value_or(0) != 0);
      PrintTail(caller, link, *answer, true, unseen);
    }
    return ExitCodeOfTask(*answer);
  }
}

}  // namespace ty
