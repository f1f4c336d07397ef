// LogShelf answers questions about the lines of log files and remembers what it has learned of the last few
// logs that were asked about. It reads files and takes its time: it belongs on a thread that may wait. No
// file stays open between two questions.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/log_lines.h"

namespace ty {

// What to look for in lines. A bad expression is refused with the field `q`.
class LogPattern {
 public:
  static Result<LogPattern> Make(const std::string& text, bool regex, bool case_counts);
  // Where the line has it first: position and length.
  std::optional<std::pair<size_t, size_t>> Find(std::string_view line) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

struct LinesFound {
  int64_t first = 0, total = 0;
  bool whole = true;  // all of the log was counted: the numbers are right
  int64_t size = 0;
  std::vector<LogLine> lines;
};

struct LogMatch {
  int64_t line = 0;
  std::string text;  // around the match
};
struct MatchesFound {
  std::vector<LogMatch> matches;
  std::optional<int64_t> next;  // where to go on; nothing at the end of the log
};

class LogShelf {
 public:
  LogShelf();
  ~LogShelf();

  // A negative `from` counts from the end. A log that is not there has no lines.
  Result<LinesFound> Lines(const std::string& path, int64_t from, int count);
  Result<MatchesFound> Search(const std::string& path, const LogPattern& pattern, int64_t from, int limit);
  // Counts on, some of the log at a time. Whether there is more to count.
  bool GoOn(const std::string& path);
  // Forgets all logs.
  void Clear();

 private:
  struct Book;
  struct Open;
  Result<std::optional<Open>> Take(const std::string& path);
  static int64_t Sure(const Open& open, bool whole);
  template <class Answer, class Read>
  Result<Answer> Consistently(const std::string& path, Read read);

  std::list<Book> books_;  // the last asked about first
};

}  // namespace ty
