package import GRDB
internal import Glibc

/// A database as it is without its log: reached under another name, SQLite does not find that.
package enum WithoutWAL {
    /// This process may have no connection to the file, since connections share what they know of a log by the file, not
    /// by its name; and nobody may write to it meanwhile.
    package static func reading<Result>(_ path: String, _ body: (Database) throws -> Result) throws -> Result {
        let name = path + ".alone"
        func remove() { for suffix in ["", "-wal", "-shm"] { unlink(name + suffix) } }
        remove()
        guard link(path, name) == 0 else { throw CacheError.unwritable("\(name) cannot be made; check state_dir") }
        defer { remove() }
        let connection = try DatabaseFile.openReadOnly(name)
        defer { try? connection.close() }
        return try connection.unsafeRead(body)
    }
}
