// Terminal turns the bytes a program wrote into the lines a person would have seen: carriage returns,
// backspaces and cursor moves overwrite, colours and titles vanish, broken UTF-8 shows as U+FFFD. It keeps
// the last rows alone, so a bar redrawn a million times, a line of ten megabytes or noise cost a fixed amount
// of memory.
//
// Asked to, it keeps colours, and it can begin in the middle of a stream, at the start of a new row.
// RowCounter (wire/row_counter.h) finds such places; both must take the same bytes for a new row.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/escapes.h"
#include "wire/style.h"

namespace ty {

class Terminal {
 public:
  using Sink = std::function<void(std::string_view line)>;
  struct Shown {
    std::string_view text;  // with the sequences of its colours where they are kept
    bool cut = false;       // there was more than is kept
    std::string_view note;  // instead of a text: what Note was told
    operator std::string_view() const { return text; }
  };
  using Settle = std::function<void(const Shown& line)>;

  static constexpr int kRows = 64;             // the cursor can rise no further: older rows are final
  static constexpr size_t kColumns = 1 << 14;  // what comes after is not kept

  // `offer` gets the text of a row each time it is complete or about to be overwritten: every state of a
  // progress bar. `settle` gets each row once, in order, when nothing can change it any more. Either may be
  // empty.
  explicit Terminal(Sink offer, Settle settle = {});

  // Whether colours are kept; if not, those that were are dropped.
  void KeepStyles(bool keep = true);
  // As if `row` rows had come before, of which nobody knows what is in them, and left this style.
  void BeginAt(int64_t row, Style style);
  void OnSettle(Settle settle) { settle_ = std::move(settle); }

  void Feed(std::string_view bytes);
  // Something that is not text stands here, on a row of its own; whatever was unfinished is over.
  void Note(std::string note);
  // Offers what stands unfinished: a row nothing was written to since the call before, so that half a line is
  // not taken for a whole one.
  void OfferIdle();
  // Offers and settles all that is left.
  void Close();

  // The last rows with text in them, oldest first.
  std::vector<std::string> LastLines(size_t count) const;

  // Rows that have settled, and rows that there are, the newest without anything in it included.
  int64_t settled() const { return settled_; }
  int64_t rows() const { return settled_ + static_cast<int64_t>(rows_.size()); }
  // The row of that number, which has not settled; until the next call.
  Shown RowAt(int64_t number) const { return Show(rows_[static_cast<size_t>(number - settled_)]); }
  size_t MemoryUse() const;

 private:
  struct Cell {
    char32_t base = U' ';
    char32_t mark = 0;  // one combining mark; a base of 0 is the right half of a wide character
  };
  struct Row {
    std::vector<Cell> cells;
    std::vector<Style> styles;  // of the first cells; the others are plain
    std::string note;
    bool changed = false;  // since it was last offered
    bool seen = false;     // by OfferIdle, and not written to since
    bool touched = false;  // something was ever written to it
    bool cut = false;
  };

  size_t SkipOverwritten(std::string_view bytes, size_t at, size_t& looked) const;
  void Byte(unsigned char byte);
  void Text(char32_t code);
  void Ascii(std::string_view run);
  void Control(unsigned char byte);
  void Csi(unsigned char final);
  void NewLine();
  void MoveTo(size_t column);
  void Up(size_t rows);
  void Down(size_t rows);
  void EraseLine(int mode);
  void EraseBelow();
  void Offer();
  void OfferRow(Row& row);
  Row& Touch();
  void Paint(Row& row, size_t from, size_t to);
  std::string_view Text(const Row& row) const;
  std::string_view StyledText(const Row& row) const;
  Shown Show(const Row& row) const { return {StyledText(row), row.cut, row.note}; }
  Row& row() { return rows_[at_]; }

  Sink offer_;
  Settle settle_;
  std::deque<Row> rows_;
  size_t at_ = 0;  // row of the cursor
  size_t column_ = 0;
  int64_t settled_ = 0;
  Escapes escapes_;
  bool keep_styles_ = false;
  Style style_;
  char32_t code_ = 0;  // UTF-8 in the making
  int more_ = 0;
  char32_t least_ = 0;
  mutable std::string shown_;
};

}  // namespace ty
