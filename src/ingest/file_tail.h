// FileTail reads what was added to a file since the last time, a bounded piece at a time. A file that is not
// there yet is waited for; one that shrank is read anew. Private to ingest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "posix/fd.h"

namespace ty {

class FileTail {
 public:
  explicit FileTail(std::string path) : path_(std::move(path)) {}

  // How many bytes wait, after one look at the file.
  int64_t Waiting();
  // Leaves out all but the last `most` of what waits; returns whether it left any out.
  bool SkipTo(int64_t most);
  // Reads at most `buffer.size()` of what waits; empty when there is nothing.
  std::string_view Read(std::string& buffer);
  int64_t offset() const { return offset_; }

 private:
  std::string path_;
  UniqueFd file_;
  int64_t offset_ = 0, size_ = 0;
};

}  // namespace ty
