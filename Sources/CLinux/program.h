// Starts a program with limits that posix_spawn cannot set.
#pragma once
#include <errno.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern int clinux_program_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
    __asm__("prctl");
extern long clinux_program_syscall(long number, unsigned long a, unsigned long b, unsigned long c) __asm__("syscall");
// <fcntl.h> would make `stat` a type of this module, beside Glibc's.
extern int clinux_program_fcntl(int descriptor, int command, int value) __asm__("fcntl");
extern int clinux_program_pipe2(int ends[2], int flags) __asm__("pipe2");

/// A file in memory, closed on exec (memfd_create(2)); -1 with errno.
static inline int clinux_memory_file(void) {
    return (int)clinux_program_syscall(SYS_memfd_create, (unsigned long)"input", 1 /* MFD_CLOEXEC */, 0);
}

struct clinux_program_limits {
    /// Whether it may gain no rights, as by a set-user-ID file.
    int no_new_privileges;
    /// Bytes of its own memory, and seconds of processor time; 0 for no limit.
    uint64_t memory;
    uint64_t processor;
};

static inline void clinux_limit(int what, uint64_t limit) {
    struct rlimit value = {limit, limit};
    setrlimit((__rlimit_resource_t)what, &value);
}

/// Has the kernel end this process before others when memory runs out. Raising it needs no right; without /proc it stays.
static inline void clinux_become_expendable(void) {
    const char *name = "/proc/self/oom_score_adj";
    int file = (int)clinux_program_syscall(SYS_openat, (unsigned long)-100 /* AT_FDCWD */, (unsigned long)name, 1 /* O_WRONLY */);
    if (file < 0) return;
    if (write(file, "1000", 4) < 0) errno = 0;
    close(file);
}

/// What the new process does until it is another program: only calls that are safe after a fork (signal-safety(7)).
static inline void clinux_become(
    const char *path, char *const arguments[], char *const variables[], int input, int output, int report,
    const struct clinux_program_limits *limits) {
    sigset_t none;
    setpgid(0, 0);
    for (int number = 1; number < 65; number++) signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // The report must not stand where the input goes, or above what is closed.
    if (input != STDIN_FILENO) dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (report != 3) report = dup2(report, 3);
    clinux_program_fcntl(report, 2 /* F_SETFD */, 1 /* FD_CLOEXEC */);
    clinux_program_syscall(436 /* close_range */, 4, ~0U, 0);
    if (limits->no_new_privileges) {
        clinux_program_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        clinux_become_expendable();
    }
    if (limits->memory) clinux_limit(RLIMIT_DATA, limits->memory);
    if (limits->processor) clinux_limit(RLIMIT_CPU, limits->processor);
    clinux_limit(RLIMIT_CORE, 0);
    execve(path, arguments, variables);
    int reason = errno;
    if (write(report, &reason, sizeof reason) < 0) _exit(126);
    _exit(127);
}

/// Starts a program in a process group of its own, with `input` as its standard input, and `output` as its standard output
/// and error. Returns its id, or an errno as a negative number.
static inline int clinux_start_program(
    const char *path, char *const arguments[], char *const variables[], int input, int output,
    const struct clinux_program_limits *limits) {
    int ends[2], reason = 0;
    if (clinux_program_pipe2(ends, 02000000 /* O_CLOEXEC */) != 0) return -errno;
    // No handler of this process runs in the new one.
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pid_t program = fork();
    int failed = errno;
    if (program == 0) clinux_become(path, arguments, variables, input, output, ends[1], limits);
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(ends[1]);
    if (program < 0) {
        close(ends[0]);
        return -failed;
    }
    // The end of the pipe comes when the program has begun.
    ssize_t count;
    do count = read(ends[0], &reason, sizeof reason);
    while (count < 0 && errno == EINTR);
    close(ends[0]);
    if (count != sizeof reason) return program;
    while (waitpid(program, NULL, 0) < 0 && errno == EINTR) {}
    return -reason;
}

/// Whether a program has ended; its id stays taken until `waitpid` (waitid(2)).
static inline int clinux_has_ended(int program) {
    siginfo_t information;
    information.si_pid = 0;
    if (waitid(P_PID, (id_t)program, &information, WEXITED | WNOWAIT | WNOHANG) != 0) return errno != EINTR;
    return information.si_pid != 0;
}

/// Returns when a program has ended; its id stays taken until `waitpid` (waitid(2)).
static inline void clinux_await_end(int program) {
    siginfo_t information;
    while (waitid(P_PID, (id_t)program, &information, WEXITED | WNOWAIT) < 0 && errno == EINTR) {}
}
