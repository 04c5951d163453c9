internal import EntitySchema
internal import JSONText

/// Which versions of a record count that a page shows several times: the one with the latest time, else the last. Lists that join
/// tables show a record once for each row, and lists of changes once for each change, in either order.
struct RepeatedRecords {
    private let records: [IncomingPage.Record]
    private let isPartial: Bool
    private let time: (IncomingPage.Record) -> Timestamp?
    /// Where the version that counts is, by the key; found only once a record differs from the cached one.
    private var places: [ExactText: Int] = [:]

    /// `isPartial`: each shows the members of one change alone, so that all count. `time`: when a version was changed or deleted;
    /// nil if that is not known well enough.
    init(
        _ records: [IncomingPage.Record], isPartial: Bool, time: @escaping (IncomingPage.Record) -> Timestamp?
    ) {
        self.records = records
        self.isPartial = isPartial
        self.time = time
    }

    /// Whether another version of the record on the page counts instead of this one.
    mutating func isReplaced(_ key: String, at index: Int) -> Bool {
        guard !isPartial else { return false }
        if places.isEmpty { findPlaces() }
        return places[key.exact] != index
    }

    private mutating func findPlaces() {
        for (index, record) in records.enumerated() {
            guard let key = record.key?.exact else { continue }
            if let before = places[key], isOlder(record, than: records[before]) { continue }
            places[key] = index
        }
    }

    private func isOlder(_ record: IncomingPage.Record, than other: IncomingPage.Record) -> Bool {
        guard let own = time(record), let later = time(other) else { return false }
        return own.isSurely(before: later)
    }
}
