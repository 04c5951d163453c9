internal import EntitySchema
internal import GRDB
internal import GRDBSQLite
internal import JSONText
package import SQLiteStore
internal import Synchronization

/// Records as readers see them, as bytes ready for the socket.
extension CacheStore {
    /// One record as JSON without secret fields; nil when it is not cached. A former key is followed.
    package func record(_ entity: String, key: String) throws -> [UInt8]? { try shown(entity, key: key)?.bytes }

    /// The same with its version, and the labels of enum values if they are asked for. `keepsVersion`: for `shownVersion`,
    /// of a record without labels.
    package func shown(
        _ entity: String, key: String, labels: Bool = false, keepsVersion: Bool = false
    ) throws -> ShownRecord? {
        let reading = try reading(entity)
        let extras = reading.extras.with(labels: labels, of: reading.table.entity)
        if let found = try record(reading.one, key, extras, keepsVersion && !labels) { return found }
        return try currentKey(of: key, entity).flatMap { try record(reading.one, $0, extras) }
    }

    /// The version of a record that a reader who keeps versions was shown since the last commit; nil if it is not known without
    /// reading the record.
    package func shownVersion(of entity: String, key: String) throws -> RecordVersion? {
        let reading = try reading(entity)
        return try readers.read { $0.kept(reading.one) { ShownVersions() }[key] }
    }

    /// The same with related records. What takes long, or is large, is read on another thread.
    package func anyShown(
        _ entity: String, key: String, include: [Inclusion], labels: Bool = false, for caller: ReadCaller = .daemon
    ) async throws -> ShownRecord? {
        guard !include.isEmpty else { return try shown(entity, key: key, labels: labels) }
        let reading = try reading(entity)
        let extras = reading.extras.with(labels: labels, of: reading.table.entity)
        if let found = try await expanded(entity, key, include, extras, caller) { return found }
        guard let current = try currentKey(of: key, entity) else { return nil }
        return try await expanded(entity, current, include, extras, caller)
    }

    /// That of a record which had this key formerly; nil if none had.
    private func currentKey(of key: String, _ entity: String) throws -> String? {
        let current = try read { db in try KeyAlias.current(of: key, entity, db) }
        return current.exact == key.exact ? nil : current
    }

    /// Throws if there is no such entity.
    func reading(_ entity: String) throws(CacheError) -> FixedQueries.Reading {
        guard let reading = queries.records[entity] else { throw .notFound("no entity \(entity)") }
        return reading
    }

    private func record(
        _ sql: NumberedSQL, _ key: String, _ extras: RecordExtras, _ keepsVersion: Bool = false
    ) throws -> ShownRecord? {
        try readers.read { connection in
            var output: ShownRecord?
            try connection.query(sql, [key.databaseValue]) { statement in
                output = ShownRecord(reading: statement, extras)
                return false
            }
            if keepsVersion, let output { connection.kept(sql) { ShownVersions() }[key] = output.version }
            return output
        }
    }

    /// While it is the same, so is everything that is read; nil while a commit is under way.
    package var moment: UInt64? { readers.settledMoment }

    /// A list that can be read again and again. `opening` is written before its array, so that the caller need not copy a large
    /// page into its answer. Throws for a query that the schema does not allow.
    package func prepared(
        _ query: ListQuery, include: [Inclusion] = [], after opening: StaticString = ""
    ) throws -> PreparedList {
        let reading = try reading(query.entity)
        let table = reading.table
        let extraColumns = include.isEmpty ? [] : Includer.columns(for: include, table)
        let statement = try QueryMistakes.checked(query, parts: query.parts) { (query: ListQuery) throws(CacheError) in
            try ListStatement(
                table: table, query: query, context: filterContext, common: reading.lists,
                extraColumns: extraColumns)
        }
        let extras = reading.extras.with(labels: query.labels, of: table.entity)
        let included = Inclusion.entities(of: include).compactMap { queries.records[$0]?.large }
        return PreparedList(
            query: query, include: include, statement: statement, extras: extras, large: [reading.large] + included,
            opening: opening)
    }

