import JSONText

/// The table of an entity: its columns and which of them are new.
struct FeedTable: Equatable {
    struct Column: Equatable {
        var name: String
        /// The field of the schema that it is for.
        var field: String
        var source: String?
        var type: FeedType

        /// The value under the field's own name or, when there is none, at its source.
        func parameter(of record: JSONText) -> [UInt8]? {
            type.parameter(record[field] ?? source.flatMap { record.at(path: $0) })
        }
    }

    var entity: FeedEntity
    var name: String
    /// The column with the record's key.
    var key: String
    /// Whether each version of a record has a row.
    var keepsHistory: Bool
    var columns: [Column]

    /// Names of the feed's own columns, and of those that every table of PostgreSQL has.
    static let reserved: Set<String> = [
        "instance", "record", "version", "valid_from", "valid_to",
        "tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "oid",
    ]

    /// The table of an entity that has none yet.
    static func new(_ entity: FeedEntity, keepsHistory: Bool) -> FeedTable {
        let key = freeName(for: entity.key, type: nil, taken: reserved)
        let name = PostgresText.start(of: entity.name, bytes: PostgresText.longestName)
        return FeedTable(entity: entity, name: name, key: key, keepsHistory: keepsHistory, columns: [])
    }

    /// Takes over the columns that the table has, and adds those that the entity needs; returns the added ones.
    ///
    /// A field of another type than before gets one more column; the old one still gets the values that fit. Columns of fields
    /// that the schema no longer has stay, and have what the record has. `taken` are the names of all columns.
    mutating func complete(known: [Column], taken: Set<String>) -> [Column] {
        var taken = taken.union(Self.reserved).union([key])
        var added: [Column] = []
        columns = []
        for field in entity.fields {
            let old = known.filter { $0.field == field.name }
            columns += old.map { Column(name: $0.name, field: field.name, source: field.source, type: $0.type) }
            guard !old.contains(where: { $0.type == field.type }), columns.count < Self.mostColumns else { continue }
            let name = Self.freeName(for: field.name, type: old.isEmpty ? nil : field.type, taken: taken)
            let column = Column(name: name, field: field.name, source: field.source, type: field.type)
            taken.insert(name)
            columns.append(column)
            added.append(column)
        }
        let named = Set(entity.fields.map(\.name))
        columns += known.filter { !named.contains($0.field) }
        return added
    }

    /// PostgreSQL takes 1600. Further fields are only in the record.
    private static let mostColumns = 1500

    /// The field's name if it is free, else with the type and a number after it.
    private static func freeName(for field: String, type: FeedType?, taken: Set<String>) -> String {
        func name(_ suffix: String) -> String {
            PostgresText.start(of: field, bytes: PostgresText.longestName - suffix.utf8.count) + suffix
        }
        if type == nil, !taken.contains(name("")) { return name("") }
        let suffix = "_\(type?.rawValue ?? "field")"
        if !taken.contains(name(suffix)) { return name(suffix) }
        var number = 2
        while taken.contains(name("\(suffix)_\(number)")) { number += 1 }
        return name("\(suffix)_\(number)")
    }
}
