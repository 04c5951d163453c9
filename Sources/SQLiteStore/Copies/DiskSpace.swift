internal import Glibc

/// The free space of a file system.
package struct DiskSpace: Sendable {
    /// The space to leave for the queue and the log, in bytes.
    package static let reserve = 64 << 20

    /// Bytes available to this user.
    package let free: Int
    /// Bytes that the file system has at all.
    package let total: Int
    /// Whether it is mounted for reading alone, as some are after a disk fault.
    package let isReadOnly: Bool

    /// Whether only as much is left as local changes may need: then nothing else may be stored.
    package var isLow: Bool { free < min(Self.reserve, total / 20) }

    /// Whether only as much is left as sending what is queued may need: then no local change may be stored either. Each attempt
    /// is written first, and the log can be emptied only while the database can grow.
    package var isNearlyFull: Bool { free < min(Self.reserve, total / 20) / 2 }

    package init(free: Int, total: Int, isReadOnly: Bool = false) {
        self.free = free
        self.total = total
        self.isReadOnly = isReadOnly
    }

    /// Where the file is, whether or not it exists; nil if its folder does not.
    package init?(beside file: String) {
        // By bytes, because each local write asks; `URL` takes as long as a twentieth of the write.
        let slash = file.utf8.lastIndex(of: UInt8(ascii: "/"))
        self.init(of: slash.map { String(file[...$0]) } ?? ".")
    }

    /// Nil if the folder does not exist.
    package init?(of folder: String) {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        free = Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
        total = Int(clamping: UInt64(status.f_blocks) * UInt64(status.f_frsize))
        isReadOnly = status.f_flag & UInt(ST_RDONLY) != 0
    }
}
