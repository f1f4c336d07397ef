#include "ingest/log_tail.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "base/text.h"
#include "ingest/ingest.h"
#include "posix/fd.h"
#include "triage/triage.h"
#include "wire/progress_line.h"
#include "wire/terminal.h"

namespace ty {

namespace {

constexpr size_t kTailLines = 15;
constexpr int64_t kTailBytes = 256 << 10;
constexpr size_t kMostErrors = 50;
constexpr size_t kLongestShown = 2000;  // bytes of a line in the tail
constexpr size_t kLongestError = 500;
constexpr int kMostFrames = 2000;  // a traceback that never ends is none

std::string Cut(std::string_view line, size_t longest) {
  if (line.size() <= longest) return std::string(line);
  while (longest > 0 && (static_cast<unsigned char>(line[longest]) & 0xC0) == 0x80) --longest;
  return std::string(line.substr(0, longest)) + "…";
}

// Takes "  | " of an exception group's drawing away; `divider`: the line is "+---- 2 ----", before the next
// exception.
std::string_view SkipGroup(std::string_view line, bool& divider) {
  const size_t at = line.find_first_not_of(' ');
  if (at == std::string_view::npos || (line[at] != '|' && line[at] != '+')) return line;
  divider = line[at] == '+' && line.find("---- ", at) != std::string_view::npos;
  std::string_view rest = line.substr(at + 1);
  if (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  return rest;
}

// "OSError: …", "torch.OutOfMemoryError: …", "KeyboardInterrupt": a dotted name that begins with no digit.
bool IsExceptionLine(std::string_view line) {
  size_t end = 0;
  while (end < line.size() &&
         (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_' || line[end] == '.')) {
    ++end;
  }
  if (end == 0 || std::isdigit(static_cast<unsigned char>(line[0]))) return false;
  return end == line.size() || line.substr(end, 2) == ": " || (line[end] == ':' && end + 1 == line.size());
}

bool IsSyntaxError(std::string_view line) {
  for (std::string_view type : {"SyntaxError: ", "IndentationError: ", "TabError: "}) {
    if (line.substr(0, type.size()) == type) return true;
  }
  return false;
}

// Rich draws a box around its traceback.
bool IsDrawn(std::string_view line) {
  const size_t at = line.find_first_not_of(' ');
  if (at == std::string_view::npos) return true;
  for (std::string_view glyph : {"│", "╭", "╰", "❱"}) {
    if (line.substr(at, glyph.size()) == glyph) return true;
  }
  return false;
}

}  // namespace

void TailReader::Line(std::string_view line) {
  static constexpr std::string_view kTraceback = "Traceback (most recent call last)";
  const size_t at = line.find(kTraceback);
  if (at != std::string_view::npos) {
    inside_ = true;
    frames_ = 0;
    prefix_ = std::string(line.substr(0, line.size() - SkipLauncherPrefix(line).size()));
    return;
  }
  std::string_view text = line;
  bool divider = false;
  if (!prefix_.empty() && inside_) {
    if (text.substr(0, prefix_.size()) != prefix_)
      return Remember(SkipLauncherPrefix(line));  // another rank's line
    text.remove_prefix(prefix_.size());
  } else {
    text = SkipLauncherPrefix(text);
  }
  text = SkipGroup(text, divider);
  if (divider) {
    inside_ = true;  // the next exception of a group; it may come without a traceback of its own
    frames_ = 0;
    return;
  }
  if (IsSyntaxError(text)) return Exception(text);
  if (inside_) {
    if (text.empty() || text[0] == ' ' || IsDrawn(text)) {
      if (++frames_ > kMostFrames) inside_ = false;
      return;
    }
    if (IsExceptionLine(text)) return Exception(text);
  }
  Remember(text);
}

void TailReader::Exception(std::string_view line) {
  inside_ = false;
  exception_ = Cut(line, kLongestError);
  Remember(line);
}

void TailReader::Remember(std::string_view line) {
  if (line.size() < 4 || ReadSign(line) == FailureClass::kNone) return;
  errors_.push_front(Cut(line, kLongestError));
  if (errors_.size() > kMostErrors) errors_.pop_back();
}

LogTail ReadLogTail(const std::string& path) {
  LogTail tail;
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return tail;
  const int64_t start = std::max<int64_t>(0, facts.st_size - kTailBytes);
  std::string bytes(static_cast<size_t>(facts.st_size - start), '\0');
  size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t n =
        ::pread(file.get(), bytes.data() + got, bytes.size() - got, start + static_cast<int64_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  std::string_view text(bytes.data(), got);
  if (start > 0) {  // begins inside a line, unless all of it is one
    const size_t first = text.find('\n');
    if (first != std::string_view::npos && first + 1 < text.size()) text.remove_prefix(first + 1);
  }

  TailReader reader;
  Terminal terminal({}, [&](std::string_view line) { reader.Line(line); });
  terminal.Feed(text);
  for (const std::string& line : terminal.LastLines(kTailLines))
    tail.lines.push_back(Cut(line, kLongestShown));
  terminal.Close();
  tail.exception = reader.exception();
  tail.errors.assign(reader.errors().begin(), reader.errors().end());
  return tail;
}

}  // namespace ty
