internal import EntitySchema
internal import Foundation
internal import JSONText
internal import SocketServer

/// Computes the dashboard independently of the daemon's code: record by record, by local dates.
struct DashboardHandler {
    let handler: RequestHandler
    let request: Request
    let now: Timestamp

    /// A period: the times in it, and its start.
    private struct Stretch {
        var name: String
        var start: Timestamp
        var holds: (Timestamp) -> Bool
    }

    func answer(_ store: Store) throws(Refusal) -> Answer {
        guard let plan = handler.schema.dashboard else { throw .notFound("such path") }
        guard let parameters = PercentCoding.parameters(request.query) else {
            throw .parameter("the query cannot be decoded; check its percent-encoding")
        }
        func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
        guard let period = DashboardPeriod(rawValue: value("period") ?? "today") else {
            throw .parameter("period: expected one of \(DashboardPeriod.allCases.map(\.rawValue))")
        }
        var user: String?
        switch value("scope") ?? "company" {
        case "company": break
        case "user":
            guard let id = handler.settings.user?.id else { throw .notSignedIn("scope=user needs a user") }
            user = id
        default: throw .parameter("scope: expected company or user")
        }
        let stretches = try stretches(of: period)
        var members: [(key: String, value: JSONText)] = [("period", .string(period.rawValue))]
        for figure in plan.figures {
            let values = stretches.map { self.value(of: figure, in: $0, store, user) }
            let count = figure.isCounted ? self.value(of: figure.count, in: stretches[0], store, user) : nil
            members.append((figure.name, Self.document(figure, values, count, stretches.map(\.name))))
        }
        return .json(200, handler.envelope.record(.object(members: members), at: handler.schema.upstream.record))
    }

    // MARK: Time

    private func stretches(of period: DashboardPeriod) throws(Refusal) -> [Stretch] {
        guard let zone = TimeZone(identifier: handler.settings.timeZone) else {
            throw .parameter("there is no time zone \(handler.settings.timeZone)")
        }
        let days = LocalDays(zone: zone)
        let today = days.day(of: now)
        let (unit, back): (@Sendable (Int) -> Int, Int) =
            switch period {
            case .today: ({ $0 }, 0)
            case .yesterday: ({ $0 }, 1)
            case .thisWeek: ({ LocalDays.week(of: $0) }, 0)
            case .thisMonth: ({ LocalDays.month(of: $0) }, 0)
            case .lastMonth: ({ LocalDays.month(of: $0) }, 1)
            }
        func whole(_ name: String, back: Int) -> Stretch {
            let wanted = unit(today) - back
            var first = today
            while unit(first) > wanted || unit(first - 1) == wanted { first -= 1 }
            return Stretch(name: name, start: days.start(of: first)) { unit(days.day(of: $0)) == wanted }
        }
        var stretches = [whole(period.rawValue, back: back), whole(period.previous, back: back + 1)]
        if period.isUnderWay {
            let before = stretches[1]
            let position = today - days.day(of: stretches[0].start)
            let sameDay = days.day(of: before.start) + position
            let passed = now.since(days.start(of: today))
            stretches.append(
                Stretch(name: "\(before.name)_to_date", start: before.start) { time in
                    let day = days.day(of: time)
                    guard before.holds(time), day <= sameDay else { return false }
                    return day < sameDay || time.since(days.start(of: day)) < passed
                })
        }
        return stretches
    }

    // MARK: Figures

    private func value(
        of figure: DashboardPlan.Figure, in stretch: Stretch, _ store: Store, _ user: String?
    ) -> ExactNumber {
        guard let entity = handler.schema[figure.entity] else { return ExactNumber(number: 0) }
        let fitting = (store.records(of: entity.name) ?? []).filter { fits($0, figure, entity) }
        let belonging = fitting.filter { record in
            guard let user else { return true }
            return figure.user.flatMap { store.value(of: $0, in: record, entity)?.plain } == user
        }
        let counted = belonging.filter { time(of: $0, figure, entity).map(stretch.holds) ?? false }
        switch figure.measure {
        case .count: return ExactNumber(counted.count)
        case .sum(let field, let decimals): return sum(counted.map { entity.value(of: field, in: $0) }, decimals)
        case .distinct(let field, let seen):
            var values = Set(counted.compactMap { Self.plain(entity.value(of: field, in: $0)) })
            guard let seen else { return ExactNumber(values.count) }
            let earlier = fitting.filter { record in
                time(of: record, figure, entity).map { $0 < stretch.start } ?? false
            }
            let known = Set(earlier.compactMap { Self.plain(entity.value(of: field, in: $0)) })
            if seen == .first { values.subtract(known) } else { values.formIntersection(known) }
            return ExactNumber(values.count)
        }
    }

    private func sum(_ values: [JSONText?], _ decimals: Int) -> ExactNumber {
        values.reduce(ExactNumber(number: 0, decimals: decimals)) { sum, value in
            ExactNumber(value).map { sum + $0 } ?? sum
        }
    }

    private func fits(_ record: JSONText, _ figure: DashboardPlan.Figure, _ entity: Entity) -> Bool {
        figure.conditions.allSatisfy { condition in
            let value = Self.plain(entity.value(of: condition.field, in: record))
            return condition.values.contains { $0 == value } != condition.excluded
        }
    }

    private func time(of record: JSONText, _ figure: DashboardPlan.Figure, _ entity: Entity) -> Timestamp? {
        Self.plain(entity.value(of: figure.at, in: record)).flatMap { Timestamp(iso8601: $0) }
    }

    private static func plain(_ value: JSONText?) -> String? { value.flatMap { $0 == .null ? nil : $0.plain } }

    // MARK: Response

    private static func document(
        _ figure: DashboardPlan.Figure, _ values: [ExactNumber], _ count: ExactNumber?, _ names: [String]
    ) -> JSONText {
        var word = "count"
        if case .sum = figure.measure { word = "total" }
        let current = values[0]
        let comparisons = zip(values, names).dropFirst().map { before, name in
            let change = ExactNumber(
                number: current.number - before.number, decimals: max(current.decimals, before.decimals))
            return JSONText.object([
                "period": .string(name), word: before.json, "change": change.json,
                "change_percent": percent(change.number, of: before.number),
            ])
        }
        let counted = count.map { [(key: "count", value: $0.json)] } ?? []
        return .object([
            "current": .object(members: [(key: word, value: current.json)] + counted),
            "comparisons": .array(comparisons),
        ])
    }

    private static func percent(_ change: Decimal, of whole: Decimal) -> JSONText {
        guard whole != 0 else { return ExactNumber(number: 0, decimals: 1).json }
        var exact = change * 100 / whole
        var rounded = Decimal()
        NSDecimalRound(&rounded, &exact, 1, .plain)
        return ExactNumber(number: rounded, decimals: 1).json
    }
}
