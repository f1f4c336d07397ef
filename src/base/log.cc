#include "base/log.h"

#include <time.h>
#include <unistd.h>

#include <string>

#include "base/text.h"
#include "base/time.h"

namespace ty {

void Log(std::string_view line) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::string text = FormatIso(Time(seconds(now.tv_sec) + Duration(now.tv_nsec)));
  text += ' ';
  text += Printable(line);
  text += '\n';
  // One write, so that lines of several threads do not mix. A log that cannot be written is not worth dying
  // for.
  [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace ty
