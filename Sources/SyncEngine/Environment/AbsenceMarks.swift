internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import Synchronization

/// Remembers when the upstream first answered that a record does not exist, with nothing else to confirm it.
///
/// A replica that is behind or a gateway's cache may answer so, also to a second read right after. So the record counts as
/// gone only if it is still absent when the time to settle is over, and no list has brought another version of it since.
/// Kept in memory: a restart begins again. All times are monotonic.
final class AbsenceMarks: Sendable {
    private struct Mark {
        var first: Timestamp
        /// The hash of the version that the cache had then.
        var known: UInt64
    }

    private static let most = 1000
    private let marks = Mutex<[RecordName: Mark]>([:])

    /// Whether this version of the record was first absent at least `settle` ago; its mark is then removed. Otherwise notes the
    /// absence.
    func confirms(_ name: RecordName, known: JSONText, at now: Timestamp, after settle: Duration) -> Bool {
        let version = ContentHash.of(known.bytes)
        return marks.withLock { marks in
            let first = marks[name].flatMap { $0.known == version ? $0.first : nil } ?? now
            guard now.since(first) < settle else {
                marks[name] = nil
                return true
            }
            // A full pull decides about those that do not fit.
            if marks.count < Self.most || marks[name] != nil { marks[name] = Mark(first: first, known: version) }
            return false
        }
    }

    /// The record was found, or it cannot be said whether it is there.
    func forget(_ name: RecordName) { marks.withLock { $0[name] = nil } }

    /// Up to `limit` records to ask for again, the longest absent first.
    func due(_ limit: Int, at now: Timestamp, after settle: Duration) -> [RecordName] {
        marks.withLock { marks in
            let due = marks.filter { now.since($0.value.first) >= settle }.sorted {
                ($0.value.first, $0.key.entity, $0.key.key) < ($1.value.first, $1.key.entity, $1.key.key)
            }
            return due.prefix(limit).map(\.key)
        }
    }
}
