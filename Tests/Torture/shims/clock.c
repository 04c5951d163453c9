// Shifts the daemon's system clock, but not its monotonic clocks. TORTURE_CLOCK is the path of a file with the offset
// in seconds (a 64-bit integer), which may change at any time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *offset;

__attribute__((constructor)) static void open_clock(void) {
    const char *path = getenv("TORTURE_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) offset = memory;
    close(file);
}

static int64_t current_offset(void) { return offset ? *offset : 0; }

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += current_offset();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    static int (*real)(struct timeval *, void *);
    if (!real) real = dlsym(RTLD_NEXT, "gettimeofday");
    int result = real(time, zone);
    if (result == 0) time->tv_sec += current_offset();
    return result;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}
