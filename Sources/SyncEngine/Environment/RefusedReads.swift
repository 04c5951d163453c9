internal import EntitySchema
internal import JSONText
internal import Synchronization

/// Remembers which records the upstream has refused to show for so long that they are asked for only now and then.
///
/// Kept in memory: after a start, each is asked for at each pull for a while again. All times are monotonic.
final class RefusedReads: Sendable {
    private struct Entry {
        /// Of the refusals without an answer between them.
        var since: Timestamp
        var askedAt: Timestamp
        var message: String
    }

    private let entries = Mutex<[RecordName: Entry]>([:])

    /// How long a record is refused before it is asked for less often, since a gateway may refuse everything for a while;
    /// then the time between two reads.
    private static let patience = Duration.seconds(3600)
    private static let most = 10_000
    /// Of a message, in bytes.
    private static let longest = 1000

    /// Why the record need not be asked for now; nil if it must be.
    func reason(_ name: RecordName, at now: Timestamp) -> String? {
        guard let entry = entries.withLock({ $0[name] }), now.since(entry.since) >= Self.patience,
            (.zero..<Self.patience).contains(now.since(entry.askedAt))
        else { return nil }
        return entry.message
    }

    func note(_ name: RecordName, _ message: String, at now: Timestamp) {
        let message = message.cut(toBytes: Self.longest)
        entries.withLock { entries in
            guard entries[name] != nil || entries.count < Self.most else { return }
            entries[name] = Entry(since: entries[name]?.since ?? now, askedAt: now, message: message)
        }
    }

    func forget(_ name: RecordName) { entries.withLock { $0[name] = nil } }
}
