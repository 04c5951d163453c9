// Kernel interfaces missing from Swift's Glibc module. Define no feature macro here: it would change the layout of types
// that both modules share.
#pragma once
#include <linux/inet_diag.h>
#include <linux/prctl.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// `struct ucred`, which `SO_PEERCRED` fills in (unix(7)).
struct clinux_credentials {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};

/// `accept4` (accept(2)); pass null for the address and its length.
extern int clinux_accept4(int descriptor, void *address, void *length, int flags) __asm__("accept4");

/// `pipe2` (pipe(2)).
extern int clinux_pipe2(int ends[2], int flags) __asm__("pipe2");

/// `posix_spawn_file_actions_addclosefrom_np`; `actions` is a `posix_spawn_file_actions_t`.
extern int clinux_spawn_closefrom(void *actions, int first) __asm__("posix_spawn_file_actions_addclosefrom_np");

/// `prctl` with one argument (prctl(2)), such as `PR_SET_DUMPABLE`.
extern int clinux_prctl(int option, unsigned long value) __asm__("prctl");

/// `malloc_trim` and `mallopt` (malloc_trim(3), mallopt(3)), and the option that limits the number of heaps.
extern int clinux_malloc_trim(unsigned long kept) __asm__("malloc_trim");
extern int clinux_mallopt(int option, int value) __asm__("mallopt");
enum { CLINUX_ARENA_MAX = -8 };
