#include "ingest/log_times.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "posix/fd.h"

namespace ty {

namespace {
constexpr size_t kRecord = 16;
constexpr size_t kMostPieces = 8192;
}  // namespace

void LogTimes::Load(const std::string& path) {
  pieces_.clear();
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  std::string buffer(kRecord * 4096, '\0');
  int64_t every = 1, count = 0;
  for (off_t offset = 0;;) {
    ssize_t got;
    do {
      got = ::pread(file.get(), buffer.data(), buffer.size(), offset);
    } while (got < 0 && errno == EINTR);
    const size_t whole = got < 0 ? 0 : static_cast<size_t>(got) / kRecord;
    if (whole == 0) return;
    offset += static_cast<off_t>(whole * kRecord);
    for (size_t i = 0; i < whole; ++i) {
      int64_t record[2];
      std::memcpy(record, buffer.data() + i * kRecord, kRecord);
      // A log that was cut short begins anew, and so does what is known of it.
      if (!pieces_.empty() && record[0] < pieces_.back().end) {
        pieces_.clear();
        every = 1;
        count = 0;
      }
      const Piece piece{record[0], FromNanos(record[1])};
      if (count++ % every == 0 || pieces_.empty()) {
        pieces_.push_back(piece);
      } else {
        pieces_.back() = piece;
      }
      if (pieces_.size() < kMostPieces) continue;
      for (size_t kept = 0; kept < kMostPieces / 2; ++kept) pieces_[kept] = pieces_[2 * kept + 1];
      pieces_.resize(kMostPieces / 2);
      every *= 2;
    }
  }
}

const LogTimes::Piece* LogTimes::Find(int64_t offset) const {
  auto found = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                [](int64_t at, const Piece& piece) { return at < piece.end; });
  return found == pieces_.end() ? nullptr : &*found;
}

}  // namespace ty
