package import GRDB
internal import Glibc

/// Reads a database without its log: SQLite does not find the log if the file is opened under another name.
package enum WithoutWAL {
    /// This process may have no other connection to the file, because connections share what they know of a log by
    /// file, not by name. Nothing may write to the file meanwhile.
    package static func reading<Result>(_ path: String, _ body: (Database) throws -> Result) throws -> Result {
        let name = path + ".alone"
        DatabaseFile(name).delete()
        guard link(path, name) == 0 else { throw CacheError.unwritable("\(name) cannot be created; check state_dir") }
        defer { DatabaseFile(name).delete() }
        let connection = try DatabaseFile.openReadOnly(name)
        defer { try? connection.close() }
        return try connection.unsafeRead(body)
    }
}
