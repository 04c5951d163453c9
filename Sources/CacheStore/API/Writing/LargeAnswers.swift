internal import GRDB
internal import Synchronization

/// Bounds what large answers to repeatable calls take of the disk: a small change of a large record has a large answer.
///
/// Of the oldest ones, only the key stays, so that a repeat still does nothing a second time.
final class LargeAnswers: Sendable {
    private struct State {
        /// What may be added before the next look at all answers. The first large one after a start looks.
        var room = 0
        var isLooking = false
    }

    /// Shorter ones are a fixed multiple of the requests that they answer.
    static let size = 16 << 10
    /// How many become keys in one transaction.
    private static let piece = 100
    /// All that are kept, in bytes. Between two looks at all of them they can take half as much again.
    private let most: Int
    private let state = Mutex(State())

    init(most: Int = 128 << 20) {
        self.most = most
    }

    /// Notes one that is stored.
    func add(_ answer: String) {
        let count = answer.utf8.count
        guard count > Self.size else { return }
        state.withLock { $0.room -= count }
    }

    /// Whether `tidy` has something to do.
    var isDue: Bool { state.withLock { $0.room < 0 && !$0.isLooking } }

    /// Makes room if there is too little, and none is made yet. Nothing else waits for the look at all answers, of which there can
    /// be millions. One that fails is due again.
    func tidy(
        read: @Sendable (@escaping @Sendable (Database) throws -> [Int64]) async throws -> [Int64],
        write: @Sendable (@escaping @Sendable (Database) throws -> Void) async throws -> Void
    ) async {
        let isDue = state.withLock { state in
            guard state.room < 0, !state.isLooking else { return false }
            state.isLooking = true
            return true
        }
        guard isDue else { return }
        var isDone = false
        defer {
            state.withLock { state in
                state.isLooking = false
                if isDone { state.room = most / 2 }
            }
        }
        do {
            var rest = try await read { [most] db in try Self.surplus(beyond: most, db) }[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Self.piece)
                try await write { db in try Self.forget(piece, db) }
                rest = rest.dropFirst(Self.piece)
            }
            isDone = true
        } catch {
            // The next large answer tries again.
        }
    }

    /// Those that are too many, the oldest ones.
    private static func surplus(beyond most: Int, _ db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db,
            sql: """
                SELECT id FROM (
                  SELECT id, sum(size) OVER (ORDER BY at DESC, id DESC) AS total FROM (
                    SELECT rowid AS id, at, length(CAST(answer AS BLOB)) AS size FROM sync_answer) WHERE size > ?)
                WHERE total > ?
                """, arguments: [size, most])
    }

    private static func forget(_ ids: ArraySlice<Int64>, _ db: Database) throws {
        // A row may have become another one meanwhile.
        let forgetting = try db.cachedStatement(
            sql: "UPDATE sync_answer SET answer = '{}' WHERE rowid = ? AND length(CAST(answer AS BLOB)) > \(size)")
        for id in ids { try forgetting.execute(arguments: [id]) }
    }
}
