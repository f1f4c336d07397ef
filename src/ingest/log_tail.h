// TailReader picks the telling lines out of the end of a log: the last exception, other signs of trouble.
// Fed with settled lines in order. Private to ingest.
#pragma once

#include <deque>
#include <string>
#include <string_view>

namespace ty {

class TailReader {
 public:
  void Line(std::string_view line);

  const std::string& exception() const { return exception_; }
  const std::deque<std::string>& errors() const { return errors_; }  // newest first

 private:
  void Exception(std::string_view line);
  void Remember(std::string_view line);

  bool inside_ = false;  // a traceback whose exception has not come yet
  int frames_ = 0;       // lines of it so far
  std::string prefix_;   // what stands before each of its lines: "[rank1]: "
  std::string exception_;
  std::deque<std::string> errors_;
};

}  // namespace ty
