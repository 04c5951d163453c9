internal import EntitySchema
internal import GRDB
internal import JSONText
internal import SQLiteStore

/// Computes the fields of one entity that aggregate one of its relations, for many records in one statement.
///
/// If the server sends the field, its value is the base: server value + (result over local children − result over the
/// server's versions of them). Only children that readers see differently from what the server said are read for that.
/// If the server sends none, all children count.
struct RelationAggregates {
    /// One field aggregated over some of the children of one record.
    struct Total {
        var count = 0
        var sum = Amount.zero
        var latest: Latest?
    }

    struct Latest {
        /// The time, followed by the tie-breaker.
        var place: String
        var time: String
        var pk: Int64
        var side: Side
    }

    /// Which children, and which versions of them: `same` are those shown as the server said; `here` are the others as
    /// readers see them, `there` the same ones as the server said.
    enum Side: Int {
        case same, here, there
    }

    let parent: EntityTable
    let child: EntityTable
    /// The child's field that refers to the parent.
    let reference: Field
    let fields: [(field: Field, figure: ChildFigure)]

    static func all(of table: EntityTable, in schema: EntitySchema) -> [RelationAggregates] {
        table.entity.relations.compactMap { relation in
            guard case .many(let name, _) = relation.kind, let child = schema[relation.entity],
                let reference = child[field: name]
            else { return nil }
            let fields = table.entity.fields.compactMap { field -> (field: Field, figure: ChildFigure)? in
                guard case .children(let figure) = field.derivation, figure.relation == relation.name else {
                    return nil
                }
                return (field, figure)
            }
            return fields.isEmpty
                ? nil
                : RelationAggregates(
                    parent: table, child: EntityTable(entity: child), reference: reference, fields: fields)
        }
    }

    /// The most bytes of members computed at once; those of one record are always computed.
    private static let mostBytes = 8 << 20

    /// Calls `use` for all records in parts, each with its derived members, as stored in `_derived`; a record without any has
    /// no entry.
    static func forEachPart(
        of rows: [RecordImage], _ figures: [RelationAggregates], _ db: Database,
        _ use: (_ part: ArraySlice<RecordImage>, _ members: [ExactText: JSONText]) throws -> Void
    ) throws {
        var rest = rows[...]
        while !rest.isEmpty {
            let (members, count) = try members(of: rest, figures, db)
            try use(rest.prefix(count), members)
            rest = rest.dropFirst(count)
        }
    }

    /// The members of the first records, and how many records these are.
    private static func members(
        of rows: ArraySlice<RecordImage>, _ figures: [RelationAggregates], _ db: Database
    ) throws -> (members: [ExactText: JSONText], count: Int) {
        var count = rows.count
        var members: [ExactText: [(key: String, value: JSONText)]] = [:]
        for figures in figures {
            let found = try figures.values(for: rows.prefix(count), db)
            members.merge(found.values) { $0 + $1 }
            count = min(count, found.count)
        }
        return (members.mapValues { JSONText.object(members: $0) }, count)
    }

    /// The fields of a child that decide what it adds, and to which parent.
    var fieldsLookedAt: Set<String> {
        fields.reduce(into: [reference.name]) { names, item in
            names.formUnion(item.figure.conditions.map(\.field))
            switch item.figure.measure {
            case .count: break
            case .sum(let field): names.insert(field)
            case .latest(let field, let by): names.formUnion([field, by])
            }
        }
    }

    /// For each key of the first `count` rows, the members that differ from the server's.
    private func values(
        for rows: ArraySlice<RecordImage>, _ db: Database
    ) throws -> (values: [ExactText: [(key: String, value: JSONText)]], count: Int) {
        let bases = rows.map { row in fields.map { parent.entity.serverValue(of: $0.field, in: row.remote) } }
        let isTime = fields.contains { if case .latest = $0.figure.measure { true } else { false } }
        // Unchanged children count only if the server does not send the aggregate itself.
        let whole = zip(rows, bases).filter { isTime || $1.contains(nil) }.map(\.0.key)
        let totals = try totals(of: rows.map(\.key), whole: whole, db)
        var result: [ExactText: [(key: String, value: JSONText)]] = [:]
        var (count, bytes) = (0, 0)
        for (row, bases) in zip(rows, bases) where bytes < Self.mostBytes {
            count += 1
            let known = totals[row.key.exact] ?? [:]
            for (place, item) in fields.enumerated() {
                let sides = [Side.same, .here, .there].map { known[$0]?[place] ?? Total() }
                let latest = latestTime(item.figure, bases)
                guard let value = try value(item, sides, base: bases[place], latest: latest, db),
                    value != bases[place]
                else { continue }
                result[row.key.exact, default: []].append((key: item.field.name, value: value))
                bytes += value.bytes.count
            }
        }
        return (result, count)
    }

