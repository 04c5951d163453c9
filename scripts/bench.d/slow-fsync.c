/* Makes every fsync and fdatasync 2 ms slower, as a slow disk would: cc -shared -fPIC, then LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int after_a_while(const char *name, int file) {
    struct timespec wait = {0, 2000000};
    nanosleep(&wait, 0);
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return real(file);
}

int fsync(int file) { return after_a_while("fsync", file); }
int fdatasync(int file) { return after_a_while("fdatasync", file); }
