internal import SQLiteStore

/// All mistakes of a query at once.
enum QueryMistakes {
    /// What `make` makes of the whole query. Throws `.badQueries`, with the mistake of every part, if several have one.
    static func checked<Query, Statement>(
        _ query: Query, parts: @autoclosure () -> [Query], _ make: (Query) throws(CacheError) -> Statement
    ) throws(CacheError) -> Statement {
        do throws(CacheError) {
            return try make(query)
        } catch .badQuery(let field, let message) {
            let mistakes = found(in: parts(), make)
            throw mistakes.count > 1 ? .badQueries(mistakes) : .badQuery(field: field, message: message)
        } catch {
            throw error
        }
    }

    /// More are not listed.
    private static let most = 100

    /// What is wrong with each part by itself.
    static func found<Query, Statement>(
        in parts: [Query], _ make: (Query) throws(CacheError) -> Statement
    ) -> [FieldProblem] {
        var found: [FieldProblem] = []
        for part in parts where found.count < most {
            do throws(CacheError) {
                _ = try make(part)
            } catch {
                guard case .badQuery(let field, let message) = error else { continue }
                found.append(FieldProblem(field: field, message: message))
            }
        }
        return found
    }
}

extension ListQuery {
    /// What can be wrong with it, each as a query of its own.
    var parts: [ListQuery] {
        var parts = filters.flatMap(\.comparisons).map { ListQuery(entity: entity, filters: [.comparison($0)]) }
        parts += sort.map { ListQuery(entity: entity, sort: [$0]) }
        parts += (fields ?? []).map { ListQuery(entity: entity, fields: [$0]) }
        return parts
    }
}

extension PendingQuery {
    /// What can be wrong with it, each as a query of its own.
    var parts: [PendingQuery] {
        filters.map { PendingQuery(filters: [$0]) } + sort.map { PendingQuery(sort: [$0]) }
    }
}
