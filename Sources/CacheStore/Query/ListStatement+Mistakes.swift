internal import SQLiteStore

/// The mistakes of a list's query, all at once.
extension ListStatement {
    /// As `init`, but throws `.badQueries` with every mistake if there are several.
    static func checked(
        table: EntityTable, query: ListQuery, context: FilterContext, extraColumns: [String]
    ) throws(CacheError) -> ListStatement {
        do throws(CacheError) {
            return try ListStatement(table: table, query: query, context: context, extraColumns: extraColumns)
        } catch .badQuery(let field, let message) {
            let mistakes = mistakes(in: query, table, context)
            throw mistakes.count > 1 ? .badQueries(mistakes) : .badQuery(field: field, message: message)
        } catch {
            throw error
        }
    }

    /// Checks each part by itself.
    static func mistakes(
        in query: ListQuery, _ table: EntityTable, _ context: FilterContext
    ) -> [FieldProblem] {
        var parts: [ListQuery] = query.filters.map { ListQuery(entity: query.entity, filters: [$0]) }
        parts += query.conditions.map { condition in
            var part = ListQuery(entity: query.entity)
            part.conditions = [condition]
            return part
        }
        parts += query.sort.map { ListQuery(entity: query.entity, sort: [$0]) }
        parts += (query.fields ?? []).map { ListQuery(entity: query.entity, fields: [$0]) }
        return parts.compactMap { part in
            do throws(CacheError) {
                _ = try ListStatement(table: table, query: part, context: context)
                return nil
            } catch {
                guard case .badQuery(let field, let message) = error else { return nil }
                return FieldProblem(field: field, message: message)
            }
        }
    }
}
