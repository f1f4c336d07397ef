// A wall clock that jumps: preloaded, it adds to CLOCK_REALTIME what the file named by JUMPING_CLOCK holds, eight
// bytes, nanoseconds. Whoever writes there sets the clock of every program that has it loaded, and of no other.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t kNone = 0;
static volatile const int64_t* ahead = &kNone;

__attribute__((constructor)) static void Open(void) {
  const char* path = getenv("JUMPING_CLOCK");
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (page != MAP_FAILED) ahead = page;
}

static int64_t Wall(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec + *ahead;
}

static struct timespec Split(int64_t ns) {
  struct timespec split = {ns / 1000000000, ns % 1000000000};
  if (split.tv_nsec < 0) split.tv_sec--, split.tv_nsec += 1000000000;
  return split;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return (int)syscall(SYS_clock_gettime, clock, now);
  *now = Split(Wall());
  return 0;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  const struct timespec split = Split(Wall());
  now->tv_sec = split.tv_sec;
  now->tv_usec = split.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* now) {
  const time_t seconds = Split(Wall()).tv_sec;
  if (now) *now = seconds;
  return seconds;
}
