internal import EntitySchema
internal import LocalAPI

/// The operation ids of the OpenAPI document: names that read well as methods of a generated client, such as
/// `listOrders`, `getOrder` and `listMessagesOfTicket`.
struct OperationNames {
    private var taken: Set<String> = []

    /// The name of a route; call it once for each, those of the daemon's own calls first.
    mutating func name(of route: Route) -> String {
        let plain = Self.own["\(route.method) \(route.template.text)"] ?? Self.ofEntity(route) ?? Self.fallback(route)
        // An entity may be called like a call of the daemon's own, or like another entity's singular.
        var name = plain
        var number = 1
        while !taken.insert(name).inserted {
            name = number == 1 ? plain + "Record" : "\(plain)Record\(number)"
            number += 1
        }
        return name
    }

    // MARK: The daemon's own calls

    private static let own = [
        "GET /": "getPage", "GET /healthz": "checkHealth", "GET /readyz": "checkReadiness",
        "GET /metrics": "getMetrics",
        "GET /openapi.json": "getDescription", "GET /v1": "getIndex", "GET /v1/schema": "getSchema",
        "GET /v1/schema/{entity}": "getEntitySchema", "GET /v1/status": "getStatus", "GET /v1/drift": "getDrift",
        "GET /v1/_activity": "getActivity", "GET /v1/_doctor": "getFindings",
        "GET /v1/dashboard": "getDashboard", "POST /v1/_batch": "writeBatch",
        "GET /v1/_sign-in": "getSignInWays", "POST /v1/_sign-in": "signIn",
        "POST /v1/_session": "beginSession", "DELETE /v1/_session": "endSession",
        "POST /v1/sync": "startSync", "POST /v1/sync/pause": "pauseSync",
        "POST /v1/sync/resume": "resumeSync", "GET /v1/changes": "listChanges", "GET /v1/events": "streamEvents",
        "GET /v1/search": "search", "GET /v1/pending": "listPendingChanges",
        "GET /v1/pending/count": "countPendingChanges", "GET /v1/pending/{id}": "getPendingChange",
        "PATCH /v1/pending/{id}": "correctPendingChange", "DELETE /v1/pending/{id}": "discardPendingChange",
        "POST /v1/pending/{id}/retry": "retryPendingChange", "POST /v1/pending/retry": "retryPendingChanges",
        "GET /v1/conflicts": "listConflicts", "GET /v1/conflicts/{id}": "getConflict",
        "POST /v1/conflicts/{id}/resolve": "resolveConflict", "POST /v1/conflicts/{id}/undo": "undoConflict",
        "GET /v1/reminders": "listReminders", "GET /v1/reminders/{id}": "getReminder",
        "POST /v1/reminders/{id}/dismiss": "dismissReminder", "POST /v1/reminders/{id}/snooze": "snoozeReminder",
        "GET /v1/_hooks": "listHooks", "GET /v1/_hooks/{id}": "getHook", "POST /v1/_hooks/{id}/pause": "pauseHook",
        "POST /v1/_hooks/{id}/resume": "resumeHook", "POST /v1/_hooks/{id}/skip": "skipHookDelivery",
        "POST /v1/_hooks/{id}/retry": "retryHook", "POST /v1/_hooks/{id}/discard": "discardHookDeliveries",
    ]

    // MARK: The calls of an entity

    private static let verbs = ["GET": "get", "POST": "create", "PATCH": "update", "PUT": "save", "DELETE": "delete"]
    private static let contentVerbs = ["GET": "download", "PUT": "upload", "DELETE": "delete"]

    private static func ofEntity(_ route: Route) -> String? {
        guard let verb = verbs[route.method], route.segments.count > 1 else { return nil }
        let plural = camel(route.segments[1]), one = camel(singular(route.segments[1]))
        switch route.template {
        case .records: return route.method == "GET" ? "list" + plural : verb + one
        case .record: return verb + one
        case .history: return "listHistoryOf" + one
        case .content: return (contentVerbs[route.method] ?? verb) + "ContentOf" + one
        case .thumbnail: return "getThumbnailOf" + one
        case .related:
            guard let relation = route.segments.last else { return nil }
            if case .list? = route.operation.answers.first?.content { return "list\(camel(relation))Of\(one)" }
            let name = route.method == "GET" ? relation : singular(relation)
            return "\(verb)\(camel(name))Of\(one)"
        default: return nil
        }
    }

    /// `postBatch` of `POST /v1/_batch`.
    private static func fallback(_ route: Route) -> String {
        let words = route.segments.filter { $0 != "v1" && !$0.isEmpty && !$0.hasPrefix("{") }
        return route.method.lowercased() + words.map(camel).joined()
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