    /// The records of a list in order, as a JSON array, and the cursor of the next page.
    package func list(_ query: ListQuery, include: [Inclusion] = []) throws -> ListPage {
        let list = try prepared(query, include: include)
        return try readers.read { try self.page(of: list, $0) }
    }

    /// The same for a thread that others wait for: nil for a list that takes long, looks into texts, or may have large
    /// records. `thousands` is how many thousands of SQLite's own instructions it may take.
    package func quickList(_ list: PreparedList, thousands: Int = 50) throws -> ListPage? {
        // Of these, a single instruction can take milliseconds.
        guard !list.statement.readsWholeValues, !list.large.contains(where: \.isRaised) else { return nil }
        return try quickly(thousands: thousands) { try self.page(of: list, isQuick: true, $0) }
    }

    /// The same, where a list that takes long is read on another thread. `isLong`: `quickList` has found that it is.
    package func anyList(
        _ list: PreparedList, isLong: Bool = false, for caller: ReadCaller = .daemon
    ) async throws -> ListPage {
        if !isLong, let page = try quickList(list) { return page }
        return try await longReads.read(for: caller) { try self.page(of: list, $0) }
    }

    /// Runs reads that may take long, such as those of a long queue, on another thread.
    package func away<Result: Sendable>(
        for caller: ReadCaller = .daemon, _ body: @escaping @Sendable (CacheStore) throws -> Result
    ) async throws -> Result {
        try await longReads.run(for: caller) { try body(self) }
    }

    /// Runs a read that others wait for. Nil if it takes more of SQLite's own instructions, or as much time as many of them take:
    /// one that searches or copies a large value takes far longer than others.
    func quickly<Result: Sendable>(
        thousands: Int = 50, _ body: @Sendable (ReadConnection) throws -> Result
    ) throws -> Result? {
        let taken = Counter()
        let end = uptime() + Self.longestThousand * thousands
        do {
            return try readers.read(while: { [uptime] in taken.next() <= thousands && uptime() < end }, body)
        } catch is ReadTakesLong {
            return nil
        }
    }

    /// Ten times what a thousand instructions usually take.
    private static let longestThousand = Duration.microseconds(200)

    /// `isQuick`: others wait for the thread.
    private func page(
        of prepared: PreparedList, isQuick: Bool = false, _ connection: ReadConnection
    ) throws -> ListPage {
        let (list, query) = (prepared.statement, prepared.query)
        var page = ListPage(records: [])
        let isPlain = prepared.include.isEmpty
        let walk = isPlain && query.search != nil ? list.walk : nil
        func fill() throws {
            page =
                try isPlain
                ? Self.page(of: prepared, walk, connection) : expandedPage(prepared, isQuick: isQuick, connection)
            if query.count { page.total = try Self.total(list, connection) }
        }
        let isOne = !query.count && isPlain && list.isOneStatement && walk == nil
        // Asked first: the load may end while the list is read.
        let isLoaded = try isLoaded(query.entity, connection)
        if isOne { try fill() } else { try connection.snapshot(fill) }
        page.unindexed = list.unindexed
        page.isComplete = isLoaded
        return page
    }

    /// What is wrong with the parts of a query, each by itself.
    package func mistakes(in query: ListQuery) throws -> [FieldProblem] {
        let table = try table(query.entity)
        return QueryMistakes.found(in: query.parts) { (part: ListQuery) throws(CacheError) in
            try ListStatement(table: table, query: part, context: filterContext)
        }
    }

    private static func page(
        of prepared: PreparedList, _ walk: SearchWalk?, _ connection: ReadConnection
    ) throws -> ListPage {
        var end = PageEnd(of: prepared.statement, prepared.query)
        var count = 0
        let bytes = try OutputBuffer.bytes(capacity: 800 * prepared.query.limit) { output in
            var records = RecordBytes(output, prepared.extras)
            output.append(prepared.opening)
            output.append(UInt8(ascii: "["))
            try prepared.statement.read(connection, by: walk) { statement in
                guard end.takesNext() else { return false }
                if count > 0 { output.append(UInt8(ascii: ",")) }
                records.appendRecord(statement)
                count += 1
                end.note(count, bytes: output.count, statement)
                return true
            }
            output.append(UInt8(ascii: "]"))
        }
        return ListPage(records: bytes, count: count, next: end.next)
    }

