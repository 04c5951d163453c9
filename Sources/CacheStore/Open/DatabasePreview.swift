internal import SQLiteStore
internal import Synchronization

/// A database before it is opened for writing: answers what must be known first, over one connection that only reads.
///
/// While it lives, the file's log is preserved (see `LogGuardian`). `CacheStore` reads on over the same connection,
/// because each further connection would read the whole schema again.
package final class DatabasePreview {
    let path: String
    /// See `OpeningCheck.mark`.
    let mark: Int32?
    /// See `OpeningCheck.headerProblem`.
    private let headerProblem: String?
    /// Nil if there is no file yet.
    let connection: ReadConnection?

    /// Call it while this process has no connection to the file.
    package init(path: String) {
        self.path = path
        mark = OpeningCheck.mark(of: path)
        headerProblem = OpeningCheck.headerProblem(of: path)
        connection = LogGuardian.connection(to: path)
    }

    /// The recorded origin of the records; nil if there is none or it cannot be read.
    package var origin: CacheOrigin? { connection.flatMap { try? CacheOrigin(read: $0) } }

    /// Whether opening the file will migrate its tables. False for a file that does not exist or cannot be read.
    package var needsMigration: Bool {
        guard let connection, let applied = try? OpeningCheck.migrations(connection), !applied.isEmpty else {
            return false
        }
        return !applied.isSuperset(of: Migrations.names)
    }

    /// Whether a newer version has migrated the file. False for a file that does not exist, is damaged or cannot be read.
    package var isOfNewerVersion: Bool {
        guard let connection, let applied = try? OpeningCheck.migrations(connection) else { return false }
        return !applied.isSubset(of: Migrations.names)
    }

    /// See `OpeningCheck.run`. A missing file passes.
    func check() throws {
        if let headerProblem { throw CacheError.damaged("\(path) is damaged: \(headerProblem)") }
        guard let connection else { return }
        try OpeningCheck(path: path, mark: mark, connection: connection).run()
    }
}

/// Lends out previews, and keeps the last one open for the next question about the same file.
package final class DatabasePreviews: Sendable {
    private let last = Mutex<DatabasePreview?>(nil)

    package init() {}

    /// See `DatabasePreview.origin`.
    package func origin(of path: String) -> CacheOrigin? { ask(path) { $0.origin } }

    /// See `DatabasePreview.needsMigration`.
    package func needsMigration(_ path: String) -> Bool { ask(path) { $0.needsMigration } }

    /// See `DatabasePreview.isOfNewerVersion`.
    package func isOfNewerVersion(_ path: String) -> Bool { ask(path) { $0.isOfNewerVersion } }

    /// Gives up the preview of this file, for the caller to open or to drop; the next question makes a new one.
    package func take(_ path: String) -> sending DatabasePreview? {
        let taken = last.withLock { last in
            let taken = last
            last = nil
            return taken
        }
        return taken?.path == path ? taken : nil
    }

    private func ask<Answer: Sendable>(_ path: String, _ question: @Sendable (DatabasePreview) -> Answer) -> Answer {
        last.withLock { last in
            if let last, last.path == path { return question(last) }
            // The old one closes first: of two connections to one file, the second could not read its mark.
            last = nil
            let fresh = DatabasePreview(path: path)
            let answer = question(fresh)
            // A missing file may be there by the next question.
            if fresh.connection != nil { last = fresh }
            return answer
        }
    }
}
