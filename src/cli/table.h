// Table lays rows out in columns for a terminal: wide CJK letters count two, the last column gives way first.
#pragma once

#include <string>
#include <vector>

namespace ty {

struct Table {
  enum class Align : unsigned char { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    bool shrinks = false;  // may be cut with … when the terminal is narrow
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;

  // `width` 0: as wide as it needs to be. Columns that are empty in every row are left out.
  std::string Text(int width) const;
};

// At most `width` columns, the cut shown by …
std::string Clip(const std::string& text, int width);

// A sentence on as many lines as it needs, those after the first indented; no newline at its end. Lines break
// at spaces and between wide letters. `width` 0: one line.
std::string Wrapped(const std::string& text, int width, int indent);

}  // namespace ty
