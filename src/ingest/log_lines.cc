#include "ingest/log_lines.h"

#include <algorithm>

namespace ty {

namespace {

constexpr size_t kMostPictureBytes = 16 << 20;  // of all pictures

// Steps over a log: a gap, or the bytes up to the next one.
class Steps {
 public:
  Steps(const LogBytes& log, int64_t at, size_t piece) : log_(log), at_(at), buffer_(piece, '\0') {}

  struct Step {
    std::string_view bytes;
    const LogGap* gap = nullptr;
  };
  // Nothing at `end`, or where the log cannot be read.
  Step Take(int64_t end) {
    if (at_ >= end) return {};
    const LogGap* gap = GapFrom(log_.gaps, at_);
    if (gap != nullptr && gap->from <= at_) {
      at_ = gap->to;
      return {{}, gap};
    }
    if (gap != nullptr) end = std::min(end, gap->from);
    const size_t want =
        static_cast<size_t>(std::min<int64_t>(end - at_, static_cast<int64_t>(buffer_.size())));
    const size_t got = log_.read(at_, buffer_.data(), want);
    at_ += static_cast<int64_t>(got);
    return {std::string_view(buffer_).substr(0, got), nullptr};
  }
  int64_t at() const { return at_; }
  void MoveTo(int64_t at) { at_ = at; }

