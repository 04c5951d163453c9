internal import EntitySchema
internal import Foundation

/// The requested part of a table's records, and its order.
struct ListWindow {
    enum Order: Equatable {
        /// In the order of arrival.
        case arrival
        /// Records changed at this time or later, including deleted ones, by change time and key.
        case changes(since: Timestamp)
        /// Records changed after this version, including deleted ones, in the order of the changes.
        case versions(after: Int)
        /// All records in the reverse of that order; those without a change time come last.
        case newestFirst

        /// Whether it lists deletions too.
        var isOfChanges: Bool {
            switch self {
            case .changes, .versions: true
            case .arrival, .newestFirst: false
            }
        }
    }

    enum Start {
        case skipping(Int)
        case after(ListMark)
        /// After the record with this key.
        case afterKey(String)
    }

    var order = Order.arrival
    var start = Start.skipping(0)
    var size: Int
    /// In the orders of changes, only deletions before this time are shown; nil for all.
    var deletedBefore: Timestamp?
}

/// The position of a page's last record in a list, which stays valid while records are added and deleted.
struct ListMark {
    var changed: Int64?
    var key: String
    var position: Int
    /// The version of the table when the first page was read, where that is needed.
    var began: Int?

    init(changed: Int64?, key: String, position: Int) {
        self.changed = changed
        self.key = key
        self.position = position
    }

    /// Nil for text that `token` never returns.
    init?(token: String) {
        guard let data = Data(base64Encoded: token), let text = String(data: data, encoding: .utf8) else { return nil }
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let position = Int(parts[0]) else { return nil }
        guard parts[1].isEmpty || Int64(parts[1]) != nil, parts[2].isEmpty || Int(parts[2]) != nil else { return nil }
        self.init(changed: Int64(parts[1]), key: String(parts[3]), position: position)
        began = Int(parts[2])
    }

    /// Opaque to callers.
    var token: String {
        let numbers = [changed.map { "\($0)" }, began.map { "\($0)" }].map { $0 ?? "" }
        return Data("\(position)/\(numbers[0])/\(numbers[1])/\(key)".utf8).base64EncodedString()
    }

    /// Whether `other` comes after this one by change time, key and arrival; no time counts as the earliest.
    func isBefore(_ other: ListMark) -> Bool {
        if changed != other.changed { return (changed ?? .min) < (other.changed ?? .min) }
        return key == other.key ? position < other.position : key < other.key
    }
}

extension RandomAccessCollection {
    /// The first index for which `isBeyond` holds, as it must for all later ones; the end when it holds for none.
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
