package import EntitySchema
internal import GRDB
package import SQLiteStore

/// The figures of a dashboard, computed from the records as readers see them, pending changes included.
extension CacheStore {
    /// The value of each figure in each time range, in the order of both; `user` counts only that user's records. All
    /// values are of one moment.
    package func figures(
        _ figures: [DashboardPlan.Figure], in ranges: [Range<Timestamp>], user: String?
    ) throws -> [[FigureValue]] {
        let groups = DashboardStatement.Group.all(of: figures)
        let statements = try groups.map { group in
            let table = try table(group.entity)
            let owners = try group.user.flatMap(table.entity.far).map { try self.table($0.entity) }
            return try DashboardStatement(table: table, owners: owners, group: group, ranges: ranges, user: user)
        }
        return try snapshot { db in
            var values: [String: [FigureValue]] = [:]
            for (group, statement) in zip(groups, statements) {
                let rows = try Row.fetchAll(
                    db.cachedStatement(sql: statement.sql), arguments: StatementArguments(statement.arguments))
                for (column, figure) in group.figures.enumerated() {
                    values[figure.name] = rows.map { Self.value(of: figure, $0[column + 1] as DatabaseValue) }
                }
            }
            return figures.map { values[$0.name] ?? [] }
        }
    }

    private static func value(of figure: DashboardPlan.Figure, _ value: DatabaseValue) -> FigureValue {
        guard case .sum(_, let decimals) = figure.measure else {
            return .count(Int.fromDatabaseValue(value) ?? 0)
        }
        // A sum has more digits than its parts.
        let sum = String.fromDatabaseValue(value).flatMap { Amount(json: $0, digits: 2 * Amount.longestPart - 2) }
        return .total((sum ?? .zero).written(with: decimals))
    }
}

/// The value of one figure in one time range.
package enum FigureValue: Sendable, Equatable {
    case count(Int)
    case total(Amount)

    package var amount: Amount {
        switch self {
        case .count(let count): Amount(count)
        case .total(let total): total
        }
    }
}
