internal import EntitySchema
internal import SocketServer

/// What a list is asked for; parameters that mean nothing to the entity are ignored, as most upstreams do.
struct ListQuery {
    /// The parameter that carries the token where the style leaves its name to the upstream.
    private static let token = "cursor"

    /// From 1, where pages are counted.
    private(set) var page = 1
    private(set) var window: ListWindow
    /// Fields and the plain value that each must have.
    private(set) var filters: [(name: String, value: String)] = []
    private let path: String
    private let plan: ListPlan
    private var parameters: [(name: String, value: String)] = []

    /// `constants` are what the schema sends with every page: they mean what they mean, and filter nothing here.
    init(
        _ request: Request, entity: Entity, plan: ListPlan, order: ListWindow.Order, constants: [QueryItem],
        largestPage: Int
    ) throws(Refusal) {
        path = request.path
        self.plan = plan
        window = ListWindow(order: order, size: plan.style == .single ? .max : plan.pageSize)
        guard let parameters = PercentCoding.parameters(request.query) else {
            throw .parameter("the query cannot be decoded; check its percent-encoding")
        }
        self.parameters = parameters
        let isAsked = constants.allSatisfy { item in
            parameters.contains { $0.name == item.name && $0.value == item.value }
        }
        // The constants are how this upstream is asked for that order.
        if order == .newestFirst, !isAsked { window.order = .arrival }
        var sinceParameter: String?
        if case .since(let parameter, _) = entity.pull?.mode { sinceParameter = parameter }
        for (name, value) in parameters where !constants.contains(QueryItem(name: name, value: value)) {
            switch name {
            case positionParameter: try start(name, value)
            case plan.size: window.size = min(try Self.count(name, value, from: 1), max(largestPage, plan.pageSize))
            case sinceParameter:
                guard let time = Timestamp(iso8601: value) else {
                    throw .parameter("\(name): expected a time as ISO 8601, such as 2026-01-31T09:00:00Z")
                }
                window.order = .changes(since: time)
            default:
                if entity[field: name] != nil { filters.append((name, value)) }
            }
        }
        if case .skipping(0) = window.start {
            let (skipped, overflow) = (page - 1).multipliedReportingOverflow(by: window.size)
            window.start = .skipping(overflow ? .max : skipped)
        }
    }

    private var positionParameter: String? {
        switch plan.style {
        case .page(let parameter, _), .offset(let parameter), .cursor(let parameter, _), .header(_, let parameter):
            parameter
        case .link, .nextURL: Self.token
        case .single: nil
        }
    }

    private mutating func start(_ name: String, _ value: String) throws(Refusal) {
        switch plan.style {
        case .page, .header: page = try Self.count(name, value, from: 1)
        case .offset: window.start = .skipping(try Self.count(name, value, from: 0))
        case .cursor, .link, .nextURL:
            guard let mark = ListMark(token: value) else {
                throw .parameter("\(name): expected what the page before gave")
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

    // MARK: What comes after

    /// How many records the window leaves out; nil where a token says so.
    var offset: Int? { if case .skipping(let count) = window.start { count } else { nil } }

    /// What leads to the page after the one that ends with `mark`: a number, a token, or a path with its query.
    func next(after mark: ListMark) -> String {
        switch plan.style {
        case .page, .header, .offset, .single: return "\(page + 1)"
        case .cursor: return mark.token
        case .link, .nextURL:
            let others = parameters.filter { $0.name != Self.token }
            let query = (others + [(Self.token, mark.token)]).map {
                "\(Entity.percentEncoded($0.name))=\(Entity.percentEncoded($0.value))"
            }
            return "\(path)?\(query.joined(separator: "&"))"
        }
    }
}