    private static func total(_ list: ListStatement, _ connection: ReadConnection) throws -> Int {
        let (sql, arguments) = list.count
        return try connection.first(sql, arguments) { Int(sqlite3_column_int64($0, 0)) } ?? 0
    }

    /// Records per entity, including those whose deletion is queued.
    package func rowCounts() throws -> [String: Int] {
        try read { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(sql: "SELECT substr(name, 6), count FROM sync_tally WHERE name GLOB 'rows:*'"))
            // SQLite compares names by bytes, and Swift takes some that differ for equal.
            return Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first }
        }
    }

    package func rowCount(of entity: String) throws -> Int { try rowCounts()[entity] ?? 0 }
}

/// Counts what is asked on one thread.
private final class Counter: Sendable {
    private let count = Atomic(0)
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// Records with their related records, in one snapshot.
extension CacheStore {
    private func expanded(
        _ entity: String, _ key: String, _ include: [Inclusion], _ extras: RecordExtras, _ caller: ReadCaller
    ) async throws -> ShownRecord? {
        let table = try table(entity)
        let found = try quickly { try self.expanded(table, key, include, extras, isQuick: true, $0) }
        if let found { return found }
        return try await longReads.read(for: caller) {
            try self.expanded(table, key, include, extras, isQuick: false, $0)
        }
    }

    private func expanded(
        _ table: EntityTable, _ key: String, _ include: [Inclusion], _ extras: RecordExtras, isQuick: Bool,
        _ connection: ReadConnection
    ) throws -> ShownRecord? {
        let columns = Includer.columns(for: include, table).joined(separator: ", ")
        let sql = """
            SELECT \(RecordSelect(table: table).columns), \(columns) FROM \(table.name) WHERE _key = ? AND _deleted = 0
            """
        var records: [Includer.Open] = []
        try connection.snapshot {
            try connection.query(sql, [key.databaseValue]) { statement in
                records.append(Includer.open(statement, include, at: RecordSelect.end(table), extras: extras))
                return false
            }
            records = try includer(extras, isQuick: isQuick, connection).closed(records, including: include)
        }
        return records.first.map { record in
            ShownRecord(bytes: record.bytes, version: RecordVersion(of: record.bytes, ownLength: record.ownLength))
        }
    }

    private func includer(_ extras: RecordExtras, isQuick: Bool, _ connection: ReadConnection) -> Includer {
        Includer(connection: connection, labels: extras.labels != nil, context: filterContext, isQuick: isQuick)
    }

    /// Call this in a snapshot.
    private func expandedPage(
        _ prepared: PreparedList, isQuick: Bool, _ connection: ReadConnection
    ) throws -> ListPage {
        let (list, include, extras) = (prepared.statement, prepared.include, prepared.extras)
        var records: [Includer.Open] = []
        var positions: [[DatabaseValue]] = []
        var end = PageEnd(of: list, prepared.query)
        var size = 0
        let first = RecordSelect.end(list.order.table) + Int32(list.order.terms.count)
        try list.read(connection) { statement in
            guard end.takesNext() else { return false }
            let record = Includer.open(statement, include, at: first, extras: extras)
            records.append(record)
            positions.append(list.order.position(of: statement))
            size += record.bytes.count
            end.note(records.count, bytes: size, statement)
            return true
        }
        let closed = try includer(extras, isQuick: isQuick, connection).closed(records, including: include)
        let next = closed.count < records.count ? list.cursor(after: positions[closed.count - 1]) : end.next
        let length = closed.reduce(prepared.opening.utf8CodeUnitCount + 2) { $0 + $1.bytes.count + 1 }
        let bytes = OutputBuffer.bytes(capacity: length) { output in
            output.append(prepared.opening)
            output.append(UInt8(ascii: "["))
            for (index, record) in closed.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                output.append(record.bytes)
            }
            output.append(UInt8(ascii: "]"))
        }
        return ListPage(records: bytes, count: closed.count, next: next)
    }
}
