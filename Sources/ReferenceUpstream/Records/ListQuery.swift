internal import EntitySchema
internal import SocketServer

/// The query of a list request. Ignores unknown parameters, as most upstreams do.
struct ListQuery {
    /// The parameter for the token in styles that leave its name to the upstream.
    private static let token = "cursor"

    /// In styles that count pages, from the plan's first.
    private(set) var page = 1
    private(set) var window: ListWindow
    /// Fields and the plain value each must have.
    private(set) var filters: [(name: String, value: String)] = []
    private let path: String
    private let plan: ListPlan
    private var parameters: [(name: String, value: String)] = []

    /// `constants` are the parameters that the schema sends with every page; they are not filters.
    init(
        _ request: Request, entity: Entity, plan: ListPlan, order: ListWindow.Order, constants: [QueryItem],
        largestPage: Int
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
        if case .since(let parameter, _) = entity.pull?.mode { since = parameter }
        for (name, value) in parameters where !constants.contains(QueryItem(name: name, value: value)) {
            switch name {
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
        if case .skipping(0) = window.start {
            let (skipped, overflow) = (page - plan.first).multipliedReportingOverflow(by: window.size)
            window.start = .skipping(overflow ? .max : skipped)
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
        switch plan.style {
        case .page, .header: page = try Self.count(name, value, from: plan.first)
        case .offset: window.start = .skipping(try Self.count(name, value, from: 0))
        case .lastRecord: window.start = .afterKey(value)
        case .cursor, .link, .nextURL, .headerURL:
            guard let mark = ListMark(token: value) else {
                throw .parameter("\(name): expected the token of the previous page")
            }
            window.start = .after(mark)
        case .single: break
        }
    }

    private static func count(_ name: String, _ value: String, from least: Int) throws(Refusal) -> Int {
        guard let count = Int(value), count >= least else {
            throw .parameter("\(name): expected a number from \(least)")
        }
        return count
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
}
