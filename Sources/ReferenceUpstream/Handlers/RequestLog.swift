package import EntitySchema
package import JSONText

/// The requests and their outcomes, oldest first.
package struct RequestLog: Sendable {
    package struct Entry: Sendable, Equatable {
        /// From 1, in the order of arrival.
        package var seq: Int
        package var time: Timestamp
        package var method: String
        /// As sent, percent-encoded.
        package var path: String
        package var query: String?
        package var idempotencyKey: String?
        /// Nil while the request is in progress, and when it never gets a response.
        package var status: Int?
        /// This request itself changed something; a repeat under its idempotency key does not.
        package var applied = false
        /// What of the body was applied, if not all of it: those elements of a batch, one a line.
        package var appliedText: String?
        /// The faults that were injected.
        package var fault: String?

        package var json: JSONText {
            .object([
                "seq": .integer(seq), "time": .string(time.description), "method": .string(method),
                "path": .string(path), "query": .string(query), "idempotency_key": .string(idempotencyKey),
                "status": .integer(status), "applied": .boolean(applied), "fault": .string(fault),
            ])
        }
    }

    package private(set) var entries: [Entry] = []
    private var last = 0
    /// At least this many are kept, and at most twice as many.
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Numbers the entry and returns the number.
    mutating func append(_ entry: Entry) -> Int {
        last += 1
        var entry = entry
        entry.seq = last
        entries.append(entry)
        if entries.count >= 2 * capacity { entries.removeFirst(capacity) }
        return last
    }

    /// Does nothing when the entry has been cleared.
    mutating func amend(_ seq: Int, _ change: (inout Entry) -> Void) {
        guard let first = entries.first, entries.indices.contains(seq - first.seq) else { return }
        change(&entries[seq - first.seq])
    }

    mutating func clear() { entries = [] }
}
