internal import EntitySchema
internal import LocalAPI

/// Makes the operation ids of the OpenAPI document, all different: names that read well as methods of a generated client,
/// such as `listOrders`, `getOrder` and `listMessagesOfTicket`.
struct OperationNames {
    private var taken: Set<String> = []

    /// The name of a route; call it once for each, those of the daemon's own calls first. Empty for a file of the page, which
    /// the document does not have.
    mutating func name(of route: Route) -> String {
        let plain = route.name.isEmpty ? Self.ofEntity(route) : route.name
        guard !plain.isEmpty else { return "" }
        // An entity may be called like a call of the daemon's own, or like another entity's singular.
        var name = plain
        var number = 1
        while !taken.insert(name).inserted {
            name = number == 1 ? plain + "Record" : "\(plain)Record\(number)"
            number += 1
        }
        return name
    }

    // MARK: The calls of an entity

    private static let verbs = ["GET": "get", "POST": "create", "PATCH": "update", "PUT": "save", "DELETE": "delete"]
    private static let contentVerbs = ["GET": "download", "PUT": "upload", "DELETE": "delete"]

    private static func ofEntity(_ route: Route) -> String {
        guard let verb = verbs[route.method], route.segments.count > 1 else { return "" }
        let plural = camel(route.segments[1]), one = camel(singular(route.segments[1]))
        switch route.template {
        case .records: return route.method == "GET" ? "list" + plural : verb + one
        case .record: return verb + one
        case .history: return "listHistoryOf" + one
        case .content: return (contentVerbs[route.method] ?? verb) + "ContentOf" + one
        case .thumbnail: return "getThumbnailOf" + one
        case .related:
            let relation = route.segments.last ?? ""
            if case .list? = route.operation.answers.first?.content { return "list\(camel(relation))Of\(one)" }
            let name = route.method == "GET" ? relation : singular(relation)
            return "\(verb)\(camel(name))Of\(one)"
        default: return ""
        }
    }

    // MARK: Words

    /// `OrderItems` of `order_items`.
    private static func camel(_ name: String) -> String {
        name.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// One of what a plural names, by its ending; the plural itself if it has none of these.
    private static func singular(_ plural: String) -> String {
        if plural.hasSuffix("ies"), plural.count > 4 { return plural.dropLast(3) + "y" }
        for ending in ["sses", "shes", "ches", "xes"] where plural.hasSuffix(ending) {
            return String(plural.dropLast(2))
        }
        if plural.hasSuffix("uses"), !["ouses", "auses"].contains(where: plural.hasSuffix) {
            return String(plural.dropLast(2))
        }
        let isPlural = plural.hasSuffix("s") && !["ss", "us", "is"].contains { plural.hasSuffix($0) }
        return isPlural ? String(plural.dropLast()) : plural
    }
}
