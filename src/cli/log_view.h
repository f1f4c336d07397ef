// LogView makes a task's bytes safe and sensible on a terminal: escape sequences and control bytes go, broken
// UTF-8 becomes U+FFFD, carriage returns and backspaces overwrite as they would on a terminal. Memory is
// bounded.
#pragma once

#include <string>
#include <string_view>

namespace ty {

class LogView {
 public:
  // `live_width` > 0: the unfinished line is repainted in place, clipped to that many columns (a terminal is
  // watching); else only finished lines come out.
  explicit LogView(int live_width = 0) : live_width_(live_width) {}

  // What to print for these bytes.
  std::string Feed(std::string_view bytes);
  // The line that never ended, with a newline.
  std::string Finish();

 private:
  enum class Mode : unsigned char { kText, kEscape, kControl, kString, kStringEscape };

  void Take(unsigned char byte, std::string& out);
  void TakeText(unsigned char byte, std::string& out);
  void Put(char32_t letter, std::string& out);
  void EndLine(std::string& out);
  void EndControl(char final);
  std::string LineText() const;

  int live_width_;
  bool painted_ = false;  // the unfinished line stands on the terminal
  bool changed_ = false;
  Mode mode_ = Mode::kText;
  std::string control_;  // parameters of the control sequence being read
  std::u32string line_;
  size_t cursor_ = 0;
  std::string partial_;  // bytes of an unfinished character
};

}  // namespace ty
