/// Reads a source `events`: a list that is polled.
struct EventListReader {
    let node: SchemaNode

    func events() throws(SchemaError) -> SignalEvents {
        try node.requireKeys(["path", "query", "since", "every", "empty"] + SignalReader.readingKeys)
        var every = Duration.seconds(10)
        if let node = node.child("every") {
            every = try node.duration()
            guard every >= .milliseconds(100), every <= .seconds(86_400) else {
                throw node.error("expected 100ms to 24h")
            }
        }
        var events = SignalEvents(
            path: try node.required("path").fixedPath(), query: try SignalReader.query(node.child("query")),
            list: ListPlan(
                style: .single, size: nil, pageSize: 1, total: nil,
                records: try node.child("records")?.place() ?? .itself),
            every: every)
        events.list.empty = try node.child("empty")?.place()
        try position(node.required("since"), &events)
        return events
    }

    /// Such as `{ param: after, next: meta.cursor, expired: 412 }`, `{ param: after, next: { last: id } }` or
    /// `{ param: from, greatest: at }`.
    private func position(_ node: SchemaNode, _ events: inout SignalEvents) throws(SchemaError) {
        try node.requireKeys(["param", "next", "greatest", "expired"])
        let parameter = try node.required("param").string()
        switch (node.child("next"), node.child("greatest")) {
        case (let next?, nil) where next.isMapping:
            try next.requireKeys(["last"])
            events.list.style = .lastRecord(parameter: parameter, place: try next.required("last").place())
        case (let next?, nil):
            events.list.style = .cursor(parameter: parameter, next: try next.place())
            events.expired = try node.expiredStatuses()
            return
        case (nil, let greatest?):
            events.since = SignalEvents.Since(parameter: parameter, greatest: try greatest.place())
        default:
            throw node.error(
                "expected next (where an answer has the next position, or { last: id } for a value of the last event) or "
                    + "greatest (the events' member whose greatest value is the position)")
        }
        if let expired = node.child("expired") {
            throw expired.error("the answer has another position only at a place; name that in next, or remove expired")
        }
    }
}
