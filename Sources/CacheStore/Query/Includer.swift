internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
internal import SQLiteStore

/// Includes related records in records: one query for each relation, however many records there are.
///
/// They go into a separate member, `_include`, under the relation's name: the record or null for a to-one relation,
/// else a list in the related entity's own order. So they never replace a member that the upstream sent.
struct Includer {
    /// For one record; `_next` holds the cursor that continues the relation's own list.
    static let mostChildren = 1000
    /// In one response, counting each occurrence.
    static let mostIncluded = 10_000
    /// The most bytes of records that one record includes.
    private static let mostBytes = 32 << 20
    /// The same of all records together, on a thread that others wait for.
    private static let quickBytes = 1 << 20

    /// A record being written, without its closing brace.
    struct Open {
        var bytes: [UInt8]
        var ownLength: Int
        var key: String
        /// The key that each inclusion refers to, in the order of the inclusions; nil for to-many relations.
        var references: [String?]
    }

    /// The included records of one relation in one record.
    struct Part {
        var bytes: [UInt8]
        var count = 0
        var next: String?
    }

    let connection: ReadConnection
    /// Whether the included records have `_labels`.
    let labels: Bool
    let context: FilterContext
    /// Others wait for this thread, so `closed` throws `ReadTakesLong` where much is included.
    let isQuick: Bool
    /// The most bytes of included records, of all relations together.
    var limit = Includer.mostBytes

    private func limited(to bytes: Int) -> Includer {
        var includer = self
        includer.limit = bytes
        return includer
    }

    private var schema: EntitySchema { context.schema }
    private var sealers: RecordSealers { context.sealers }

    /// The columns that `open` needs for a record with these inclusions.
    static func columns(for include: [Inclusion], _ table: EntityTable) -> [String] {
        ["_key"]
            + include.map { inclusion in
                if case .one(let field) = inclusion.relation.kind { table.sql(for: field) } else { "NULL" }
            }
    }

    /// `column` is the first of those columns.
    static func open(
        _ statement: OpaquePointer, _ include: [Inclusion], at column: Int32, extras: RecordExtras
    ) -> Open {
        var (bytes, ownLength) = RecordBytes.one(statement, extras)
        let references = include.indices.map { index -> String? in
            let column = column + 1 + Int32(index)
            return sqlite3_column_type(statement, column) == SQLITE_NULL
                ? nil : RecordBytes.text(column, of: statement)
        }
        // `dropLast` would copy them one by one.
        bytes.removeLast()
        return Open(
            bytes: bytes, ownLength: ownLength, key: RecordBytes.text(column, of: statement),
            references: references)
    }

    /// Thrown when the included records take more bytes than the limit.
    private struct TooLarge: Error {}

    /// Adds the included records and closes the records: as many from the first as include no more than a page may have,
    /// and at least one.
    func closed(_ records: [Open], including include: [Inclusion]) throws -> [Open] {
        var count = records.count
        while true {
            var closed = Array(records.prefix(count))
            let most = count > 1 ? ListPage.mostBytes : Self.mostBytes
            do {
                _ = try limited(to: isQuick ? Self.quickBytes : most).close(&closed, including: include)
                return closed
            } catch is TooLarge {
                guard !isQuick else { throw ReadTakesLong() }
                guard count > 1 else { throw Self.tooLarge }
                count /= 2
            }
        }
    }