    // MARK: Combining the sides

    /// Nil if the server's value applies.
    private func value(
        _ item: (field: Field, figure: ChildFigure), _ sides: [Total], base: JSONText?, latest: String?, _ db: Database
    ) throws -> JSONText? {
        let (same, here, there) = (sides[0], sides[1], sides[2])
        switch item.figure.measure {
        case .count:
            guard let base else { return .integer(same.count + here.count) }
            let added = here.count - there.count
            guard added != 0, let count = base.integer else { return .none }
            let (sum, overflow) = count.addingReportingOverflow(added)
            return overflow ? .none : .integer(max(0, sum))
        case .sum:
            guard let base else { return (same.sum + here.sum).written(with: item.field.kind == .money ? 2 : 0).json }
            let added = here.sum - there.sum
            guard added.billionths != 0, let sum = Amount(json: base.text) else { return .none }
            return (sum + added).json
        case .latest(let field, _):
            let now = [same.latest, here.latest].compactMap(\.self).max { $0.place < $1.place }
            let before = [same.latest, there.latest].compactMap(\.self).max { $0.place < $1.place }
            guard try base == nil || isNewer(now, before, than: latest, field, db) else { return .none }
            return try shown(now, field, db) ?? .null
        }
    }

    private func shown(_ latest: Latest?, _ field: String, _ db: Database) throws -> JSONText? {
        guard let latest else { return nil }
        let sql = RelationAggregateStatement(figures: self).value(of: field, latest.side)
        let text = try String.fetchOne(db.cachedStatement(sql: sql), arguments: [latest.pk])
        return try text.map(JSONText.init(parsing:))
    }

    /// Whether the children's latest is later than the server's value: the server may know of children that are not
    /// cached, and the cached ones may be newer than the server's version of the record.
    private func isNewer(
        _ now: Latest?, _ before: Latest?, than latest: String?, _ field: String, _ db: Database
    ) throws -> Bool {
        if let latest { return (now?.time ?? "") >= latest || (before?.time ?? "") >= latest }
        guard now?.place == before?.place else { return true }
        // The same version of a child has the same value.
        return try now?.side != before?.side && shown(now, field, db) != shown(before, field, db)
    }

    /// The time of the server's latest, if another field of the record has it.
    private func latestTime(_ figure: ChildFigure, _ bases: [JSONText?]) -> String? {
        guard case .latest(_, let by) = figure.measure else { return nil }
        let place = fields.firstIndex { other in
            other.figure.measure == .latest(field: by, by: by) && other.figure.conditions == figure.conditions
        }
        return place.flatMap { bases[$0]?.string }.flatMap(Timestamp.init(iso8601:))?.description
    }

    // MARK: Queries

    private func totals(
        of keys: [String], whole: [String], _ db: Database
    ) throws -> [ExactText: [Side: [Total]]] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: RelationAggregateStatement(figures: self).sql),
            arguments: [JSONText.array(of: keys).text, JSONText.array(of: whole).text])
        var totals: [ExactText: [Side: [Total]]] = [:]
        while let row = try rows.next() {
            guard let side = Side(rawValue: row[0]) else { continue }
            totals[ExactText(row[1]), default: [:]][side] = fields.indices.map {
                total(fields[$0].figure, row, $0 + 2, side)
            }
        }
        return totals
    }

    private func total(_ figure: ChildFigure, _ row: Row, _ column: Int, _ side: Side) -> Total {
        switch figure.measure {
        case .count: return Total(count: row[column])
        case .sum: return Total(sum: Amount(json: row[column]) ?? .zero)
        case .latest:
            // The last one: no JSON has it, but a text in a time's place may.
            guard let place: String = row[column],
                let end = place.lastIndex(of: RelationAggregateStatement.separator),
                let pk = Int64(place[place.index(after: end)...])
            else { return Total() }
            return Total(latest: Latest(place: place, time: String(place[..<end]), pk: pk, side: side))
        }
    }
}
