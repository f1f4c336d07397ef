// Terminal turns the bytes a program wrote into the lines a person would have seen: carriage returns,
// backspaces and cursor moves overwrite, colours and titles vanish, broken UTF-8 shows as U+FFFD. It keeps
// the last rows alone, so a bar redrawn a million times, a line of ten megabytes or noise cost a fixed amount
// of memory.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ty {

class Terminal {
 public:
  using Sink = std::function<void(std::string_view line)>;

  static constexpr int kRows = 64;             // the cursor can rise no further: older rows are final
  static constexpr size_t kColumns = 1 << 14;  // what comes after is not kept

  // `offer` gets the text of a row each time it is complete or about to be overwritten: every state of a
  // progress bar. `settle` gets each row once, in order, when nothing can change it any more. Either may be
  // empty.
  explicit Terminal(Sink offer, Sink settle = {});

  void Feed(std::string_view bytes);
  // Offers what stands unfinished: a row nothing was written to since the call before, so that half a line is
  // not taken for a whole one.
  void OfferIdle();
  // Offers and settles all that is left.
  void Close();

  // The last rows with text in them, oldest first.
  std::vector<std::string> LastLines(size_t count) const;

 private:
  struct Cell {
    char32_t base = U' ';
    char32_t mark = 0;  // one combining mark; a base of 0 is the right half of a wide character
  };
  struct Row {
    std::vector<Cell> cells;
    bool changed = false;  // since it was last offered
    bool seen = false;     // by OfferIdle, and not written to since
  };
  enum class State : uint8_t { kText, kEscape, kEscapeOne, kCsi, kString, kStringEscape };

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
  std::string_view Show(const Row& row) const;
  Row& row() { return rows_[at_]; }

  Sink offer_, settle_;
  std::deque<Row> rows_;
  size_t at_ = 0;  // row of the cursor
  size_t column_ = 0;
  State state_ = State::kText;
  std::string parameters_;  // of a CSI sequence
  size_t swallowed_ = 0;    // bytes of a string sequence
  char32_t code_ = 0;       // UTF-8 in the making
  int more_ = 0;
  char32_t least_ = 0;
  mutable std::string shown_;
};

}  // namespace ty
