internal import EntitySchema
internal import GRDB
internal import SQLiteStore

/// Computes all figures over one entity and time field in one statement, with a row for each period.
///
/// `seen` holds what the figures need of every record in any of the periods. It is read once through the index of the
/// time, however many figures and periods use it. A record created here whose time the upstream has yet to assign (a
/// draft) has the time of its change. Names come from the schema; values are always bound.
struct DashboardStatement {
    /// Figures that one pass over the records can compute.
    struct Group {
        var entity: String
        var at: String
        var user: String?
        var figures: [DashboardPlan.Figure] = []

        static func all(of figures: [DashboardPlan.Figure]) -> [Group] {
            figures.reduce(into: []) { groups, figure in
                var place = groups.firstIndex {
                    $0.entity == figure.entity && $0.at == figure.at && $0.user == figure.user
                }
                if place == nil { groups.append(Group(entity: figure.entity, at: figure.at, user: figure.user)) }
                place = place ?? groups.endIndex - 1
                if let place { groups[place].figures.append(figure) }
            }
        }
    }

    private let table: EntityTable
    private let at: String
    /// The condition on the record's user; empty for all users.
    private var belongs = ""
    /// Columns of `seen`: `f0` and so on.
    private var columns: [String] = []
    /// Whether a value occurred before the period began: `k0` and so on.
    private var known: [String] = []
    private(set) var sql = ""
    private(set) var arguments: [DatabaseValue] = []

    /// `owners`: the table of the records that have the user, if those are others.
    init(
        table: EntityTable, owners: EntityTable?, group: Group, ranges: [Range<Timestamp>], user: String?
    ) throws(CacheError) {
        self.table = table
        at = table.sql(for: group.at)
        if let user {
            guard let field = group.user else {
                throw CacheError.badQuery(
                    field: "user", message: "the schema does not say which user a record of \(group.entity) belongs to"
                )
            }
            belongs = "\(owner(field, owners)) = \(bind(user))"
        }
        let results = group.figures.map { result(of: $0) }
        sql = statement(ranges, results)
    }

    /// The user that a record belongs to.
    private func owner(_ field: String, _ owners: EntityTable?) -> String {
        guard let owners, let far = table.entity.far(field) else {
            return "CAST(\(table.plain(for: field, of: "record.")) AS TEXT)"
        }
        return """
            (SELECT CAST(\(owners.plain(for: far.field, of: "owner.")) AS TEXT) FROM \(owners.name) AS owner
              WHERE owner._key = \(table.sql(for: far.reference, of: "record.")))
            """
    }

    // MARK: Figures

    private mutating func result(of figure: DashboardPlan.Figure) -> String {
        switch figure.measure {
        case .count: return "count(\(column("1", figure.conditions)))"
        case .sum(let field, _):
            let document = EntityTable.document(of: "record.")
            let amount = table.entity[field: field].map { table.json(of: $0, in: document) } ?? "NULL"
            return "exact_sum(\(column(amount, figure.conditions)))"
        case .distinct(let field, let seen):
            let value = column(table.plain(for: field, of: "record."), figure.conditions)
            guard let seen else { return "count(DISTINCT \(value))" }
            let before = before(value, field, figure.conditions)
            return seen == .first
                ? "count(DISTINCT iif(\(before), NULL, \(value)))" : "count(DISTINCT iif(\(before), \(value), NULL))"
        }
    }

    /// The name of the column of `seen` that has `value` if the conditions hold, else null.
    private mutating func column(_ value: String, _ conditions: [Condition]) -> String {
        let fits = condition(conditions, of: "record")
        return "f\(Self.place(of: fits.isEmpty ? value : "iif(\(fits), \(value), NULL)", in: &columns))"
    }

