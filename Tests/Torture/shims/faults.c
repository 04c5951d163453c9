// A shim between the daemon and the C library (LD_PRELOAD). Fails the n-th operation of a kind on a kind of file, or
// kills the process there. The test sets what and when in a file that both map into memory (lib/faults.py has the same
// layout).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { DATABASE = 1, LOG = 2, INDEX = 4, CONTENT = 8, BACKUP = 16, OTHER = 32, KINDS = 6 };
enum { WRITE = 1, SYNC = 2, TRUNCATE = 4, CREATE = 8, RENAME = 16, REMOVE = 32, OPERATIONS = 6 };
enum { KILL = 1, FAIL = 2, TEAR = 3 };  // TEAR: kill during a write
enum { ALWAYS = 0, PUSH_ANSWERED = 1, PAGE_ANSWERED = 2 };

struct control {
    _Atomic int32_t action;
    int32_t error;
    int32_t files, operations;
    int32_t since;              // counts only after this event
    _Atomic int32_t seen;
    _Atomic int64_t countdown;  // operations that still succeed
    _Atomic int64_t times;      // faults still to inject; negative: no limit
    _Atomic int64_t injected;
    _Atomic int64_t count[KINDS][OPERATIONS];
};

static struct control *control;
static const char *state;  // only files in this folder are affected
enum { DESCRIPTORS = 65536 };
static _Atomic char kind_of[DESCRIPTORS];
static _Atomic char role_of[DESCRIPTORS];

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TORTURE_FAULTS");
    state = getenv("TORTURE_STATE");
    int file = path && state ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) control = memory;
    close(file);
}

// The C library's function that ours wraps.
#define NEXT(name) \
    static __typeof__(name) *next; \
    if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int ends_with(const char *path, const char *end) {
    size_t length = strlen(path), rest = strlen(end);
    return length >= rest && strcmp(path + length - rest, end) == 0;
}

static int kind(const char *path) {
    if (!control || strncmp(path, state, strlen(state)) != 0) return 0;
    if (strstr(path, ".content")) return CONTENT;
    if (strstr(path, "/backups/")) return BACKUP;
    if (ends_with(path, "-wal")) return LOG;
    if (ends_with(path, "-shm")) return INDEX;
    if (ends_with(path, ".db")) return DATABASE;
    return OTHER;
}

static int index_of(int flag) { return __builtin_ctz(flag); }

// Returns 0 if the operation may proceed, else the action to take. Kills the process if that is the action.
static int inject(int file, int operation) {
    if (!control || !file) return 0;
    control->count[index_of(file)][index_of(operation)]++;
    int action = control->action;
    if (!action || !(control->files & file) || !(control->operations & operation)) return 0;
    if (control->since && !control->seen) return 0;
    if (control->countdown > 0 && atomic_fetch_sub(&control->countdown, 1) > 0) return 0;
    if (control->times == 0) return 0;
    if (control->times > 0) control->times--;
    control->injected++;
    if (action == KILL || (action == TEAR && operation != WRITE)) kill(getpid(), SIGKILL);
    errno = control->error;
    return action;
}

static int kind_of_file(int file) { return file >= 0 && file < DESCRIPTORS ? kind_of[file] : 0; }

// MARK: Opening

static int register_open(int file, const char *path) {
    if (file >= 0 && file < DESCRIPTORS) {
        kind_of[file] = kind(path);
        role_of[file] = 0;
    }
    return file;
}

// A read-only file system opens no file for writing; a full one creates none.
static int may_open(const char *path, int flags) {
    int file = control ? kind(path) : 0;
    if (!file) return 1;
    int writes = (flags & O_ACCMODE) != O_RDONLY;
    int creates = (flags & O_CREAT) && access(path, F_OK) != 0;
    int is_read_only = control->action == FAIL && control->error == EROFS;
    if (!creates && !(writes && is_read_only)) return 1;
    return !inject(file, CREATE);
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        NEXT(name); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = va_arg(rest, mode_t); \
        va_end(rest); \
        if (!may_open(path, flags)) return -1; \
        return register_open(next(path, flags, mode), path); \
    }
OPEN(open)
OPEN(open64)

int close(int file) {
    NEXT(close);
    if (file >= 0 && file < DESCRIPTORS) kind_of[file] = role_of[file] = 0;
    return next(file);
}

// MARK: Writing

static ssize_t torn(int file, const void *bytes, size_t count, off64_t offset) {
    if (offset >= 0) lseek64(file, offset, SEEK_SET);
    struct iovec half = {(void *)bytes, count / 2};
    if (writev(file, &half, 1) >= 0) kill(getpid(), SIGKILL);
    return -1;
}

#define INJECT(file, bytes, count, offset) \
    switch (inject(kind_of_file(file), WRITE)) { \
    case 0: break; \
    case TEAR: return torn(file, bytes, count, offset); \
    default: return -1; \
    }

ssize_t write(int file, const void *bytes, size_t count) {
    NEXT(write);
    INJECT(file, bytes, count, -1)
    return next(file, bytes, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    NEXT(pwrite);
    INJECT(file, bytes, count, offset)
    return next(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    NEXT(pwrite64);
    INJECT(file, bytes, count, offset)
    return next(file, bytes, count, offset);
}

#define ON_FILE(name, operation, parameters, arguments) \
    int name parameters { \
        NEXT(name); \
        return inject(kind_of_file(file), operation) ? -1 : next arguments; \
    }
ON_FILE(fsync, SYNC, (int file), (file))
ON_FILE(fdatasync, SYNC, (int file), (file))
ON_FILE(ftruncate, TRUNCATE, (int file, off_t size), (file, size))
ON_FILE(ftruncate64, TRUNCATE, (int file, off64_t size), (file, size))

#define ON_PATH(name, path, operation, parameters, arguments) \
    int name parameters { \
        NEXT(name); \
        return inject(control ? kind(path) : 0, operation) ? -1 : next arguments; \
    }
ON_PATH(rename, new, RENAME, (const char *old, const char *new), (old, new))
ON_PATH(unlink, path, REMOVE, (const char *path), (path))
ON_PATH(mkdir, path, CREATE, (const char *path, mode_t mode), (path, mode))
ON_PATH(link, new, CREATE, (const char *old, const char *new), (old, new))
ON_PATH(symlink, new, CREATE, (const char *old, const char *new), (old, new))

// MARK: Network traffic, as libcurl sends and receives it

static int begins(const void *bytes, size_t count, const char *text) {
    return count >= strlen(text) && memcmp(bytes, text, strlen(text)) == 0;
}

ssize_t send(int file, const void *bytes, size_t count, int flags) {
    NEXT(send);
    if (control && file >= 0 && file < DESCRIPTORS) {
        if (begins(bytes, count, "GET /api/notes")) role_of[file] = PAGE_ANSWERED;
        if (begins(bytes, count, "POST /api") || begins(bytes, count, "PATCH /api") || begins(bytes, count, "PUT /api") ||
            begins(bytes, count, "DELETE /api"))
            role_of[file] = PUSH_ANSWERED;
    }
    return next(file, bytes, count, flags);
}

ssize_t recv(int file, void *bytes, size_t count, int flags) {
    NEXT(recv);
    ssize_t received = next(file, bytes, count, flags);
    if (control && received > 0 && file >= 0 && file < DESCRIPTORS && role_of[file]) {
        if (control->since == role_of[file]) control->seen = 1;
        role_of[file] = 0;
    }
    return received;
}
