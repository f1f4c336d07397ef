// RowCounter finds where the rows of a log begin without drawing them: it knows which bytes make a Terminal
// begin a new row, and skims over everything else. Fed with the same bytes, rows() is the Terminal's.
#pragma once

#include <cstdint>
#include <string_view>

#include "wire/escapes.h"
#include "wire/style.h"

namespace ty {

class RowCounter {
 public:
  // A place to begin drawing at: a new row without anything in it, nothing unfinished before it.
  struct Place {
    int64_t offset = 0;
    int64_t row = 0;
    Style style;
    bool operator==(const Place&) const = default;
  };

  void Feed(std::string_view bytes) { Skim(bytes, false); }
  // Feeds up to and including the first byte that makes a new row; how many those are.
  size_t FeedToNewRow(std::string_view bytes) { return Skim(bytes, true); }
  // A gap in the stream, shown as a row of its own (Terminal::Note); the stream goes on at `offset`.
  void Note(int64_t offset);

  int64_t offset() const { return offset_; }
  int64_t rows() const { return rows_; }           // the newest included
  bool touched() const { return touched_; }        // something was written to the newest
  const Place& newest() const { return newest_; }  // where the newest row began

 private:
  size_t Skim(std::string_view bytes, bool to_new_row);
  size_t SkimColour(std::string_view bytes);
  bool Byte(unsigned char byte);  // whether it made a new row
  bool Csi(unsigned char final);
  bool NewLine();

  int64_t offset_ = 0;
  int64_t rows_ = 1;
  int depth_ = 0;  // rows from the newest up to the cursor
  bool touched_ = false;
  Escapes escapes_;
  Style style_;
  Place newest_;
};

}  // namespace ty
