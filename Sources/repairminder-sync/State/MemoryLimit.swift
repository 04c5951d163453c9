import Glibc

/// How much memory a command may take for what others give it.
///
/// A compromised daemon could leave a database for root's commands whose values, or whose queue, have gigabytes. A database
/// for reports could answer with rows of any size.
enum MemoryLimit {
    /// In bytes: half of the machine's memory, but enough for every command on a small machine.
    static func share(ofPhysical bytes: UInt64) -> UInt64 { max(bytes / 2, 512 << 20) }

    static var ofThisMachine: UInt64 {
        let bytes = UInt64(max(sysconf(Int32(_SC_PHYS_PAGES)), 0)) * UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 0))
        return share(ofPhysical: bytes)
    }

    /// Several times what a feed needs: its pages end at 4 MiB, and a record has 8 MiB at most.
    static let ofFeed: UInt64 = 1 << 30

    /// Limits the memory that this process has for itself, for good. Keeps a limit that is lower already.
    static func apply(_ bytes: UInt64) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_DATA.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        let least = min(rlim_t(bytes), limit.rlim_cur, limit.rlim_max)
        limit = rlimit(rlim_cur: least, rlim_max: least)
        _ = setrlimit(resource, &limit)
    }
}
