// A shim between the daemon and the C library (LD_PRELOAD). Notes all changes to files in a folder, and all syncs, so
// that the test can compute what a disk may hold after a power failure (lib/power.py reads the notes).
//
// SQLite's file operations are noted by a sqlite3_vfs around its default one, all others by wrappers of C library
// functions.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// SYNCING and SYNCED have the same number: after SYNCED, only what was written before SYNCING is on disk.
enum { WRITTEN = 1, TRUNCATED, SYNCING, SYNCED, CREATED, RENAMED, REMOVED, FOLDER_CREATED, LINKED, SYMLINKED,
       LOCK_HELD, LOCK_RELEASED };  // a connection's exclusive locks on a log: to write to it, or to checkpoint it

struct note {
    uint32_t what, names;  // bytes of both names, each NUL-terminated
    uint64_t file, offset, size;
};

static int notes = -1;
static const char *state;
static _Atomic uint64_t syncs, connections;
static __thread int inside;  // in SQLite's own VFS: its calls are noted by our VFS

#define NEXT(name) \
    static __typeof__(name) *next; \
    if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

// True for the folder's contents, and for its parent, which holds its name.
static int is_ours(const char *path) {
    if (notes < 0) return 0;
    size_t length = strrchr(state, '/') - state;
    return strncmp(path, state, strlen(state)) == 0 || (strncmp(path, state, length) == 0 && path[length] == 0);
}

static void note(uint32_t what, uint64_t file, uint64_t offset, uint64_t size, const void *bytes, const char *one,
                 const char *other) {
    int error = errno;
    size_t first = one ? strlen(one) + 1 : 0, second = other ? strlen(other) + 1 : 0;
    struct note head = {what, first + second, file, offset, size};
    struct iovec parts[] = {
        {&head, sizeof head}, {(void *)one, first}, {(void *)other, second}, {(void *)bytes, bytes ? size : 0}};
    if (writev(notes, parts, 4) < 0) abort();
    errno = error;
}

// The inode number of each watched descriptor, else 0. Descriptors of folders are watched too.
enum { DESCRIPTORS = 65536 };
static _Atomic uint64_t number_of[DESCRIPTORS];

static uint64_t number(int file) { return file >= 0 && file < DESCRIPTORS ? number_of[file] : 0; }

static uint64_t number_at(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_ino : 0;
}

// MARK: SQLite's files

struct watched {
    sqlite3_file base;
    uint64_t number;
    uint64_t connection;  // process and count
    sqlite3_file *own;
};

static sqlite3_vfs *own_vfs;
static sqlite3_vfs watching;

#define OWN(file) (((struct watched *)file)->own)
#define PASS(name, parameters, arguments) \
    static int name parameters { \
        inside++; \
        int code = OWN(file)->pMethods->name arguments; \
        inside--; \
        return code; \
    }
PASS(xRead, (sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset), (OWN(file), bytes, count, offset))
PASS(xFileSize, (sqlite3_file *file, sqlite3_int64 *size), (OWN(file), size))
PASS(xLock, (sqlite3_file *file, int lock), (OWN(file), lock))
PASS(xUnlock, (sqlite3_file *file, int lock), (OWN(file), lock))
PASS(xCheckReservedLock, (sqlite3_file *file, int *reserved), (OWN(file), reserved))
PASS(xFileControl, (sqlite3_file *file, int what, void *argument), (OWN(file), what, argument))
PASS(xSectorSize, (sqlite3_file *file), (OWN(file)))
PASS(xDeviceCharacteristics, (sqlite3_file *file), (OWN(file)))
PASS(xShmMap, (sqlite3_file *file, int page, int size, int extend, void volatile **memory),
     (OWN(file), page, size, extend, memory))
PASS(xShmUnmap, (sqlite3_file *file, int removes), (OWN(file), removes))
PASS(xFetch, (sqlite3_file *file, sqlite3_int64 offset, int count, void **bytes), (OWN(file), offset, count, bytes))
PASS(xUnfetch, (sqlite3_file *file, sqlite3_int64 offset, void *bytes), (OWN(file), offset, bytes))
PASS(xClose, (sqlite3_file *file), (OWN(file)))
static void xShmBarrier(sqlite3_file *file) { OWN(file)->pMethods->xShmBarrier(OWN(file)); }

static int xWrite(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    inside++;
    int result = OWN(file)->pMethods->xWrite(OWN(file), bytes, count, offset);
    inside--;
    uint64_t number = ((struct watched *)file)->number;
    if (result == SQLITE_OK && number) note(WRITTEN, number, offset, count, bytes, NULL, NULL);
    return result;
}

static int xTruncate(sqlite3_file *file, sqlite3_int64 size) {
    inside++;
    int result = OWN(file)->pMethods->xTruncate(OWN(file), size);
    inside--;
    uint64_t number = ((struct watched *)file)->number;
    if (result == SQLITE_OK && number) note(TRUNCATED, number, size, 0, NULL, NULL, NULL);
    return result;
}

static int xSync(sqlite3_file *file, int flags) {
    uint64_t number = ((struct watched *)file)->number, sync = ++syncs;
    if (number) note(SYNCING, number, sync, 0, NULL, NULL, NULL);
    inside++;
    int result = OWN(file)->pMethods->xSync(OWN(file), flags);
    inside--;
    if (result == SQLITE_OK && number) note(SYNCED, number, sync, 0, NULL, NULL, NULL);
    return result;
}