 private:
  const LogBytes& log_;
  int64_t at_;
  std::string buffer_;
};

LogLine LineOf(const Terminal::Shown& shown) {
  LogLine line;
  if (!shown.note.empty()) {
    const LogGaps gaps = ParseGaps(shown.note);
    if (!gaps.empty()) line.gap = gaps.front();
    return line;
  }
  line.cut = shown.cut || shown.text.size() > LogLines::kLongest;
  size_t end = std::min(shown.text.size(), LogLines::kLongest);
  if (end < shown.text.size()) {  // neither through a character nor through a sequence
    while (end > 0 && (static_cast<unsigned char>(shown.text[end]) & 0xC0) == 0x80) --end;
    const size_t escape = shown.text.substr(0, end).rfind('\x1b');
    if (escape != std::string_view::npos && shown.text.find('m', escape) >= end) end = escape;
  }
  line.text = shown.text.substr(0, end);
  if (end < shown.text.size() && line.text.find('\x1b') != std::string::npos) line.text += "\x1b[0m";
  return line;
}

}  // namespace

bool LogLines::Extend(const LogBytes& log, int64_t most) {
  Steps steps(log, taken_in(), grain_.piece);
  const int64_t end = std::min(log.size, taken_in() + most);
  while (steps.at() < end) {
    const Steps::Step step = steps.Take(end);
    if (step.gap != nullptr) {
      KeepPicture();
      counter_.Note(step.gap->to);
      AddMark();
      continue;
    }
    if (step.bytes.empty()) break;
    TakeIn(step.bytes);
    if (!drawing_ && taken_in() - counter_.newest().offset > grain_.redraw) {
      // All that can still change: the cursor rises no further than the rows of a terminal.
      drawing_ = Begin(std::max<int64_t>(0, counter_.newest().row - (Terminal::kRows - 1)));
      drawing_->terminal.KeepStyles(true);
      Steps again(log, drawing_->offset, grain_.piece);
      for (Steps::Step old = again.Take(taken_in()); !old.bytes.empty() || old.gap != nullptr;
           old = again.Take(taken_in())) {
        old.gap != nullptr ? drawing_->terminal.Note(GapsText({*old.gap}))
                           : drawing_->terminal.Feed(old.bytes);
      }
      drawing_->offset = taken_in();
    }
  }
  return taken_in() >= log.size;
}

void LogLines::TakeIn(std::string_view bytes) {
  while (!bytes.empty()) {
    const int64_t to_next = marks_.back().offset + grain_.spacing - taken_in();
    if (!drawing_ && to_next > 0) {
      const std::string_view run = bytes.substr(0, static_cast<size_t>(to_next));
      counter_.Feed(run);
      bytes.remove_prefix(run.size());
      continue;
    }
    const int64_t rows = counter_.rows();
    const size_t took = counter_.FeedToNewRow(bytes);
    const bool new_row = counter_.rows() > rows;
    if (drawing_) {
      drawing_->terminal.Feed(bytes.substr(0, took - (new_row ? 1 : 0)));
      drawing_->offset = taken_in() - (new_row ? 1 : 0);
      if (new_row) KeepPicture();
    }
    bytes.remove_prefix(took);
    AddMark();
  }
}

void LogLines::AddMark() {
  if (counter_.newest().offset - marks_.back().offset < grain_.spacing) return;
  marks_.push_back(counter_.newest());
  if (marks_.size() < grain_.most_marks) return;
  for (size_t i = 0; 2 * i < marks_.size(); ++i) marks_[i] = marks_[2 * i];
  marks_.resize((marks_.size() + 1) / 2);
  grain_.spacing *= 2;
}

// The redrawing is over: a row follows that has nothing to do with it.
void LogLines::KeepPicture() {
  if (!drawing_) return;
  pictures_.push_back(std::move(*drawing_));
  drawing_.reset();
  size_t bytes = 0;
  for (const Picture& picture : pictures_) bytes += picture.terminal.MemoryUse();
  if (bytes < kMostPictureBytes || pictures_.size() < 2) return;
  // Without them it takes longer, that is all.
  std::vector<Picture> kept;
  for (size_t i = pictures_.size() % 2 == 0 ? 1 : 0; i < pictures_.size(); i += 2)
    kept.push_back(std::move(pictures_[i]));
  pictures_ = std::move(kept);
}

// The nearest place from which this row and all behind it can be drawn.
LogLines::Picture LogLines::Begin(int64_t row) const {
  const RowCounter::Place& mark =
      *--std::upper_bound(marks_.begin(), marks_.end(), row,
                          [](int64_t wanted, const RowCounter::Place& place) { return wanted < place.row; });
  Picture start;
  start.offset = mark.offset;
  start.terminal.KeepStyles(true);
  start.terminal.BeginAt(mark.row, mark.style);
  for (const Picture& picture : pictures_) {
    if (picture.terminal.settled() <= row && picture.offset > start.offset) start = picture;
  }
  return start;
}

// A picture further on that has every row which has not settled in this drawing.
const LogLines::Picture* LogLines::Ahead(const Picture& drawing) const {
  auto fits = [&](const Picture& picture) {
    return picture.offset > drawing.offset && picture.terminal.settled() <= drawing.terminal.settled();
  };
  if (drawing_ && fits(*drawing_)) return &*drawing_;
  for (auto picture = pictures_.rbegin(); picture != pictures_.rend(); ++picture) {
    if (fits(*picture)) return &*picture;
  }
  return nullptr;
}

int64_t LogLines::Walk(const LogBytes& log, int64_t from, bool styles,
                       const std::function<bool(int64_t, LogLine)>& each,
                       const std::function<bool(int64_t)>& go_on) const {
  if (from >= total()) return from;
  int64_t next = from;
  bool more = true;
  Picture drawing = Begin(from);
  auto give = [&](int64_t number, const Terminal::Shown& shown) {
    if (!more || number < next) return;
    more = each(number, LineOf(shown));
    next = number + 1;
  };
  auto prepare = [&] {
    drawing.terminal.KeepStyles(styles);
    drawing.terminal.OnSettle([&](const Terminal::Shown& shown) { give(drawing.terminal.settled(), shown); });
  };
  prepare();
  Steps steps(log, drawing.offset, grain_.piece);
  while (more && drawing.offset < taken_in()) {
    if (const Picture* ahead = Ahead(drawing)) {
      drawing = *ahead;
      prepare();
      steps.MoveTo(drawing.offset);
      continue;
    }
    const Steps::Step step = steps.Take(taken_in());
    if (step.gap != nullptr) {
      drawing.terminal.Note(GapsText({*step.gap}));
    } else if (step.bytes.empty()) {
      break;
    } else {
      drawing.terminal.Feed(step.bytes);
    }
    drawing.offset = steps.at();
    if (go_on && !go_on(static_cast<int64_t>(step.bytes.size()))) return next;
  }
  const int64_t end = std::min(total(), drawing.terminal.rows());
  for (int64_t row = drawing.terminal.settled(); more && row < end; ++row)
    give(row, drawing.terminal.RowAt(row));
  return next;
}

size_t LogLines::MemoryUse() const {
  size_t bytes = marks_.capacity() * sizeof marks_[0];
  for (const Picture& picture : pictures_) bytes += picture.terminal.MemoryUse();
  return bytes + (drawing_ ? drawing_->terminal.MemoryUse() : 0);
}

std::vector<LogLine> DrawTail(const LogBytes& log, size_t count) {
  constexpr int64_t kMostRead = 16 << 20;
  for (int64_t piece = 256 << 10;; piece *= 4) {
    const int64_t start = std::max<int64_t>(0, log.size - piece);
    std::vector<LogLine> lines;
    Terminal terminal({});
    terminal.KeepStyles(true);
    // The rows above are unknown; what a bar writes into them is not shown.
    if (start > 0) terminal.BeginAt(Terminal::kRows, {});
    const int64_t first = terminal.rows() - 1;
    terminal.OnSettle([&](const Terminal::Shown& shown) {
      if (terminal.settled() < first) return;
      lines.push_back(LineOf(shown));
      if (lines.size() >= 2 * count + 64)
        lines.erase(lines.begin(), lines.end() - static_cast<ptrdiff_t>(count));
    });
    Steps steps(log, start, LogLines::Grain().piece);
    bool begun = start == 0;  // else it begins inside a line, unless there is no other
    for (Steps::Step step = steps.Take(log.size); !step.bytes.empty() || step.gap != nullptr;
         step = steps.Take(log.size)) {
      if (step.gap != nullptr) {
        terminal.Note(GapsText({*step.gap}));
        begun = true;
        continue;
      }
      const size_t end = begun ? std::string_view::npos : step.bytes.find('\n');
      if (end != std::string_view::npos && end + 1 < step.bytes.size()) step.bytes.remove_prefix(end + 1);
      begun = true;
      terminal.Feed(step.bytes);
    }
    const int64_t rows = terminal.rows();
    for (int64_t row = std::max(first, terminal.settled()); row < rows; ++row) {
      LogLine line = LineOf(terminal.RowAt(row));
      if (row + 1 == rows && line.text.empty() && !line.gap) break;
      lines.push_back(std::move(line));
    }
    if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<ptrdiff_t>(count));
    if (lines.size() >= count || start == 0 || piece >= kMostRead) return lines;
  }
}

}  // namespace ty
