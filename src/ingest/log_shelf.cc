#include "ingest/log_shelf.h"

#include <re2/re2.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/text.h"
#include "ingest/log_file.h"
#include "msg/log.h"
#include "posix/clocks.h"

namespace ty {

namespace {

constexpr size_t kMostBooks = 4;
constexpr int64_t kCountedAtOnce = 32 << 20;           // before an answer
constexpr int64_t kCountedOn = 64 << 20;               // between two questions
constexpr int64_t kMostSearched = 64 << 20;            // bytes in one call …
constexpr int64_t kLongestSearch = 300'000'000;        // … and nanoseconds
constexpr size_t kMostTold = 4 << 20;                  // bytes of all lines of an answer
constexpr size_t kExcerpt = 1000, kBeforeMatch = 200;  // characters
constexpr int kMostTries = 3;                          // while the middle of the log is being removed
constexpr size_t kKnownEnd = 64;                       // bytes by which a log is known again

size_t Characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Forward by so many characters from a byte that begins one.
size_t Forward(std::string_view text, size_t at, size_t characters) {
  for (; characters > 0 && at < text.size(); --characters) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

std::string Excerpt(const std::string& line, size_t match) {
  if (Characters(line) <= kExcerpt) return line;
  const size_t before = Characters(std::string_view(line).substr(0, match));
  const size_t left =
      std::min(before > kBeforeMatch ? before - kBeforeMatch : 0, Characters(line) - kExcerpt);
  const size_t from = Forward(line, 0, left);
  return line.substr(from, Forward(line, from, kExcerpt) - from);
}

}  // namespace

// ---- What to look for.

struct LogPattern::Compiled {
  Compiled(const std::string& text, const RE2::Options& options) : expression(text, options) {}
  RE2 expression;
};

Result<LogPattern> LogPattern::Make(const std::string& text, bool regex, bool case_counts) {
  RE2::Options options;
  options.set_literal(!regex);
  options.set_case_sensitive(case_counts);
  options.set_log_errors(false);
  options.set_max_mem(4 << 20);
  LogPattern pattern;
  auto compiled = std::make_shared<const Compiled>(text, options);
  if (!compiled->expression.ok()) {
    return Invalid(
        msg::LogBadPattern{.pattern = Printable(text), .why = Printable(compiled->expression.error())}, "q");
  }
  pattern.compiled_ = std::move(compiled);
  return pattern;
}

std::optional<std::pair<size_t, size_t>> LogPattern::Find(std::string_view line) const {
  re2::StringPiece found;
  const re2::StringPiece text(line.data(), line.size());
  if (!compiled_->expression.Match(text, 0, text.size(), RE2::UNANCHORED, &found, 1)) return std::nullopt;
  return std::pair(static_cast<size_t>(found.data() - text.data()), found.size());
}

// ---- The shelf.

struct LogShelf::Book {
  std::string path;
  dev_t device = 0;
  ino_t inode = 0;
  LogGaps gaps;
  std::string end;  // the last bytes that were taken in
  LogLines lines;
};

struct LogShelf::Open {
  UniqueFd fd;
  LogBytes bytes;
  Book* book = nullptr;
  bool Extend(int64_t most) {
    const bool whole = book->lines.Extend(bytes, most);
    const int64_t known = std::min<int64_t>(book->lines.taken_in(), kKnownEnd);
    book->end = ReadRange(fd.get(), book->lines.taken_in() - known, static_cast<size_t>(known));
    return whole;
  }
};

LogShelf::LogShelf() = default;
LogShelf::~LogShelf() = default;
void LogShelf::Clear() {
  books_.clear();
}

// The log with what is known of it, which is nothing when it is not the one it was.
Result<std::optional<LogShelf::Open>> LogShelf::Take(const std::string& path) {
  Result<UniqueFd> fd = OpenLog(path);
  if (!fd) return ty::Forward(fd.error());
  if (!*fd) return std::nullopt;
  struct stat about {};
  ::fstat(fd->get(), &about);
  Open open;
  open.bytes.size = about.st_size;
  open.bytes.gaps = ReadGaps(path);
  open.bytes.read = [raw = fd->get()](int64_t offset, char* buffer, size_t size) {
    return ReadRange(raw, offset, buffer, size);
  };
  open.fd = std::move(*fd);

  auto book = std::find_if(books_.begin(), books_.end(), [&](const Book& one) { return one.path == path; });
  if (book != books_.end()) {
    books_.splice(books_.begin(), books_, book);
  } else {
    books_.emplace_front().path = path;
    if (books_.size() > kMostBooks) books_.pop_back();
  }
  Book& found = books_.front();
  const int64_t taken_in = found.lines.taken_in(), known = static_cast<int64_t>(found.end.size());
  const bool same = found.device == about.st_dev && found.inode == about.st_ino &&
                    taken_in <= about.st_size && found.gaps == open.bytes.gaps &&
                    ReadRange(open.fd.get(), taken_in - known, found.end.size()) == found.end;
  if (!same) {
    found.lines = LogLines();
    found.end.clear();
    found.device = about.st_dev;
    found.inode = about.st_ino;
    found.gaps = open.bytes.gaps;
  }
  open.book = &found;
  return open;
}

// Lines before this one are final. While a log is being counted the last rows are not: what follows may go on
// with them.
int64_t LogShelf::Sure(const Open& open, bool whole) {
  const int64_t total = open.book->lines.total();
  return whole ? total : std::max<int64_t>(0, total - Terminal::kRows);
}

// Answers anew when the middle of the log was removed meanwhile: what was read may have been zeros.
template <class Answer, class Read>
Result<Answer> LogShelf::Consistently(const std::string& path, Read read) {
  for (int tried = 1;; ++tried) {
    Result<std::optional<Open>> open = Take(path);
    if (!open) return ty::Forward(open.error());
    if (!*open) return Answer{};
    Answer answer = read(**open);
    if (tried == kMostTries || ReadGaps(path) == (*open)->bytes.gaps) return answer;
  }
}

Result<LinesFound> LogShelf::Lines(const std::string& path, int64_t from, int count) {
  return Consistently<LinesFound>(path, [&](Open& open) {
    LinesFound found;
    found.size = open.bytes.size;
    found.whole = open.Extend(kCountedAtOnce);
    const LogLines& lines = open.book->lines;
    found.total = lines.total();
    if (from < 0 && !found.whole) {
      // As many as asked for from the end, of which the first `count` are wanted.
      const auto wanted = static_cast<size_t>(std::min<int64_t>(-from, 100'000));
      found.lines = DrawTail(open.bytes, wanted);
      found.total += static_cast<int64_t>(found.lines.size());
      found.first = found.total - static_cast<int64_t>(found.lines.size());
      if (found.lines.size() > static_cast<size_t>(count)) found.lines.resize(static_cast<size_t>(count));
      return found;
    }
    found.first = from < 0 ? std::max<int64_t>(0, found.total + from) : std::min(from, found.total);
    const int64_t sure = Sure(open, found.whole);
    size_t told = 0;
    lines.Walk(open.bytes, found.first, true, [&](int64_t number, LogLine line) {
      if (number >= sure) return false;
      told += line.text.size();
      found.lines.push_back(std::move(line));
      return found.lines.size() < static_cast<size_t>(count) && told < kMostTold;
    });
    return found;
  });
}

Result<MatchesFound> LogShelf::Search(const std::string& path, const LogPattern& pattern, int64_t from,
                                      int limit) {
  return Consistently<MatchesFound>(path, [&](Open& open) {
    MatchesFound found;
    const int64_t deadline = MonotonicNanos() + kLongestSearch;
    const int64_t known = open.book->lines.taken_in();
    const bool whole = open.Extend(kMostSearched);
    const bool stuck = !whole && open.book->lines.taken_in() == known;  // it cannot be read
    const int64_t sure = Sure(open, whole);
    int64_t next = from, read = 0;
    bool enough = false;
    open.book->lines.Walk(
        open.bytes, from, false,
        [&](int64_t number, const LogLine& line) {
          if (number >= sure) return false;
          next = number + 1;
          if (const auto match = pattern.Find(line.text))
            found.matches.push_back({number, Excerpt(line.text, match->first)});
          enough = found.matches.size() >= static_cast<size_t>(limit);
          return !enough;
        },
        [&](int64_t bytes) {
          read += bytes;
          // Whatever it takes, a line: who asks on and on must come to an end.
          enough = next > from && (read >= kMostSearched || MonotonicNanos() >= deadline);
          return !enough;
        });
    if (enough || (!whole && !stuck)) found.next = next;
    return found;
  });
}

bool LogShelf::GoOn(const std::string& path) {
  if (books_.empty() ||
      std::none_of(books_.begin(), books_.end(), [&](const Book& b) { return b.path == path; }))
    return false;  // others were asked about since
  Result<std::optional<Open>> open = Take(path);
  if (!open || !*open) return false;
  const int64_t before = (*open)->book->lines.taken_in();
  const bool whole = (*open)->Extend(kCountedOn);
  return !whole && (*open)->book->lines.taken_in() > before;
}

}  // namespace ty
