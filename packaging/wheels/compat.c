// SPDX-License-Identifier: Apache-2.0
// What today's headers and archives call and an older glibc lacks, in terms of what it has. Linked,
// hidden, into wheels for older systems alone (old_libraries.py). The numbers: which version
// brought it.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#define LOCAL __attribute__((visibility("hidden")))

// 2.32. False: reference counts stay atomic.
LOCAL char __libc_single_threaded = 0;

// 2.33. Before, headers called these with the number of the kernel's layout. With 64 bits the two
// structs are one.
#ifdef __x86_64__
enum { kLayout = 1 };
#else
enum { kLayout = 0 };
#endif
int __xstat64(int, const char*, struct stat64*);
int __lxstat64(int, const char*, struct stat64*);
int __fxstat64(int, int, struct stat64*);
int __fxstatat64(int, int, const char*, struct stat64*, int);
LOCAL int stat64(const char* path, struct stat64* out) { return __xstat64(kLayout, path, out); }
LOCAL int lstat64(const char* path, struct stat64* out) { return __lxstat64(kLayout, path, out); }
LOCAL int fstat64(int file, struct stat64* out) { return __fxstat64(kLayout, file, out); }
LOCAL int fstatat64(int folder, const char* path, struct stat64* out, int flags) {
  return __fxstatat64(kLayout, folder, path, out, flags);
}
LOCAL int stat(const char*, struct stat*) __attribute__((alias("stat64")));
LOCAL int lstat(const char*, struct stat*) __attribute__((alias("lstat64")));
LOCAL int fstat(int, struct stat*) __attribute__((alias("fstat64")));
LOCAL int fstatat(int, const char*, struct stat*, int) __attribute__((alias("fstatat64")));

// 2.30. Before, a wait was for a time of the clock that may be set. Waits for a second at most: a
// caller has to expect to be woken without a cause, and looks at its own clock.
LOCAL int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                 const struct timespec* until) {
  const long kSecond = 1000000000;
  struct timespec now, end;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  if (clock != CLOCK_MONOTONIC || until->tv_nsec < 0 || until->tv_nsec >= kSecond) return EINVAL;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &end);
  long nanoseconds = until->tv_nsec - now.tv_nsec;
  time_t seconds = until->tv_sec - now.tv_sec;
  const int is_last = seconds < 1 || (seconds == 1 && nanoseconds <= 0);
  if (!is_last) seconds = 1, nanoseconds = 0;
  if (seconds < 0) seconds = 0, nanoseconds = 0;
  end.tv_sec += seconds + (end.tv_nsec + nanoseconds + kSecond) / kSecond - 1;
  end.tv_nsec = (end.tv_nsec + nanoseconds + kSecond) % kSecond;
  const int result = pthread_cond_timedwait(condition, mutex, &end);
  return result == ETIMEDOUT && !is_last ? 0 : result;
}

// 2.36.
LOCAL void arc4random_buf(void* out, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = getrandom((char*)out + done, size - done, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got > 0) done += (size_t)got;
  }
}
LOCAL uint32_t arc4random(void) {
  uint32_t number;
  arc4random_buf(&number, sizeof number);
  return number;
}
