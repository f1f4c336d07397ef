// LogTimes tells from `log.idx` (docs/formats/attempt.md) when the bytes of a log were written: what a log
// says was said then, not when somebody reads it. Private to ingest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace ty {

class LogTimes {
 public:
  struct Piece {
    int64_t end;  // bytes before it
    Time at;      // were there then
  };
  // Of the index of a very long training only some records are kept, evenly.
  void Load(const std::string& path);
  // The piece that the byte at `offset` is in; null when the index does not reach it.
  const Piece* Find(int64_t offset) const;

 private:
  std::vector<Piece> pieces_;  // ascending
};

}  // namespace ty
