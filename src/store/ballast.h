// Ballast is a file of no content whose room is given up when the disk is full, so that what must be written
// (ends of tasks above all) still can be.
#pragma once

#include <cstdint>
#include <string>

#include "posix/fd.h"

namespace ty {

class Ballast {
 public:
  explicit Ballast(std::string path);

  int64_t size() const { return size_; }  // 0: there is none
  // Takes up really so much of the disk, or nothing at all.
  SysStatus Make(int64_t bytes);
  // True when it was there and its room is free now.
  bool Drop();

 private:
  std::string path_;
  int64_t size_ = 0;
};

}  // namespace ty
