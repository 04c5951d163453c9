internal import GRDB
internal import Synchronization

/// Bounds what large answers to repeatable calls take of the disk: a small change of a large record has a large answer.
///
/// Of the oldest ones, only the key stays, so that a repeat still does nothing a second time.
final class LargeAnswers: Sendable {
    /// Shorter ones are a fixed multiple of the requests that they answer.
    static let size = 16 << 10
    /// All that are kept, in bytes. Between two looks at all of them they can take half as much again.
    private let most: Int

    /// What may be added before the next look at all answers. The first large one after a start looks.
    private let room = Mutex(0)

    init(most: Int = 128 << 20) { self.most = most }

    /// Makes room for one that is about to be stored.
    func add(_ answer: String, _ db: Database) throws {
        let count = answer.utf8.count
        guard count > Self.size else { return }
        let isOver = room.withLock { room in
            room -= count
            return room < 0
        }
        guard isOver else { return }
        try db.execute(
            sql: """
                UPDATE sync_answer SET answer = '{}' WHERE rowid IN (
                  SELECT id FROM (
                    SELECT id, sum(size) OVER (ORDER BY at DESC, id DESC) AS total FROM (
                      SELECT rowid AS id, at, length(CAST(answer AS BLOB)) AS size FROM sync_answer) WHERE size > ?)
                  WHERE total > ?)
                """, arguments: [Self.size, most])
        room.withLock { $0 = most / 2 }
    }
}