static int xShmLock(sqlite3_file *file, int offset, int count, int flags) {
    uint64_t connection = ((struct watched *)file)->connection, database = ((struct watched *)file)->number;
    int is_watched = (flags & SQLITE_SHM_EXCLUSIVE) && offset < 2 && database;
    // Noted only while it is held, so that the notes of two connections never overlap unless their locks do.
    if (is_watched && (flags & SQLITE_SHM_UNLOCK)) note(LOCK_RELEASED, database, offset, connection, NULL, NULL, NULL);
    inside++;
    int code = OWN(file)->pMethods->xShmLock(OWN(file), offset, count, flags);
    inside--;
    if (is_watched && (flags & SQLITE_SHM_LOCK) && code == SQLITE_OK)
        note(LOCK_HELD, database, offset, connection, NULL, NULL, NULL);
    return code;
}

static const sqlite3_io_methods methods = {
    3, xClose, xRead, xWrite, xTruncate, xSync, xFileSize, xLock, xUnlock, xCheckReservedLock, xFileControl, xSectorSize,
    xDeviceCharacteristics, xShmMap, xShmLock, xShmBarrier, xShmUnmap, xFetch, xUnfetch};

static int xOpen(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *opened) {
    struct watched *watched = (struct watched *)file;
    watched->own = (sqlite3_file *)(watched + 1);
    watched->base.pMethods = NULL;
    inside++;
    int result = own_vfs->xOpen(own_vfs, name, watched->own, flags, opened);
    inside--;
    if (result != SQLITE_OK) return result;
    watched->number = name && is_ours(name) ? number_at(name) : 0;
    watched->connection = (uint64_t)getpid() << 32 | ++connections;
    watched->base.pMethods = &methods;
    return result;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TORTURE_NOTES");
    state = getenv("TORTURE_STATE");
    if (!path || !state) return;
    notes = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    own_vfs = sqlite3_vfs_find(NULL);
    watching = *own_vfs;
    watching.zName = "watching";
    watching.szOsFile = sizeof(struct watched) + own_vfs->szOsFile;
    watching.xOpen = xOpen;
    sqlite3_vfs_register(&watching, 1);
}

// MARK: All other files

// A file is opened by name, but watched by inode number, which a rename does not change.
static int register_open(int file, const char *path, int is_new) {
    if (file < 0 || file >= DESCRIPTORS) return file;
    uint64_t number = is_ours(path) ? number_at(path) : 0;
    number_of[file] = number;
    if (number && is_new) note(CREATED, number, 0, 0, NULL, path, NULL);
    return file;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        NEXT(name); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = va_arg(rest, mode_t); \
        va_end(rest); \
        int is_new = is_ours(path) && (flags & O_CREAT) && access(path, F_OK) != 0; \
        return register_open(next(path, flags, mode), path, is_new); \
    }
OPEN(open)
OPEN(open64)

int close(int file) {
    NEXT(close);
    if (file >= 0 && file < DESCRIPTORS) number_of[file] = 0;
    return next(file);
}

// The notes are written with writev, which is not wrapped.
ssize_t write(int file, const void *bytes, size_t count) {
    NEXT(write);
    uint64_t number_ = inside ? 0 : number(file);
    off64_t offset = number_ ? lseek64(file, 0, SEEK_CUR) : 0;
    ssize_t written = next(file, bytes, count);
    if (number_ && written > 0) note(WRITTEN, number_, offset, written, bytes, NULL, NULL);
    return written;
}

#define PWRITE(name, type) \
    ssize_t name(int file, const void *bytes, size_t count, type offset) { \
        NEXT(name); \
        ssize_t written = next(file, bytes, count, offset); \
        if (!inside && number(file) && written > 0) note(WRITTEN, number(file), offset, written, bytes, NULL, NULL); \
        return written; \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, type) \
    int name(int file, type size) { \
        NEXT(name); \
        int result = next(file, size); \
        if (!inside && number(file) && result == 0) note(TRUNCATED, number(file), size, 0, NULL, NULL, NULL); \
        return result; \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

// Folders are noted here even within SQLite, because its VFS syncs them itself, without a VFS call.
#define SYNC(name) \
    int name(int file) { \
        NEXT(name); \
        struct stat status; \
        uint64_t number_ = number(file), sync = ++syncs; \
        if (number_ && inside && !(fstat(file, &status) == 0 && S_ISDIR(status.st_mode))) number_ = 0; \
        if (number_) note(SYNCING, number_, sync, 0, NULL, NULL, NULL); \
        int result = next(file); \
        if (number_ && result == 0) note(SYNCED, number_, sync, 0, NULL, NULL, NULL); \
        return result; \
    }
SYNC(fsync)
SYNC(fdatasync)

#define NAMES(name, what, path, first, second, parameters, arguments) \
    int name parameters { \
        NEXT(name); \
        int result = next arguments; \
        if (result == 0 && is_ours(path)) note(what, number_at(path), 0, 0, NULL, first, second); \
        return result; \
    }
NAMES(rename, RENAMED, new, old, new, (const char *old, const char *new), (old, new))
NAMES(unlink, REMOVED, path, path, NULL, (const char *path), (path))
NAMES(mkdir, FOLDER_CREATED, path, path, NULL, (const char *path, mode_t mode), (path, mode))
NAMES(link, LINKED, new, new, NULL, (const char *old, const char *new), (old, new))
NAMES(symlink, SYMLINKED, new, old, new, (const char *old, const char *new), (old, new))
