/// Informs the thread sanitizer when two threads contend for a `Mutex` of the standard library.
///
/// The kernel then hands the lock over (`FUTEX_LOCK_PI`). The sanitizer does not see that, so it reports a race on the
/// data that the lock guards. Preloaded by scripts/sanitize; `Mutex` calls these functions only under contention.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

/// Part of the sanitizer's runtime; missing in programs built without it.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock(SELF) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF) {
    ((SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK))(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock(SELF) {
    if (__tsan_release) __tsan_release(self);
    ((SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK))(self);
}
