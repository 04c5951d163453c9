internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// Knows when the write-ahead log is long, and copies it into the file.
///
/// It replaces SQLite's automatic checkpoints, which run inside the commit: callers would wait for them. Readers also hold
/// the snapshot before that commit, so it could never be copied at once, and the log would grow without end. Only the writer
/// calls this, outside of transactions.
struct WriteAheadLog: ~Copyable, Sendable {
    /// In pages: 32 MiB. SQLite's own limit of 1,000 would copy the same pages more often: a first pull puts keys all over their index.
    private static let limit = 8000
    /// In pages: 256 MiB.
    static let longest = 65_536

    private let longest: Int
    /// At least as many pages as the log has, if this connection alone writes.
    private let length = Atomic(0)
    private let held = Atomic(false)

    init(longest: Int) { self.longest = longest }

    /// Whether it is longer than it should become, and snapshots keep it from being copied: those of reads that take long, or of
    /// many that overlap.
    var isHeld: Bool { held.load(ordering: .relaxed) }

    var isLong: Bool { length.load(ordering: .relaxed) >= Self.limit }

    /// Counts the pages that were written since the last call.
    func noteCommit(of db: Database) {
        var (pages, most): (Int32, Int32) = (0, 0)
        sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &most, 1)
        length.add(Int(pages), ordering: .relaxed)
    }

    /// Copies what no reader's snapshot holds back, and never waits. What could not be copied, as on a full disk, is due
    /// again after the next commit.
    ///
    /// Once all is copied and no snapshot of the log is held, the next commit overwrites it from its beginning. Only another
    /// call shows whether it did, so that is due as well.
    func checkpoint(_ db: Database) {
        // Nil once it is closed.
        guard let connection = db.sqliteConnection else { return }
        var (pages, copied): (Int32, Int32) = (-1, -1)
        sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied)
        // Without room for it, no gap between reads helps.
        guard pages >= 0 else { return held.store(false, ordering: .relaxed) }
        length.store(Int(pages), ordering: .relaxed)
        held.store(pages >= longest && copied < pages, ordering: .relaxed)
    }
}
