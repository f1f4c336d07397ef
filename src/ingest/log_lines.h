// LogLines gives the lines of a log as a terminal shows them, by number, however long the log is. It keeps
// where some of them begin, and draws the others from there when asked; its memory does not grow with the
// log.
//
// A mark is a new row with nothing unfinished before it: drawn from there, every row from it on comes out as
// when drawn from the start, since what is above it is nobody's concern. Bars that are redrawn for megabytes
// make no new row; what they have drawn so far is kept as it stands, so that nobody has to draw it again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log_gaps.h"
#include "wire/row_counter.h"
#include "wire/terminal.h"

namespace ty {

// What a log is read through.
struct LogBytes {
  int64_t size = 0;
  LogGaps gaps;
  // Fills the buffer with what is at `offset`; how many bytes there were.
  std::function<size_t(int64_t offset, char* buffer, size_t size)> read;
};

struct LogLine {
  std::string text;
  bool cut = false;
  std::optional<LogGap> gap;  // the line stands for what was removed here
};

class LogLines {
 public:
  static constexpr size_t kLongest = 16 << 10;  // bytes of a line; the rest is cut

  // How coarse it is. Tests make it fine.
  struct Grain {
    int64_t spacing = 16 << 10;  // bytes between marks at first; grows with the log
    int64_t redraw = 1 << 20;    // bytes without a new row from which on they are drawn as they come
    size_t most_marks = 8192;
    size_t piece = 64 << 10;  // bytes in hand at a time
  };
  LogLines() : LogLines(Grain()) {}
  explicit LogLines(Grain grain) : grain_(grain), marks_{RowCounter::Place{}} {}

  // Takes in at most about so many bytes more. Whether that was all there is.
  bool Extend(const LogBytes& log, int64_t most);
  int64_t taken_in() const { return counter_.offset(); }  // bytes
  int64_t total() const { return counter_.rows() - (counter_.touched() ? 0 : 1); }

  // Gives each line from `from` on, as far as the log has been taken in, until `each` has enough or `go_on`,
  // asked now and then with how many bytes were read, says no. Returns the number of the next line.
  int64_t Walk(const LogBytes& log, int64_t from, bool styles,
               const std::function<bool(int64_t number, LogLine line)>& each,
               const std::function<bool(int64_t bytes)>& go_on = {}) const;

  size_t MemoryUse() const;

 private:
  // What stands there after these bytes, of rows that were redrawn for long.
  struct Picture {
    int64_t offset = 0;
    Terminal terminal{{}};
  };

  void TakeIn(std::string_view bytes);
  void AddMark();
  void KeepPicture();
  Picture Begin(int64_t row) const;
  const Picture* Ahead(const Picture& drawing) const;

  Grain grain_;
  RowCounter counter_;
  std::vector<RowCounter::Place> marks_;
  std::vector<Picture> pictures_;   // in order
  std::optional<Picture> drawing_;  // of the rows that are being redrawn now
};

// The last lines of a log that has not been taken in, at most `count`. They are the right ones, but nobody
// knows their numbers, nor the colours that lines before them may have begun.
std::vector<LogLine> DrawTail(const LogBytes& log, size_t count);

}  // namespace ty
