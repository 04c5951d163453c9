/// The change log: `client.changes`. Every change of records, queue, conflicts and reminders has a number in it.
public struct Changes: Sendable {
    let caller: Caller

    /// Some entries of the log.
    public struct Batch: Sendable, Hashable {
        /// Oldest first; empty if nothing happened.
        public let changes: [Change]
        /// Where the log continues.
        public let next: ChangePosition
    }

    /// The end of the log. Read the records after you have it, then follow the log from there.
    public func position() async throws(ClientError) -> ChangePosition { try await batch(Call.get(Self.path)).next }

    /// The entries after a place, at most `limit`. If there are none it waits for the first one, 60 s at most.
    ///
    /// The problem is `.gone` if the entries are no longer kept, or the cache is another one: read the records again.
    public func next(
        after position: ChangePosition, filter: ChangeFilter = ChangeFilter(), wait: Duration = .zero, limit: Int = 1000
    ) async throws(ClientError) -> Batch {
        var call = Call.get(Self.path, filter.items)
        call.query += [QueryItem("since", String(position.sequence)), QueryItem("limit", String(limit))]
        if let epoch = position.epoch { call.query.append(QueryItem("epoch", epoch)) }
        if wait > .zero {
            call.query.append(QueryItem("wait", String(max(1, wait.components.seconds))))
            call.wait = wait
        }
        return try await batch(call)
    }

    /// The changes as they happen, without end and without gaps, over cuts and restarts of the daemon.
    ///
    /// Without a position it begins at the end of the log, at the time when it is first asked for a change.
    public func follow(from position: ChangePosition? = nil, filter: ChangeFilter = ChangeFilter()) -> ChangeStream {
        ChangeStream(changes: self, start: position, filter: filter)
    }

    /// The events after a place, as the daemon sends them.
    func events(after position: ChangePosition, _ filter: ChangeFilter) async throws(ClientError) -> EventReader {
        var call = Call.get(PathText.path("events"), filter.items)
        call.headers.append(HeaderField("Accept", "text/event-stream"))
        if position.epoch == nil {
            call.query.append(QueryItem("since", String(position.sequence)))
        } else {
            call.headers.append(HeaderField("Last-Event-ID", position.text))
        }
        return EventReader(try await caller.response(call).body)
    }

    private func batch(_ call: Call) async throws(ClientError) -> Batch {
        let body = try await caller.json(call).body
        guard let data = body["data"]?.array, let next = body["next"]?.int else {
            throw .unexpected("\(Self.path) answered no changes; is the daemon much older?")
        }
        let epoch = body["epoch"]?.string
        return Batch(
            changes: data.compactMap(\.object).compactMap { Change(json: $0, epoch: epoch) },
            next: ChangePosition(epoch: epoch, sequence: next))
    }

    private static let path = PathText.path("changes")
}

/// Which entries of the change log are wanted; all if empty.
public struct ChangeFilter: Sendable, Hashable {
    /// Of these entities.
    public var entities: [String]
    /// Of these kinds.
    public var kinds: [ChangeKind]

    /// A filter.
    public init(entities: [String] = [], kinds: [ChangeKind] = []) {
        self.entities = entities
        self.kinds = kinds
    }

    var items: [QueryItem] { QueryItem.list("entity", entities) + QueryItem.list("kind", kinds.map(\.rawValue)) }
}
