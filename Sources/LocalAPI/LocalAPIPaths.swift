/// Where the client finds what it asks the local API for; names and ids are percent-encoded here and nowhere else.
package enum LocalAPIPaths {
    package static let status = "/v1/status"
    package static let sync = "/v1/sync"
    package static let pending = "/v1/pending"
    package static let conflicts = "/v1/conflicts"
    package static let dashboard = "/v1/dashboard"
    package static let drift = "/v1/drift"
    package static let changes = "/v1/changes"
    package static let reminders = "/v1/reminders"
    package static let search = "/v1/search"
    package static let pendingCount = "/v1/pending/count"
    package static let retryAllPending = "/v1/pending/retry"

    package static func records(of entity: String) -> String { "/v1/" + segment(entity) }

    package static func record(of entity: String, id: String) -> String { records(of: entity) + "/" + segment(id) }

    package static func history(of entity: String, id: String) -> String { record(of: entity, id: id) + "/history" }

    package static func pendingChange(_ id: String) -> String { pending + "/" + segment(id) }

    package static func retryPending(_ id: String) -> String { pendingChange(id) + "/retry" }

    package static func conflict(_ id: String) -> String { conflicts + "/" + segment(id) }

    /// `decision`: `resolve` or `undo`.
    package static func conflict(_ id: String, _ decision: String) -> String { conflict(id) + "/" + decision }

    /// `decision`: `dismiss` or `snooze`.
    package static func reminder(_ id: String, _ decision: String) -> String {
        reminders + "/" + segment(id) + "/" + decision
    }

    /// One segment of a path (RFC 3986, 3.3). A lone `.` or `..` is encoded too, or clients would resolve it away.
    static func segment(_ name: String) -> String {
        if name == "." || name == ".." { return String(repeating: "%2E", count: name.count) }
        return PercentEncoding.encode(name)
    }
}
