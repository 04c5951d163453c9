import EntitySchema
import Synchronization

/// A local write as its caller sees it.
struct LocalWrite: Sendable {
    enum Answer: String, Sendable {
        /// Not answered: unknown whether it was made.
        case none
        case made, refused
    }

    var number: Int
    var daemon: Int
    var entity: String
    /// The key that the caller used, or received for a creation.
    var key: String?
    var operation: Operation
    /// The key that the referenced record had at the time.
    var parent: String?
    /// Field → value, unique to this write.
    var values: [String: String]
    var answer = Answer.none
    /// When it was made, by the server's clock.
    var madeAt: Timestamp?
    /// The largest error of the daemon's estimate of that time; nil without an estimate.
    var uncertainty: Duration?
}

/// All local writes of a simulation, with the answers to their callers.
final class Ledger: Sendable {
    private let writes = Mutex<[LocalWrite]>([])

    var all: [LocalWrite] { writes.withLock { $0 } }

    /// Values look like `w12.name`: each one identifies its write.
    func begin(
        daemon: Int, _ entity: String, _ key: String?, _ operation: Operation, parent: String? = nil, fields: [String]
    ) -> LocalWrite {
        writes.withLock { writes in
            let number = writes.count + 1
            let values = Dictionary(uniqueKeysWithValues: fields.map { ($0, "w\(number).\($0)") })
            let write = LocalWrite(
                number: number, daemon: daemon, entity: entity, key: key, operation: operation, parent: parent,
                values: values)
            writes.append(write)
            return write
        }
    }

    /// Records when a write is handed to the store.
    func make(_ number: Int, at time: Timestamp, uncertainty: Duration?) {
        writes.withLock { writes in
            writes[number - 1].madeAt = time
            writes[number - 1].uncertainty = uncertainty
        }
    }

    func answer(_ number: Int, _ answer: LocalWrite.Answer, key: String? = nil) {
        writes.withLock { writes in
            writes[number - 1].answer = answer
            if let key { writes[number - 1].key = key }
        }
    }

    /// The write that a marked value came from; nil for a value from upstream.
    static func number(of marker: String) -> Int? {
        guard marker.hasPrefix("w") else { return nil }
        return marker.dropFirst().split(separator: ".").first.flatMap { Int($0) }
    }
}
