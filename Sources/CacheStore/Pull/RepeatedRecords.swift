internal import JSONText

/// Which records of a page come again further on in it: the last one counts. Lists that join tables show a record once for
/// each row, and lists of changes once for each change.
struct RepeatedRecords {
    private let records: [IncomingPage.Record]
    private let isPartial: Bool
    /// The last place of each key; read only when a record differs from the cached one.
    private var places: [ExactText: Int] = [:]

    /// `isPartial`: each shows the members of one change alone, so that all count.
    init(_ records: [IncomingPage.Record], isPartial: Bool) {
        self.records = records
        self.isPartial = isPartial
    }

    mutating func isFollowed(_ key: String, at index: Int) -> Bool {
        guard !isPartial else { return false }
        if places.isEmpty {
            for (index, record) in records.enumerated() {
                if let key = record.key { places[key.exact] = index }
            }
        }
        return places[key.exact] != index
    }
}
