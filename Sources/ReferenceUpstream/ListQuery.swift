internal import EntitySchema
internal import SocketServer

/// What a list is asked for; parameters that mean nothing to the entity are ignored, as most upstreams do.
struct ListQuery {
    var page = 1
    var size: Int
    var since: Timestamp?
    /// Everything, by time of change, latest first.
    var newestFirst = false
    /// Fields and the plain value that each must have.
    var filters: [(name: String, value: String)] = []

    init(
        _ query: String?, entity: Entity, settings: ReferenceUpstream.Settings, list: ListPlan
    ) throws(Refusal) {
        size = list.pageSize
        var pageParameter: String?
        if case .page(let parameter, _) = list.style { pageParameter = parameter }
        var sinceParameter: String?
        if case .since(let parameter, _) = entity.pull?.mode { sinceParameter = parameter }
        guard let parameters = PercentCoding.parameters(query) else {
            throw .parameter("the query cannot be decoded; check its percent-encoding")
        }
        for (name, value) in parameters {
            switch name {
            case pageParameter: page = try Self.count(name, value)
            case list.size: size = min(try Self.count(name, value), max(settings.largestPage, list.pageSize))
            case sinceParameter:
                guard let time = Timestamp(iso8601: value) else {
                    throw .parameter("\(name): expected a time as ISO 8601, such as 2026-01-31T09:00:00Z")
                }
                since = time
            default:
                if entity[field: name] != nil { filters.append((name, value)) }
            }
        }
        // The schema's constant parameters are how its upstream is asked for that order.
        guard let pull = entity.pull, pull.mode == .newestFirst else { return }
        newestFirst = pull.query.allSatisfy { item in
            parameters.contains { $0.name == item.name && $0.value == item.value }
        }
    }

    private static func count(_ name: String, _ value: String) throws(Refusal) -> Int {
        guard let count = Int(value), count >= 1 else { throw .parameter("\(name): expected a number from 1") }
        return count
    }
}
