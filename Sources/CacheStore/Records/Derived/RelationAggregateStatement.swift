internal import EntitySchema
internal import SQLiteStore

/// The statement of `RelationAggregates`: a row for each record (in the list ?1) and side, with a column for each
/// field.
///
/// It reads one index range for each side, and a second one for the children that the server has in another place than
/// readers (`_displaced`). `same` is read only for the records in the list ?2. Names and values come from the schema.
struct RelationAggregateStatement {
    let figures: RelationAggregates

    /// Follows the time in the text whose maximum is the latest record's.
    static let separator: Character = "\u{1F}"
    /// How many characters of a time or a number count. SQLite sorts the children together with these texts, partly in
    /// memory, so a long one from the server must be cut.
    private static let longest = 1000

    private var child: EntityTable { figures.child }

    var sql: String {
        let columns = figures.fields.indices.map { "\(aggregate($0))(f\($0))" }.joined(separator: ", ")
        return """
            SELECT side, parent, \(columns) FROM (
              \(part(.same, "_deleted = 0 AND NOT \(EntityTable.differs)", list: "?2"))
              UNION ALL \(part(.here, "_deleted = 0 AND \(EntityTable.differs)", list: "?1"))
              UNION ALL \(part(.there, "_deleted = 0 AND \(Self.changedInPlace)", list: "?1"))
              UNION ALL \(part(.there, "_displaced <> 0", list: "?1", isDisplaced: true)))
            GROUP BY side, parent
            """
    }

    private static let changedInPlace = "_displaced = 0 AND _remote IS NOT NULL AND \(EntityTable.differs)"

    private func aggregate(_ place: Int) -> String {
        switch figures.fields[place].figure.measure {
        case .count: "count"
        case .sum: "exact_sum"
        case .latest: "max"
        }
    }

    private func part(
        _ side: RelationAggregates.Side, _ rows: String, list: String, isDisplaced: Bool = false
    ) -> String {
        let parent =
            isDisplaced
            ? child.expression(for: figures.reference, in: "_remote") : child.sql(for: figures.reference.name)
        let columns = figures.fields.enumerated().map { place, item in "\(column(item.figure, side)) AS f\(place)" }
        return """
            SELECT \(side.rawValue) AS side, \(parent) AS parent, \(columns.joined(separator: ", ")) FROM \(child.name)
              WHERE \(rows) AND \(parent) IN (SELECT value FROM json_each(\(list)))
            """
    }

    /// Selects the value of a field in the child whose `_pk` is ?1.
    func value(of field: String, _ side: RelationAggregates.Side) -> String {
        "SELECT coalesce(\(json(of: field, side)), 'null') FROM \(child.name) WHERE _pk = ?1"
    }

    /// What a child adds; null for a child that does not count.
    private func column(_ figure: ChildFigure, _ side: RelationAggregates.Side) -> String {
        let value: String
        switch figure.measure {
        case .count: value = "1"
        case .sum(let field):
            value = "substr(\(json(of: field, side)), 1, \(Self.longest))"
        case .latest(_, let by):
            // The value itself is read only from the latest child.
            value = """
                substr(\(time(by, side)), 1, \(Self.longest)) || char(\(Self.separator.unicodeScalars.first?.value ?? 0)) \
                || printf('%019d', _pk)
                """
        }
        let fits = figure.conditions.map { condition($0, side) }.joined(separator: " AND ")
        return fits.isEmpty ? value : "iif(\(fits), \(value), NULL)"
    }

    /// A record created here whose time the server has yet to assign has the time of its creation.
    private func time(_ field: String, _ side: RelationAggregates.Side) -> String {
        let own = plain(field, side)
        guard side == .here else { return own }
        return """
            coalesce(\(own), (SELECT \(EntityTable.time("created_at")) FROM sync_outbox
              WHERE entity = '\(child.entity.name)' AND record_key = _key AND operation = 'create'))
            """
    }

    private func condition(_ condition: Condition, _ side: RelationAggregates.Side) -> String {
        guard let field = child.entity[field: condition.field] else { return "false" }
        let values = condition.values.map { literal($0, field) }.joined(separator: ", ")
        // Not the column of a list: what an upstream has in its place need not be JSON there.
        let holds =
            field.kind == .list
            ? "EXISTS (SELECT 1 FROM json_each(\(json(of: condition.field, side))) WHERE CAST(value AS TEXT) IN (\(values)))"
            : "CAST(\(plain(condition.field, side)) AS TEXT) IN (\(values))"
        return condition.excluded ? "\(holds) IS NOT TRUE" : holds
    }

    private func literal(_ value: String, _ field: Field) -> String {
        if value == Condition.account { return "(SELECT value FROM sync_setting WHERE name = 'account')" }
        return child.columnText(value, of: field.name).quoted(by: "'")
    }

    // MARK: Values

    /// A field's value as in its column. A field that follows the queue is no local change, so both sides use what
    /// readers see.
    private func plain(_ name: String, _ side: RelationAggregates.Side) -> String {
        guard side == .there, let field = child.entity[field: name], field.follow == nil else {
            return child.plain(for: name)
        }
        return child.expression(for: field, in: "_remote")
    }

    /// A field's value as JSON text.
    private func json(of name: String, _ side: RelationAggregates.Side) -> String {
        guard let field = child.entity[field: name] else { return "NULL" }
        return child.json(of: field, in: side == .there && field.follow == nil ? "_remote" : EntityTable.document)
    }
}
