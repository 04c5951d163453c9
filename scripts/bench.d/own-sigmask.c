/* Valgrind 3.19 writes into the mask that sigsuspend is given, and libdispatch keeps that in read-only memory: hand over a
   copy. cc -shared -fPIC, then LD_PRELOAD. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, 8);
}
