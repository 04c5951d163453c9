// Confines the calling process for good: so that code which an attacker controls can only compute, or so that it starts no
// other program and types nothing for the person at the terminal.
#pragma once
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define CLINUX_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CLINUX_AUDIT_ARCH AUDIT_ARCH_AARCH64
#else
#error "confine.h does not know this processor's system calls"
#endif

extern int clinux_prctl5(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
    __asm__("prctl");
extern long clinux_syscall4(long number, long a, long b, long c, long d) __asm__("syscall");

/// Denies every access to the file system by path (landlock(7)), where the kernel has Landlock.
static inline void clinux_deny_paths(void) {
    // struct landlock_ruleset_attr of the first version: every right that it knows, none of them granted.
    uint64_t rights = (1ULL << 13) - 1;
    long rules = clinux_syscall4(444 /* landlock_create_ruleset */, (long)&rights, sizeof rights, 0, 0);
    if (rules < 0) return;
    clinux_syscall4(446 /* landlock_restrict_self */, rules, 0, 0, 0);
    clinux_syscall4(SYS_close, rules, 0, 0, 0);
}

/// Allows a few system calls from here on; all others fail with EPERM. Returns 0, or -1 with errno.
///
/// Allowed: reading and writing open files, memory that is not executable, locks, the time, ending. The filter applies to
/// this thread: call it while there is no other.
static inline int clinux_confine(void) {
    if (clinux_prctl5(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    clinux_deny_paths();
#define CLINUX_ALLOW(name) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
// Allowed unless the third argument, the protection, makes memory executable.
#define CLINUX_ALLOW_DATA(name)                                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4),                                              \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, args[2])),           \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),                                          \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLINUX_AUDIT_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr)),
        CLINUX_ALLOW(read),
        CLINUX_ALLOW(write),
        CLINUX_ALLOW(munmap),
        CLINUX_ALLOW(mremap),
        CLINUX_ALLOW(brk),
        CLINUX_ALLOW(madvise),
        CLINUX_ALLOW(futex),
        CLINUX_ALLOW(clock_gettime),
        CLINUX_ALLOW(rt_sigreturn),
        CLINUX_ALLOW(exit),
        CLINUX_ALLOW(exit_group),
        CLINUX_ALLOW_DATA(mmap),
        CLINUX_ALLOW_DATA(mprotect),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
#undef CLINUX_ALLOW
#undef CLINUX_ALLOW_DATA
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    return clinux_prctl5(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (unsigned long)&program, 0, 0);
}

/// From here on starts no other program, and puts nothing into a terminal's input, where a shell would read it as if it had
/// been typed: execve(2), and ioctl(2) with TIOCSTI or TIOCLINUX, fail with EPERM. Returns 0, or -1 with errno.
///
/// The filter applies to this thread and those that it starts: call it while there is no other.
static inline int clinux_forbid_programs(void) {
    if (clinux_prctl5(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLINUX_AUDIT_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr)),
#if defined(__x86_64__)
        // The calls of x32, such as its own execve, where the kernel has them. All of them fail.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 6, 0),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),
        // The kernel reads only the lower half of it.
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x5412 /* TIOCSTI */, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x541C /* TIOCLINUX */, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    return clinux_prctl5(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (unsigned long)&program, 0, 0);
}
