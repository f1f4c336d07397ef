#include "base/fail_point.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

namespace ty {

namespace {

// Plain arrays: the supervisor is to need no more memory for what it never uses.
constexpr int kMost = 8;
constexpr size_t kNameSize = 64, kPathSize = 512;

enum class Act : unsigned char { kKill, kStop, kDelay };
struct Point {
  char name[kNameSize];
  Act act;
  long delay_ms;
  int at;
  std::atomic<int> passed;
};

Point points[kMost];
int count = 0;
char log_path[kPathSize];
const char* armed_with = nullptr;

bool Copy(char* to, size_t size, const char* from, size_t length) {
  if (length == 0 || length >= size) return false;
  memcpy(to, from, length);
  to[length] = '\0';
  return true;
}

// "name=kill@2" between `entry` and `end`.
bool Read(const char* entry, const char* end) {
  const auto* is = static_cast<const char*>(memchr(entry, '=', static_cast<size_t>(end - entry)));
  if (is == nullptr) return false;
  const size_t length = static_cast<size_t>(is - entry);
  if (length == 3 && memcmp(entry, "log", 3) == 0)
    return Copy(log_path, kPathSize, is + 1, static_cast<size_t>(end - is - 1));
  if (count == kMost) return false;
  Point& point = points[count];
  if (!Copy(point.name, kNameSize, entry, length)) return false;
  char act[32];
  if (!Copy(act, sizeof act, is + 1, static_cast<size_t>(end - is - 1))) return false;
  char* at = strchr(act, '@');
  if (at != nullptr) *at++ = '\0';
  point.at = at != nullptr ? atoi(at) : 1;
  if (strcmp(act, "kill") == 0) {
    point.act = Act::kKill;
  } else if (strcmp(act, "stop") == 0) {
    point.act = Act::kStop;
  } else if (strncmp(act, "delay:", 6) == 0) {
    point.act = Act::kDelay;
    point.delay_ms = atol(act + 6);
  } else {
    return false;
  }
  ++count;
  return point.at >= 1;
}

void Leave(const char* name) {
  if (log_path[0] == '\0') return;
  const int fd = ::open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  char line[kNameSize + 16];
  const int size = snprintf(line, sizeof line, "%s %d\n", name, static_cast<int>(::getpid()));
  (void)!::write(fd, line, static_cast<size_t>(size));
  ::close(fd);
}

void Do(const Point& point) {
  Leave(point.name);
  if (point.act == Act::kKill) ::raise(SIGKILL);
  if (point.act == Act::kStop) ::raise(SIGSTOP);
  if (point.act == Act::kDelay) {
    const timespec pause = {point.delay_ms / 1000, point.delay_ms % 1000 * 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace

namespace fail_points {

std::atomic<bool> armed{false};

void Pass(const char* name) {
  const int before = errno;  // as if we had not been here
  for (int i = 0; i < count; ++i) {
    Point& point = points[i];
    if (strcmp(point.name, name) != 0) continue;
    const int passed = point.passed.fetch_add(1) + 1;
    if (passed == point.at || (point.act == Act::kDelay && passed > point.at)) Do(point);
  }
  errno = before;
}

}  // namespace fail_points

bool ArmFailPoints(const char* setting) {
  if (setting == nullptr || *setting == '\0') return true;
  for (const char* entry = setting; entry != nullptr;) {
    const char* end = strchr(entry, ',');
    if (!Read(entry, end != nullptr ? end : entry + strlen(entry))) return false;
    entry = end != nullptr ? end + 1 : nullptr;
  }
  armed_with = setting;
  fail_points::armed = true;
  return true;
}

const char* ArmedFailPoints() {
  return armed_with;
}

}  // namespace ty
