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
        var value: JSONText
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

    /// The derived members of each record, as stored in `_derived`; no entry for a record without any.
    static func members(of rows: [RecordImage], _ figures: [RelationAggregates], _ db: Database) throws -> [String:
        JSONText]
    {
        guard !rows.isEmpty else { return [:] }
        var members: [String: [(key: String, value: JSONText)]] = [:]
        for figures in figures {
            let found = try figures.values(for: rows.map { (key: $0.key, remote: $0.remote) }, db)
            members.merge(found) { $0 + $1 }
        }
        return members.mapValues { JSONText.object(members: $0) }
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

    /// For each key, the members that differ from the server's.
    func values(
        for rows: [(key: String, remote: JSONText?)], _ db: Database
    ) throws -> [String: [(key: String, value: JSONText)]] {
        let bases = rows.map { row in fields.map { parent.entity.serverValue(of: $0.field, in: row.remote) } }
        let isTime = fields.contains { if case .latest = $0.figure.measure { true } else { false } }
        // Unchanged children count only if the server does not send the aggregate itself.
        let whole = zip(rows, bases).filter { isTime || $1.contains(nil) }.map(\.0.key)
        let totals = try totals(of: rows.map(\.key), whole: whole, db)
        var result: [String: [(key: String, value: JSONText)]] = [:]
        for (row, bases) in zip(rows, bases) {
            let known = totals[row.key] ?? [:]
            for (place, item) in fields.enumerated() {
                let sides = [Side.same, .here, .there].map { known[$0]?[place] ?? Total() }
                guard let value = value(item, sides, base: bases[place], latest: latestTime(item.figure, bases)),
                    value != bases[place]
                else { continue }
                result[row.key, default: []].append((key: item.field.name, value: value))
            }
        }
        return result
    }

    // MARK: Combining the sides

    /// Nil if the server's value applies.
    private func value(
        _ item: (field: Field, figure: ChildFigure), _ sides: [Total], base: JSONText?, latest: String?
    ) -> JSONText? {
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
        case .latest:
            let now = [same.latest, here.latest].compactMap(\.self).max { $0.place < $1.place }
            let before = [same.latest, there.latest].compactMap(\.self).max { $0.place < $1.place }
            guard base == nil || isNewer(now, before, than: latest) else { return .none }
            return now?.value ?? .null
        }
    }

    /// Whether the children's latest is later than the server's value: the server may know of children that are not
    /// cached, and the cached ones may be newer than the server's version of the record.
    private func isNewer(_ now: Latest?, _ before: Latest?, than latest: String?) -> Bool {
        if let latest { return (now?.time ?? "") >= latest || (before?.time ?? "") >= latest }
        return now?.place != before?.place || now?.value != before?.value
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
    ) throws -> [String: [Side: [Total]]] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: RelationAggregateStatement(figures: self).sql),
            arguments: [JSONText.array(of: keys).text, JSONText.array(of: whole).text])
        var totals: [String: [Side: [Total]]] = [:]
        while let row = try rows.next() {
            guard let side = Side(rawValue: row[0]) else { continue }
            totals[row[1], default: [:]][side] = try fields.indices.map { try total(fields[$0].figure, row, $0 + 2) }
        }
        return totals
    }

    private func total(_ figure: ChildFigure, _ row: Row, _ column: Int) throws -> Total {
        switch figure.measure {
        case .count: return Total(count: row[column])
        case .sum: return Total(sum: Amount(json: row[column]) ?? .zero)
        case .latest:
            // The last one: no JSON has it, but a text in a time's place may.
            guard let text: String = row[column],
                let end = text.lastIndex(of: RelationAggregateStatement.separator)
            else { return Total() }
            let rest = text[text.index(after: end)...]
            let number = rest.prefix(RelationAggregateStatement.digits)
            return Total(
                latest: Latest(
                    place: "\(text[..<end])\(number)", time: String(text[..<end]),
                    value: try JSONText(parsing: String(rest.dropFirst(RelationAggregateStatement.digits)))))
        }
    }
}
