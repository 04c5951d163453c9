internal import EntitySchema
internal import Synchronization

/// When the upstream first lacked a record, asked for it by its key, that nothing else says is gone.
///
/// A replica that is behind, or a gateway's memory, may be the reason, and it is for a second read right after. So the
/// absence counts when it is seen again after the time to settle. It is remembered by this process only: after a restart
/// the next one is the first. All times are monotonic.
final class AbsenceMarks: Sendable {
    struct Name: Hashable, Sendable {
        var entity: String
        var key: String
    }

    private static let most = 1000
    private let marks = Mutex<[Name: Timestamp]>([:])

    /// Whether the record was lacking before, at least `settle` ago; then that is forgotten. Notes the absence otherwise.
    func confirms(_ name: Name, at now: Timestamp, after settle: Duration) -> Bool {
        marks.withLock { marks in
            let first = marks[name] ?? now
            guard now.since(first) < settle else {
                marks[name] = nil
                return true
            }
            // A full pull decides about those that do not fit.
            if marks.count < Self.most { marks[name] = first }
            return false
        }
    }

    /// The record was found, or it cannot be said whether it is there.
    func forget(_ name: Name) { marks.withLock { $0[name] = nil } }

    /// Up to `limit` records to ask for again, those that were first lacking the longest ago first.
    func due(_ limit: Int, at now: Timestamp, after settle: Duration) -> [Name] {
        marks.withLock { marks in
            let due = marks.filter { now.since($0.value) >= settle }.sorted {
                ($0.value, $0.key.entity, $0.key.key) < ($1.value, $1.key.entity, $1.key.key)
            }
            return due.prefix(limit).map(\.key)
        }
    }
}
