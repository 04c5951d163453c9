internal import EntitySchema
internal import JSONText
internal import SocketServer

/// The query of a list request. Ignores unknown parameters, as most upstreams do.
struct ListQuery {
    /// The parameter for the token in styles that leave its name to the upstream, and that of a delta link.
    private static let token = "cursor"
    private static let deltaName = "delta"

    /// In styles that count pages, from the plan's first.
    private(set) var page = 1
    var window: ListWindow
    /// The token that a request for changes came with.
    private(set) var delta: String?
    /// The last record of the page before, in styles that say so.
    private(set) var mark: ListMark?
    private(set) var isFirst = true
    /// Fields and the plain value each must have.
    private(set) var filters: [(name: String, value: String)] = []
    private let path: String
    private let plan: ListPlan
    private var parameters: [(name: String, value: String)] = []

    /// `constants` are the parameters that the schema sends with every page; they are not filters.
    init(
        _ request: Request, entity: Entity, pull: PullPlan?, plan: ListPlan, order: ListWindow.Order,
        constants: [QueryItem], largestPage: Int
    ) throws(Refusal) {
        path = request.path
        self.plan = plan
        page = plan.first
        window = ListWindow(order: order, size: plan.style == .single ? .max : plan.pageSize)
        guard let parameters = PercentCoding.parameters(request.query) else {
            throw .parameter("the query cannot be decoded; check its percent-encoding")
        }
        self.parameters = parameters
        let isAsked = constants.allSatisfy { item in
            parameters.contains { $0.name == item.name && $0.value == item.value }
        }
        // The constants select that order.
        if order == .newestFirst, !isAsked { window.order = .arrival }
        var since: PullPlan.SinceParameter?
        if case .since(let parameter, _) = (pull ?? entity.pull)?.mode, !parameter.isInTemplate { since = parameter }
        let named = Set(pull?.call?.query.map(\.name) ?? [])
        for (name, value) in parameters
        where !constants.contains(QueryItem(name: name, value: value)) && !named.contains(name) {
            switch name {
            case pull?.deltaToken?.parameter: delta = value
            case positionParameter: try start(name, value)
            case plan.size: window.size = min(try Self.count(name, value, from: 1), max(largestPage, plan.pageSize))
            case since?.name:
                guard let since, let time = since.time(in: value) else {
                    throw .parameter("\(name): expected a time, such as \(since?.example ?? "")")
                }
                window.order = .changes(since: time)
            default:
                if entity[field: name] != nil { filters.append((name, value)) }
            }
        }
        try take(pull?.values(in: request, parameters) ?? [:], largestPage)
        // It serves no other call for later pages.
        if plan.continuation != nil { window.size = .max }
        skipPages()
    }

    private mutating func skipPages() {
        guard case .skipping(0) = window.start else { return }
        let (skipped, overflow) = (page - plan.first).multipliedReportingOverflow(by: window.size)
        window.start = .skipping(overflow ? .max : skipped)
    }

    /// What the body says, or parameters that are templates.
    private mutating func take(_ values: [String: JSONText], _ largestPage: Int) throws(Refusal) {
        for (name, value) in values {
            switch name {
            case "page", "offset", "cursor": try start(name, value.plain)
            case "size": window.size = min(try Self.count(name, value.plain, from: 1), max(largestPage, plan.pageSize))
            case "delta": delta = value.plain
            case "since":
                guard let time = value.changeTime else { throw .parameter("\(name): expected a time") }
                window.order = .changes(since: time)
            default: break
            }
        }
    }

    private var positionParameter: String? {
        switch plan.style {
        case .page(let parameter, _), .offset(let parameter), .cursor(let parameter, _),
            .lastRecord(let parameter, _), .header(_, let parameter):
            parameter
        case .link, .nextURL, .headerURL: Self.token
        case .single: nil
        }
    }

    private mutating func start(_ name: String, _ value: String) throws(Refusal) {
        isFirst = false
        switch plan.style {
        case .page, .header:
            page = try Self.count(name, value, from: plan.first)
            isFirst = page == plan.first
        case .offset:
            let count = try Self.count(name, value, from: plan.firstOffset) - plan.firstOffset
            window.start = .skipping(count)
            isFirst = count == 0
        case .lastRecord: window.start = .afterKey(value)
        case .cursor, .link, .nextURL, .headerURL:
            guard let mark = ListMark(token: value) else {
                throw .parameter("\(name): expected the token of the previous page")
            }
            window.start = .after(mark)
            self.mark = mark
        case .single: break
        }
    }

    private static func count(_ name: String, _ value: String, from least: Int) throws(Refusal) -> Int {
        guard let count = Int(value), count >= least else {
            throw .parameter("\(name): expected a number from \(least)")
        }
        return count
    }

    /// Whether the caller says where a page is by counting, or by a record of its own choice.
    var isCounted: Bool {
        switch plan.style {
        case .page, .offset, .lastRecord, .header: true
        case .cursor, .link, .nextURL, .headerURL, .single: false
        }
    }

    // MARK: The next page

    /// How many records the window skips; nil when a token decides that.
    var offset: Int? { if case .skipping(let count) = window.start { count } else { nil } }

    /// The position of the page after the one that ends with `mark`: a number, a token, or a path with its query.
    func next(after mark: ListMark) -> String {
        switch plan.style {
        case .page, .header, .offset, .single: return "\(page + 1)"
        case .cursor: return mark.token
        case .lastRecord: return mark.key
        case .link, .nextURL, .headerURL:
            let others = parameters.filter { $0.name != Self.token }
            let query = (others + [(Self.token, mark.token)]).map {
                "\(Entity.percentEncoded($0.name))=\(Entity.percentEncoded($0.value))"
            }
            return "\(path)?\(query.joined(separator: "&"))"
        }
    }

    /// How a token is given out: as it is, or as the path of the next request.
    func delta(_ token: String, _ form: PullPlan.DeltaToken.Form) -> String {
        guard form == .link else { return token }
        let others = parameters.filter { $0.name != positionParameter && $0.name != Self.deltaName }
        let query = (others + [(Self.deltaName, token)]).map {
            "\(Entity.percentEncoded($0.name))=\(Entity.percentEncoded($0.value))"
        }
        return "\(path)?\(query.joined(separator: "&"))"
    }
}

extension PullPlan.DeltaToken {
    /// The parameter with the token; nil where a template has it.
    fileprivate var parameter: String? {
        switch form {
        case .link: "delta"
        case .token(let parameter): parameter
        }
    }
}

extension PullPlan {
    /// What a request says in the places that the call's templates name.
    fileprivate func values(in request: Request, _ parameters: [(name: String, value: String)]) -> [String: JSONText]? {
        call?.values(
            in: parameters.map { QueryItem(name: $0.name, value: $0.value) }, request.headers,
            try? JSONText(request.body))
    }
}

extension ListCall {
    func values(in query: [QueryItem], _ headers: Headers, _ body: JSONText?) -> [String: JSONText]? {
        values(in: query, header: { headers[single: $0] }, body: body)
    }
}