    /// The name of the column that says whether a matching record had the same value before the period began.
    private mutating func before(_ value: String, _ field: String, _ conditions: [Condition]) -> String {
        let fits = condition(conditions, of: "earlier")
        let same = "\(table.plain(for: field, of: "earlier.")) = seen.\(value)\(fits.isEmpty ? "" : " AND \(fits)")"
        let was = """
            EXISTS (SELECT 1 FROM \(table.name) AS earlier
              WHERE earlier._deleted = 0 AND earlier.\(at) < period.start AND \(same))
            OR EXISTS (SELECT 1 FROM draft JOIN \(table.name) AS earlier ON earlier._pk = draft.pk
              WHERE draft.at < period.start AND \(same))
            """
        return "k\(Self.place(of: was, in: &known))"
    }

    private mutating func condition(_ conditions: [Condition], of alias: String) -> String {
        var parts: [String] = []
        for condition in conditions {
            let column = "CAST(\(table.plain(for: condition.field, of: "\(alias).")) AS TEXT)"
            let values = condition.values.map { bind(table.columnText($0, of: condition.field)) }
            let list = values.joined(separator: ", ")
            parts.append(
                condition.excluded
                    ? "(\(column) IS NULL OR \(column) NOT IN (\(list)))" : "\(column) IN (\(list))")
        }
        return parts.joined(separator: " AND ")
    }

    // MARK: Statement

    private mutating func statement(_ ranges: [Range<Timestamp>], _ results: [String]) -> String {
        let periods = ranges.enumerated().map { number, range in "(\(number), \(bind(range)))" }
        let fields = columns.enumerated().map { ", \($1) AS f\($0)" }.joined()
        let belonging = belongs.isEmpty ? "" : " AND \(belongs)"
        let spans = Self.merged(ranges).map { span in
            """
            SELECT record.\(at) AS at\(fields) FROM \(table.name) AS record
              WHERE record._deleted = 0 AND record.\(at) >= \(bind(span.lowerBound))
                AND record.\(at) < \(bind(span.upperBound))\(belonging)
              UNION ALL
            """
        }
        let flags = known.enumerated().map { ", (\($1)) AS k\($0)" }.joined()
        return """
            WITH period(n, start, stop) AS (VALUES \(periods.joined(separator: ", "))),
            draft AS MATERIALIZED (
              SELECT record._pk AS pk, change.created_at AS at
              FROM sync_outbox AS change JOIN \(table.name) AS record ON record._key = change.record_key
              WHERE change.entity = \(bind(table.entity.name)) AND change.operation = 'create'
                AND record.\(at) IS NULL AND record._deleted = 0),
            seen AS MATERIALIZED (
              \(spans.joined(separator: "\n  "))
              SELECT draft.at AS at\(fields) FROM draft JOIN \(table.name) AS record ON record._pk = draft.pk
              WHERE true\(belonging)),
            placed AS MATERIALIZED (
              SELECT n, seen.*\(flags) FROM period LEFT JOIN seen ON seen.at >= start AND seen.at < stop)
            SELECT n\(results.map { ", \($0)" }.joined()) FROM placed GROUP BY n ORDER BY n
            """
    }

    private mutating func bind(_ range: Range<Timestamp>) -> String {
        "\(bind(range.lowerBound)), \(bind(range.upperBound))"
    }

    /// Numbered, so that a value used in several places gets the same text in each.
    private mutating func bind(_ value: some DatabaseValueConvertible) -> String {
        "?\(Self.place(of: value.databaseValue, in: &arguments) + 1)"
    }

    private mutating func bind(_ time: Timestamp) -> String { bind(time.milliseconds) }

    /// The index of `element`, appended if it is new: figures share what they have in common.
    private static func place<Element: Equatable>(of element: Element, in list: inout [Element]) -> Int {
        if let place = list.firstIndex(of: element) { return place }
        list.append(element)
        return list.count - 1
    }

    /// The ranges without overlaps; adjoining ranges become one.
    static func merged(_ ranges: [Range<Timestamp>]) -> [Range<Timestamp>] {
        ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
            guard let last = merged.last, range.lowerBound <= last.upperBound else { return merged.append(range) }
            merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        }
    }
}
