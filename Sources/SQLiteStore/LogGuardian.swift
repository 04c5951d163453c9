/// Keeps the write-ahead log of a file that may be damaged as it is, while others open the file and close it.
///
/// SQLite writes the log back when the last connection closes. This one only reads and closes after the others, so nobody
/// does: what a foreign log would overwrite stays, and what a log alone has can still be read from it.
package struct LogGuardian {
    private let connection: ReadConnection

    /// Nil where there is no file yet.
    package init?(path: String) {
        guard let connection = try? ReadConnection(path: path) else { return nil }
        self.connection = connection
        // A number of the file's header is found without reading the schema. Also where it fails for damage, the log is
        // open from here on.
        try? connection.query("PRAGMA application_id", []) { _ in false }
    }

    /// Ends the guard; all that matters is that it lasted until here.
    package func close() { withExtendedLifetime(connection) {} }
}
