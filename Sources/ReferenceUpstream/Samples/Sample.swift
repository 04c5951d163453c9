internal import EntitySchema
internal import JSONText

/// The sample records of all entities so far.
struct Sample {
    private(set) var entities: [String: [SampleRecord]] = [:]
    private var positions: [String: [String: Int]] = [:]

    subscript(entity: String, key: String) -> SampleRecord? {
        positions[entity]?[key].flatMap { entities[entity]?[$0] }
    }

    mutating func put(_ records: [SampleRecord], of entity: String) {
        entities[entity] = records
        positions[entity] = Dictionary(uniqueKeysWithValues: records.enumerated().map { ($1.key, $0) })
    }

    mutating func change(_ entity: String, _ change: (inout SampleRecord) -> Void) {
        entities[entity] = entities[entity]?.map { record in
            var record = record
            change(&record)
            return record
        }
    }
}

/// One sample record, and what other records need to know about it.
struct SampleRecord {
    var key: String
    /// Milliseconds since 1970.
    var born = Int64.min
    /// Field → key.
    var references: [String: String] = [:]
    /// Entity → key of this record's ancestor of that entity, at any level.
    var ancestors: [String: String] = [:]
    /// The key as in the record, a text or a number.
    var identity = JSONText.null
    var json = JSONText.null
}
