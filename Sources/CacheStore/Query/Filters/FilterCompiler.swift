internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Compiles a list's conditions to SQL. Names come from the schema; what the caller wrote is always bound.
///
/// A negation is moved to the comparisons that it covers, so that a null meets neither a comparison nor its negation,
/// wherever the field is.
struct FilterCompiler {
    let table: EntityTable
    let context: FilterContext

    func compile(_ condition: FilterCondition, isNegated: Bool = false) throws(CacheError) -> CompiledFilter {
        switch condition {
        case .comparison(let comparison): return try compile(comparison, isNegated)
        case .not(let inner): return try compile(inner, isNegated: !isNegated)
        case .all(let parts): return try joined(parts, isNegated, areAllNeeded: !isNegated)
        case .any(let parts): return try joined(parts, isNegated, areAllNeeded: isNegated)
        }
    }

    private func joined(_ conditions: [FilterCondition], _ isNegated: Bool, areAllNeeded: Bool) throws(CacheError)
        -> CompiledFilter
    {
        var parts: [CompiledFilter] = []
        for condition in conditions { parts.append(try compile(condition, isNegated: isNegated)) }
        return areAllNeeded ? .all(parts) : .any(parts)
    }

    // MARK: Paths

    /// In parentheses a message must name the field too: the parameter is not called like it.
    private func compile(_ comparison: FilterComparison, _ isNegated: Bool) throws(CacheError) -> CompiledFilter {
        do throws(CacheError) {
            return try compile(comparison, comparison.path[...], isNegated)
        } catch .badQuery(_, let message) where comparison.isInParentheses {
            throw comparison.refusal(message.hasPrefix("expected") ? "\(named(comparison)): \(message)" : message)
        } catch {
            throw error
        }
    }

    private func compile(_ comparison: FilterComparison, _ path: ArraySlice<String>, _ isNegated: Bool)
        throws(CacheError)
        -> CompiledFilter
    {
        let name = path.first ?? ""
        let field = table.entity.listed(name)
        if path.count == 1 {
            guard let field else { throw unknown(name, comparison) }
            return try compile(comparison, field, isNegated)
        }
        let inside = Array(path.dropFirst())
        if let field, case .object = field.kind {
            return try PlaceCondition(table: table, field: field, inside: inside, comparison: comparison)
                .compiled(isNegated)
        }
        if let relation = table.entity[relation: name] {
            guard path.startIndex == comparison.path.startIndex else {
                throw comparison.refusal("\(named(comparison)): filters go to a related record, not on to its own")
            }
            return try related(relation, inside, comparison, isNegated)
        }
        guard field != nil else { throw unknown(name, comparison) }
        throw comparison.refusal(
            "\(name) has no \(inside[0].prefix(50)): it is no object, and there is no such comparison")
    }

    /// The reference is among the keys of the related records that meet the comparison.
    private func related(
        _ relation: Relation, _ path: [String], _ comparison: FilterComparison, _ isNegated: Bool
    ) throws(CacheError) -> CompiledFilter {
        guard case .one(let reference) = relation.kind, let other = context.schema[relation.entity] else {
            throw comparison.refusal(
                "\(relation.name) has many records; filter the list of \(relation.entity), or list those of one record")
        }
        guard table.entity[field: reference]?.isStoredSealed == false else {
            throw comparison.refusal("\(relation.name) cannot be filtered by, because \(reference) is sealed")
        }
        let related = FilterCompiler(table: EntityTable(entity: other), context: context)
        let start = comparison.path.startIndex + 1
        let inner = try related.compile(comparison, comparison.path[start...], isNegated)
        let isIndexed = table.isIndexed(reference)
        return CompiledFilter(
            sql: """
                \(table.sql(for: reference)) IN (
                  SELECT _key FROM \(related.table.name) WHERE _deleted = 0 AND \(inner.sql))
                """,
            arguments: inner.arguments, isSought: isIndexed && inner.isSought, unindexed: isIndexed ? [] : [reference],
            scanned: inner.isSought ? [] : inner.unindexed.map { "\(relation.name).\($0)" },
            readsWholeValues: inner.readsWholeValues)
    }

