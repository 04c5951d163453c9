package import EntitySchema
package import JSONText

/// What was asked and what came of it, oldest first.
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
        /// Nil while the request is in hand, and for good when it is never answered.
        package var status: Int?
        /// This very request changed something; a repeat under its idempotency key did not.
        package var applied = false
        /// What the fault rules did to it.
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
    /// How many are kept, at least; twice as many at most.
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Gives the entry its number and returns it.
    mutating func append(_ entry: Entry) -> Int {
        last += 1
        var entry = entry
        entry.seq = last
        entries.append(entry)
        if entries.count >= 2 * capacity { entries.removeFirst(capacity) }
        return last
    }

    /// Does nothing when the entry was cleared meanwhile.
    mutating func amend(_ seq: Int, _ change: (inout Entry) -> Void) {
        guard let first = entries.first, entries.indices.contains(seq - first.seq) else { return }
        change(&entries[seq - first.seq])
    }

    mutating func clear() {
        entries = []
    }
}
