internal import EntitySchema
internal import Foundation

/// Which part of a table's records is wanted, and in which order.
struct ListWindow {
    enum Order: Equatable {
        /// As they came.
        case arrival
        /// What changed at this time or later, by time of change and key, deleted records among them.
        case changes(since: Timestamp)
        /// The reverse of that, of all records; those without a time of change come last.
        case newestFirst
    }

    enum Start {
        case skipping(Int)
        case after(ListMark)
    }

    var order = Order.arrival
    var start = Start.skipping(0)
    var size: Int
}

/// Where a list was left off: what the last record's place in it was, which stays right while records come and go.
struct ListMark {
    var changed: Int64?
    var key: String
    var position: Int

    init(changed: Int64?, key: String, position: Int) {
        self.changed = changed
        self.key = key
        self.position = position
    }

    /// Nil for what `token` never gave.
    init?(token: String) {
        guard let data = Data(base64Encoded: token), let text = String(data: data, encoding: .utf8) else { return nil }
        let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let position = Int(parts[0]) else { return nil }
        guard parts[1].isEmpty || Int64(parts[1]) != nil else { return nil }
        self.init(changed: Int64(parts[1]), key: String(parts[2]), position: position)
    }

    /// Opaque to callers.
    var token: String {
        Data("\(position)/\(changed.map { "\($0)" } ?? "")/\(key)".utf8).base64EncodedString()
    }

    /// Whether `other` comes after this one by time of change, key and arrival; no time is before all times.
    func isBefore(_ other: ListMark) -> Bool {
        if changed != other.changed { return (changed ?? .min) < (other.changed ?? .min) }
        return key == other.key ? position < other.position : key < other.key
    }
}

extension RandomAccessCollection {
    /// The first for which `isBeyond` holds, as it does for all after it; the end when it holds for none.
    func partitioningIndex(where isBeyond: (Element) -> Bool) -> Index {
        var low = startIndex
        var count = count
        while count > 0 {
            let half = count / 2
            let middle = index(low, offsetBy: half)
            if isBeyond(self[middle]) {
                count = half
            } else {
                low = index(after: middle)
                count -= half + 1
            }
        }
        return low
    }
}
