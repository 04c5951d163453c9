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

/// `malloc_trim` and `mallopt` (malloc_trim(3), mallopt(3)), and two options: the number of heaps, and the size from which
/// on a block is mapped by itself.
extern int clinux_malloc_trim(unsigned long kept) __asm__("malloc_trim");
extern int clinux_mallopt(int option, int value) __asm__("mallopt");
enum { CLINUX_ARENA_MAX = -8, CLINUX_MMAP_THRESHOLD = -3 };

/// `unshare` and `mount` (unshare(2), mount(2)), and the flags used with them.
extern int clinux_unshare(int flags) __asm__("unshare");
extern int clinux_mount(
    const char *source, const char *target, const char *type, unsigned long flags, const void *data) __asm__("mount");
enum {
    CLINUX_NEWNS = 0x20000,
    CLINUX_FILES = 0x400,
    CLINUX_MS_RDONLY = 1,
    CLINUX_MS_NOSUID = 2,
    CLINUX_MS_NODEV = 4,
    CLINUX_MS_NOEXEC = 8,
    CLINUX_MS_REMOUNT = 32,
    CLINUX_MS_BIND = 4096,
    CLINUX_MS_MOVE = 8192,
    CLINUX_MS_REC = 16384,
    CLINUX_MS_SLAVE = 1 << 19,
};

/// `setfsuid` and `setfsgid` (setfsuid(2)): the ids of this thread for access to files.
extern int clinux_setfsuid(uint32_t user) __asm__("setfsuid");
extern int clinux_setfsgid(uint32_t group) __asm__("setfsgid");

/// `openat2` (openat2(2)) through `syscall`: `number` is `CLINUX_OPENAT2`, `how` a `clinux_open_how`, `size` its size.
extern long clinux_openat2(long number, int folder, const char *path, const void *how, unsigned long size)
    __asm__("syscall");
struct clinux_open_how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};
enum { CLINUX_OPENAT2 = 437, CLINUX_RESOLVE_NO_SYMLINKS = 4 };
