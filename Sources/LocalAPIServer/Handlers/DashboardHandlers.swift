internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import SocketServer

/// The dashboard's figures, computed from the cache, so they work offline.
extension Handlers {
    func dashboard(_ request: Request) async throws -> Response {
        let parameters = try QueryParameters(request)
        var mistakes = mistakes
        let period = mistakes.collect(
            DashboardPeriod.today, try parameters.choice("period", called: "period") ?? .today)
        guard let plan = schema.dashboard else {
            try mistakes.throwAny()
            throw Problem.notFound("the schema \(schema.name) declares no dashboard")
        }
        let user: String? = mistakes.collect(nil, try self.user(parameters, plan))
        try mistakes.throwAny()
        let stretches = calendar.stretches(of: period, at: now())
        let counts = plan.figures.filter(\.isCounted).map(\.count)
        let all = plan.figures + counts
        let values = try await store.away(for: ReadCaller(request)) {
            try $0.figures(all, in: stretches.map(\.range), user: user)
        }
        let found = Dictionary(uniqueKeysWithValues: zip(all.map(\.name), values))
        var members: [(key: String, value: JSONText)] = [
            ("period", .string(period.rawValue)), ("scope", user == nil ? "company" : "user"),
            ("time_zone", .string(calendar.timeZone)),
            ("from", .string(stretches[0].range.lowerBound.description)),
            ("until", .string(stretches[0].range.upperBound.description)),
        ]
        if let user { members.append(("user", .string(user))) }
        for figure in plan.figures {
            let count = found[figure.count.name]?.first?.amount.json
            let figures = found[figure.name] ?? []
            members.append((figure.name, Self.document(figures, count: count, names: stretches.map(\.name))))
        }
        return .document(.object(members: members))
    }

    // MARK: The request

    /// Nil for the whole company.
    private func user(_ parameters: QueryParameters, _ plan: DashboardPlan) throws(Problem) -> String? {
        let user = try parameters.value("user")
        switch try parameters.value("scope") ?? (user == nil ? "company" : "user") {
        case "company":
            guard user == nil else {
                throw .parameter("user", "user is only allowed with scope=user", .conflictingParameters)
            }
            return nil
        case "user":
            guard let user, !user.isEmpty else {
                throw unanswerable(
                    "the cache does not know who is signed in upstream; name the user with user=<id>", field: "user")
            }
            if let figure = plan.figures.first(where: { $0.user == nil }) {
                throw unanswerable(
                    "the schema does not say which user a record of \(figure.entity) belongs to, so \(figure.name) "
                        + "exists only for the company", field: "scope")
            }
            return user
        case let scope:
            throw unanswerable(
                "figures of the scope \(scope.prefix(50)) cannot be computed from the cache; expected company or user",
                field: "scope")
        }
    }

    private func unanswerable(_ detail: String, field: String) -> Problem {
        Problem.parameter(field, detail, .unanswerable)
    }

    // MARK: The answer

    /// One figure: its current value, and the change from each period that it is compared with.
    /// `count`: how many records a sum has, if that is shown.
    private static func document(_ values: [FigureValue], count: JSONText?, names: [String]) -> JSONText {
        let current = values.first ?? .count(0)
        let comparisons = zip(values, names).dropFirst().map { before, name in
            let change = current.amount - before.amount
            return JSONText.object([
                "period": .string(name), before.word: before.amount.json, "change": change.json,
                "change_percent": change.percent(of: before.amount),
            ])
        }
        let counted = count.map { [(key: "count", value: $0)] } ?? []
        return .object([
            "current": .object(members: [(key: current.word, value: current.amount.json)] + counted),
            "comparisons": .array(comparisons),
        ])
    }
}

extension FigureValue {
    fileprivate var word: String {
        switch self {
        case .count: "count"
        case .total: "total"
        }
    }
}
