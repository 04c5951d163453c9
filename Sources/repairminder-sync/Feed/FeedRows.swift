import EntitySchema
import JSONText

/// Records as the parameters of a table's statements.
struct FeedRows {
    private(set) var keys: [String] = []
    private var places: [ExactText: Int] = [:]
    private var times: [Timestamp] = []
    private var records: [JSONText] = []

    var count: Int { keys.count }
    var isEmpty: Bool { keys.isEmpty }

    /// A record that is added twice counts once, as it was the second time.
    mutating func add(_ record: JSONText, of entity: FeedEntity, at time: Timestamp) {
        let key = entity.id(of: record)
        let fed = entity.fed(record)
        guard let place = places[ExactText(key)] else {
            places[ExactText(key)] = keys.count
            keys.append(key)
            times.append(time)
            records.append(fed)
            return
        }
        times[place] = time
        records[place] = fed
    }

    /// `instance, keys, times, columns…, records`.
    func parameters(instance: String, _ table: FeedTable) -> [PostgresConnection.Parameter] {
        let columns = table.columns.map { column in
            Optional(Self.list(records.map { column.parameter(of: $0) }))
        }
        return Self.removal(instance: instance, keys, at: times) + columns
            + [Self.list(records.map { PostgresJSON.bytes(of: $0) })]
    }

    /// `instance, keys, times`.
    static func removal(
        instance: String, _ keys: [String], at times: [Timestamp]
    ) -> [PostgresConnection.Parameter] {
        [PostgresText.bytes(instance), PostgresArray.of(keys), list(times.map(\.utf8))]
    }

    private static func list(_ values: [[UInt8]?]) -> [UInt8] {
        var array = PostgresArray()
        for value in values { array.append(value) }
        return array.parameter
    }
}