    private func unknown(_ name: String, _ comparison: FilterComparison) -> CacheError {
        let entity = table.entity
        let relations = entity.relations.filter { !$0.isMany }.map(\.name)
        let known = entity.fields.map(\.name) + [Entity.syncedAt.name] + (comparison.path.count > 1 ? relations : [])
        let hint = Suggestion.hint(for: name, among: known)
        return comparison.refusal("\(entity.name) has no field \(name.prefix(100))\(hint)")
    }

    private func named(_ comparison: FilterComparison) -> String {
        String(comparison.path.joined(separator: ".").prefix(100))
    }

    // MARK: Fields

    private func compile(_ comparison: FilterComparison, _ field: Field, _ isNegated: Bool) throws(CacheError)
        -> CompiledFilter
    {
        guard !field.secret else { throw comparison.refusal("\(field.name) is secret, so lists cannot filter by it") }
        let operation = comparison.operation
        switch (field.kind, operation) {
        case (_, .has), (.list, _), (.object, _):
            return try PlaceCondition(table: table, field: field, inside: [], comparison: comparison)
                .compiled(isNegated)
        case (_, .null): return try null(comparison, field, isNegated)
        case (_, .starts), (_, .contains): return try text(comparison, field, isNegated)
        default: break
        }
        guard !field.sealed || operation.isOfWholeValues else { throw comparison.refusal(FilterValues.sealedRefusal) }
        let column = table.sql(of: field)
        let values = try FilterValues(
            table: table, context: context, field: field, comparison: comparison
        ).all()
        guard operation.isOfWholeValues else {
            let sql = "\(column) \(operation.sql) ?"
            guard !isNegated else { return compiled("NOT (\(sql))", values, field, nil) }
            return compiled(sql, values, field, operation == .less || operation == .atMost ? .below : .above)
        }
        let isExcluding = operation.isNegation != isNegated
        if values.count == 1 {
            return compiled(
                "\(column) \(isExcluding ? "<>" : "=") ?", values, field, isExcluding ? .notEqual : .equal)
        }
        return compiled(
            "\(column)\(isExcluding ? " NOT" : "") IN (\(FilterValues.placeholders(values)))", values, field,
            isExcluding ? nil : .equal)
    }

    private func null(_ comparison: FilterComparison, _ field: Field, _ isNegated: Bool) throws(CacheError)
        -> CompiledFilter
    {
        let wantsNull = try FilterValues.flag(of: comparison) != isNegated
        let column = table.sql(of: field)
        return wantsNull
            ? compiled(table.isNull(column), [], field, .equal) : compiled("\(column) IS NOT NULL", [], field, .notNull)
    }

    private func text(_ comparison: FilterComparison, _ field: Field, _ isNegated: Bool) throws(CacheError)
        -> CompiledFilter
    {
        switch field.kind {
        case .string, .enum, .reference: break
        default: throw comparison.refusal("\(field.name) is not text; .\(comparison.operation.rawValue) is for texts")
        }
        guard !field.sealed else { throw comparison.refusal(FilterValues.sealedRefusal) }
        let operation = comparison.operation
        let condition = TextCondition(
            table: table, field: field, text: try TextCondition.checked(comparison), operation: operation)
        let sql = TextCondition.sql(of: table.sql(of: field), operation)
        let text = condition.text.databaseValue
        var result = CompiledFilter(sql: isNegated ? "NOT \(sql)" : sql, arguments: [text])
        if isNegated {
            result.unindexed = table.isIndexed(field.name) ? [] : [field.name]
        } else if let lookup = condition.lookup {
            result.sql = "(\(lookup.sql) AND \(sql))"
            result.arguments = lookup.arguments + [text]
            result.isSought = true
        } else {
            result.unindexed = [field.name]
        }
        result.readsWholeValues = operation == .contains
        return result
    }

    private func compiled(
        _ sql: String, _ values: [DatabaseValue], _ field: Field, _ shape: CompiledFilter.Shape?
    ) -> CompiledFilter {
        guard table.isIndexed(field.name) else {
            return CompiledFilter(sql: sql, arguments: values, unindexed: [field.name])
        }
        return CompiledFilter(
            sql: sql, arguments: values,
            lookup: shape.map { CompiledFilter.Lookup(field: field.name, column: table.sql(of: field), shape: $0) },
            isSought: shape?.isNegation == false)
    }
}
