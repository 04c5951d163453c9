/// Preserves the write-ahead log of a file that may be damaged, while other connections open and close the file.
///
/// SQLite checkpoints the log when the last connection closes. This connection only reads and closes last, so no
/// connection checkpoints: pages that a foreign log would overwrite stay, and what only the log has can still be read.
package struct LogGuardian {
    private let connection: ReadConnection

    /// Nil if there is no file yet.
    package init?(path: String) {
        guard let connection = Self.connection(to: path) else { return nil }
        self.connection = connection
    }

    /// A connection that guards the log for as long as it is open; nil if there is no file yet.
    package static func connection(to path: String) -> ReadConnection? {
        guard let connection = try? ReadConnection(path: path) else { return nil }
        // This reads a number from the file's header without reading the schema. Even if it fails because of damage,
        // the log is open from here on.
        try? connection.query("PRAGMA application_id", []) { _ in false }
        return connection
    }

    /// Ends the guard. The lifetime until here is what counts.
    package func close() { withExtendedLifetime(connection) {} }
}
