import Glibc

/// How much memory and processor time a command may take for what others give it.
///
/// A compromised daemon could leave a database for root's commands whose values, or whose queue, have gigabytes, or in which
/// the same pages stand in many places, so that reading it never ends. A database for reports could answer with rows of any
/// size.
enum ProcessLimit {
    /// In bytes: half of the machine's memory, but enough for every command on a small machine.
    static func share(ofPhysical bytes: UInt64) -> UInt64 { max(bytes / 2, 512 << 20) }

    static var memoryOfThisMachine: UInt64 {
        let bytes = UInt64(max(sysconf(Int32(_SC_PHYS_PAGES)), 0)) * UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 0))
        return share(ofPhysical: bytes)
    }

    /// Several times what a feed needs: its pages end at 4 MiB, and a record has 8 MiB at most.
    static let memoryOfFeed: UInt64 = 1 << 30

    /// In seconds of processor time: many times what a restore of a million records takes.
    static let timeOfCommand: UInt64 = 3600

    /// Limits the memory that this process has for itself, for good. Keeps a limit that is lower already.
    static func memory(_ bytes: UInt64) { lower(RLIMIT_DATA, to: bytes) }

    /// Has the kernel end this process (`SIGXCPU`) after so many seconds of processor time, unless it would do so before.
    static func time(_ seconds: UInt64) { lower(RLIMIT_CPU, to: seconds) }

    private static func lower(_ resource: __rlimit_resource, to most: UInt64) {
        let resource = __rlimit_resource_t(resource.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        let least = min(rlim_t(most), limit.rlim_cur, limit.rlim_max)
        limit = rlimit(rlim_cur: least, rlim_max: least)
        _ = setrlimit(resource, &limit)
    }
}
