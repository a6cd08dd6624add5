/* Adds IDKIT_BENCH_FSYNC_US microseconds after every fsync and fdatasync, as a network disk would. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static useconds_t delay(void) {
  static int known = -1;
  if (known < 0) {
    const char *text = getenv("IDKIT_BENCH_FSYNC_US");
    known = text ? atoi(text) : 0;
  }
  return (useconds_t)known;
}

int fsync(int fd) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  int result = real(fd);
  usleep(delay());
  return result;
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  int result = real(fd);
  usleep(delay());
  return result;
}