    /// Returns, for each record, how many it includes.
    private func close(_ records: inout [Open], including include: [Inclusion]) throws -> [Int] {
        var counts = Array(repeating: 0, count: records.count)
        var total = 0
        var size = 0
        let parts = try parts(of: include, in: records)
        for index in records.indices {
            var next: [(key: String, value: JSONText)] = []
            for (position, inclusion) in include.enumerated() {
                let (part, isMany) = parts[position]
                let key = isMany ? records[index].key : records[index].references[position]
                let found = key.flatMap { part[$0.exact] } ?? Part(bytes: Array((isMany ? "[]" : "null").utf8))
                records[index].bytes += Array(
                    "\(position == 0 ? ",\"_include\":{" : ",")\"\(inclusion.relation.name)\":".utf8)
                records[index].bytes += found.bytes
                counts[index] += found.count
                size += found.bytes.count
                guard size <= limit else { throw TooLarge() }
                if let cursor = found.next { next.append((inclusion.relation.name, .string(cursor))) }
            }
            if !next.isEmpty { records[index].bytes += Array(",\"_next\":\(JSONText.object(members: next).text)".utf8) }
            records[index].bytes += include.isEmpty ? [UInt8(ascii: "}")] : Array("}}".utf8)
            total += counts[index]
            guard total <= Self.mostIncluded else { throw Self.tooMany }
        }
        return counts
    }

    private static var tooMany: CacheError {
        .badQuery(
            field: "include",
            message: "this would include more than \(mostIncluded) records; request fewer at once with limit")
    }

    private static var tooLarge: CacheError {
        .badQuery(
            field: "include",
            message: "one record would include more than \(mostBytes >> 20) MiB; include fewer relations at once")
    }

    // MARK: One relation

    private func extras(of table: EntityTable) -> RecordExtras {
        RecordExtras(table, sealers).with(labels: labels, of: table.entity)
    }

    /// Each record of a part is shown at least once, so what the parts before it have is taken from the limit.
    private func parts(
        of include: [Inclusion], in records: [Open]
    ) throws -> [(parts: [ExactText: Part], isMany: Bool)] {
        var left = self
        return try include.indices.map { index in
            let part = try left.part(include[index], of: records, reference: index)
            left.limit -= part.parts.values.reduce(0) { $0 + $1.bytes.count }
            return part
        }
    }

    private func part(
        _ inclusion: Inclusion, of records: [Open], reference: Int
    ) throws -> (parts: [ExactText: Part], isMany: Bool) {
        guard let other = schema[inclusion.relation.entity] else { return ([:], false) }
        let table = EntityTable(entity: other)
        switch inclusion.relation.kind {
        case .one: return (try ones(inclusion, table, keys: records.compactMap { $0.references[reference] }), false)
        case .many(let field, _): return (try many(inclusion, table, field, keys: records.map(\.key)), true)
        }
    }

    private func ones(_ inclusion: Inclusion, _ table: EntityTable, keys: [String]) throws -> [ExactText: Part] {
        let columns = Self.columns(for: inclusion.nested, table).joined(separator: ", ")
        let sql = """
            SELECT \(RecordSelect(table: table).columns), \(columns) FROM \(table.name)
            WHERE _key IN (SELECT value FROM json_each(?)) AND _deleted = 0
            """
        let extras = extras(of: table)
        let first = RecordSelect.end(table)
        var found: [Open] = []
        var size = 0
        try connection.query(sql, [Self.list(keys)]) { statement in
            let record = Self.open(statement, inclusion.nested, at: first, extras: extras)
            size += record.bytes.count
            found.append(record)
            return size <= limit
        }
        guard size <= limit else { throw TooLarge() }
        let counts = try limited(to: limit - size).close(&found, including: inclusion.nested)
        return Dictionary(
            uniqueKeysWithValues: zip(found, counts).map { ($0.key.exact, Part(bytes: $0.bytes, count: $1 + 1)) })
    }

    private func many(
        _ inclusion: Inclusion, _ table: EntityTable, _ field: String, keys: [String]
    ) throws -> [ExactText: Part] {
        let order = ListOrder(table)
        let sql = Self.childrenSQL(table, by: table.sql(for: field), order, inclusion.nested)
        let first = RecordSelect.end(table) + Int32(order.terms.count)
        let extras = extras(of: table)
        var shown = IncludedChildren()
        var found: [Open] = []
        try connection.query(sql, [Self.list(keys), (Self.mostIncluded + keys.count + 1).databaseValue]) { statement in
            let parent = RecordBytes.text(first, of: statement)
            let number = Int(sqlite3_column_int64(statement, first + 1))
            guard shown.takes(number, of: parent.exact) else { return keys.count > 1 }
            let record = Self.open(statement, inclusion.nested, at: first + 2, extras: extras)
            found.append(record)
            shown.add(
                IncludedChildren.Row(parent: parent.exact, number: number, position: order.position(of: statement)),
                bytes: record.bytes.count)
            return shown.size <= limit
        }
        guard shown.size <= limit else { throw TooLarge() }
        guard shown.read <= Self.mostIncluded + keys.count else { throw Self.tooMany }
        let counts = try limited(to: limit - shown.size).close(&found, including: inclusion.nested)
        return try shown.lists(of: found, including: counts) { parent, position in
            let filter = FilterCondition(field: field, comparison: .equal, values: [parent])
            let list = try ListStatement(
                table: table, query: ListQuery(entity: table.entity.name, filters: [filter]), context: context)
            return list.cursor(after: position)
        }
    }

    /// The first records of each parent in ?1, ?2 in all. The index of the field also has the order, so only the records
    /// shown are read.
    private static func childrenSQL(
        _ table: EntityTable, by column: String, _ order: ListOrder, _ nested: [Inclusion]
    ) -> String {
        let columns = columns(for: nested, table).joined(separator: ", ")
        return """
            WITH child AS (
              SELECT _pk AS _child, \(column) AS _parent,
                row_number() OVER (PARTITION BY \(column) ORDER BY \(order.sql)) AS _n
              FROM \(table.name) WHERE \(column) IN (SELECT value FROM json_each(?1)) AND _deleted = 0)
            SELECT \(RecordSelect(table: table).columns)\(order.extraColumns), _parent, _n, \(columns)
            FROM child CROSS JOIN \(table.name) ON _pk = _child WHERE _n <= \(mostChildren + 1) LIMIT ?2
            """
    }

    private static func list(_ keys: [String]) -> DatabaseValue {
        JSONText.array(of: keys.exactSet.sorted().map(\.text)).text.databaseValue
    }
}
