import Glibc

/// How long a command that root runs may compute on what it finds in another user's state directory.
///
/// A compromised daemon could leave a database there in which the same pages stand in many places: reading it never ends.
enum TimeLimit {
    /// In seconds of processor time: many times what a restore of a million records takes.
    static let ofCommand: UInt64 = 3600

    /// Has the kernel end this process (`SIGXCPU`) after `seconds` of processor time. Keeps a limit that is lower already.
    static func apply(_ seconds: UInt64) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit) == 0 else { return }
        let least = min(rlim_t(seconds), limit.rlim_cur, limit.rlim_max)
        limit = rlimit(rlim_cur: least, rlim_max: least)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
    }
}
