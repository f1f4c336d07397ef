/* Preloaded into a daemon: of its calls that write or sync files whose path begins with FAIL_PREFIX, the FAIL_AT-th
   fails with EIO, once, as a disk does that has lost a page. A sync that fails is remembered: whatever is written to
   the same file afterwards is told too. FAIL_LOG gets a line a call: "write PATH", "sync PATH", "failed NAME PATH",
   "after NAME PATH". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long calls;
static char failed_sync[PATH_MAX];

static void tell(const char* what, const char* path) {
  static int log = -2;
  static ssize_t (*real)(int, const void*, size_t);
  if (log == -2) {
    const char* name = getenv("FAIL_LOG");
    log = name ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    real = dlsym(RTLD_NEXT, "write");
  }
  char line[PATH_MAX + 64];
  int length = snprintf(line, sizeof line, "%s %s\n", what, path);
  if (log >= 0) (void)!real(log, line, (size_t)length);
}

/* Whether this call is to fail. One that writes no bytes is none: it only asks whether the disk may be written. */
static int fails(int fd, const char* name, int syncs) {
  const char* prefix = getenv("FAIL_PREFIX");
  if (!prefix) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  if (strncmp(path, prefix, strlen(prefix)) != 0) return 0;
  pthread_mutex_lock(&mutex);
  const char* at = getenv("FAIL_AT");
  int now = at && ++calls == atol(at);
  char what[64];
  snprintf(what, sizeof what, "%s%s", now ? "failed " : *failed_sync && !strcmp(failed_sync, path) ? "after " : "",
           name);
  tell(what, path);
  if (now && syncs) strcpy(failed_sync, path);
  pthread_mutex_unlock(&mutex);
  if (now) errno = EIO;
  return now;
}

#define FIND(name) ({ static typeof(&name) real; if (!real) real = (typeof(&name))dlsym(RTLD_NEXT, #name); real; })

ssize_t write(int fd, const void* bytes, size_t size) {
  return size > 0 && fails(fd, "write", 0) ? -1 : FIND(write)(fd, bytes, size);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  return size > 0 && fails(fd, "write", 0) ? -1 : FIND(pwrite)(fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  return size > 0 && fails(fd, "write", 0) ? -1 : FIND(pwrite64)(fd, bytes, size, at);
}
int ftruncate(int fd, off_t size) { return fails(fd, "truncate", 0) ? -1 : FIND(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { return fails(fd, "truncate", 0) ? -1 : FIND(ftruncate64)(fd, size); }
int fsync(int fd) { return fails(fd, "sync", 1) ? -1 : FIND(fsync)(fd); }
int fdatasync(int fd) { return fails(fd, "sync", 1) ? -1 : FIND(fdatasync)(fd); }
