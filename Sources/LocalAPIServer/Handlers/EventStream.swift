internal import CacheStore
internal import JSONText
internal import SQLiteStore
internal import SocketServer

/// The change log as Server-Sent Events (WHATWG HTML, 9.2).
///
/// Each reader is served from the log at its own pace and costs one page of the log in memory. The server's write
/// deadline drops a reader that stalls.
extension Handlers {
    /// The number of events read and written at a time.
    private static let pageSize = 100
    /// How often something is written at least, so that each side notices when the other is gone.
    private static let heartbeat = Duration.seconds(15)
    /// How long a disconnected reader should wait before it reconnects, in milliseconds.
    private static let retry = 3000

    /// `Last-Event-ID` overrides `since`, because a reader that reconnects repeats its first request.
    func events(_ request: Request) throws -> Response {
        let parameters = try QueryParameters(request)
        var mistakes = mistakes
        let filter = changeFilter(parameters, &mistakes)
        let since: Int64? = mistakes.collect(nil, try parameters.position("since"))
        let epoch: String? = mistakes.collect(nil, try parameters.value("epoch"))
        let last: EventID? = mistakes.collect(nil, try EventID(request))
        try mistakes.throwAny()
        if let epoch = last?.epoch ?? epoch { try requireEpoch(epoch) }
        let start = try last?.position ?? since ?? store.position()
        // A position that is too old must be reported before the stream begins.
        _ = try store.changes(since: start, limit: 1)
        guard let place = places.streams.take(for: request) else {
            throw Problem.unavailable("too many event streams are open; close one, or poll GET /v1/changes")
        }
        let headers = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")]
        return Response(status: 200, headers: headers) { write in
            do {
                try await write(Array("retry: \(Self.retry)\n\n".utf8))
                try await follow(from: start, filter, for: request, write)
            } catch {
                // The reader is gone or too slow, or its position was pruned: it reconnects and gets the error.
            }
            withExtendedLifetime(place) {}
        }
    }

    /// Returns when the server stops or the reader's session has ended; throws when the reader is gone.
    private func follow(
        from start: Int64, _ filter: ChangeFilter, for request: Request,
        _ write: Response.Write
    ) async throws {
        var position = start
        while !Task.isCancelled, !store.signal.isClosed, callers.mayContinue(request) {
            let commits = store.signal.commits
            let page = try await changes(since: position, filter, Self.pageSize, for: request)
            position = page.next
            if !page.events.isEmpty { try await write(text(of: page.events)) }
            guard !page.isFull else { continue }
            let isNews = try await within(Self.heartbeat) {
                await store.signal.wait(after: commits)
                return store.signal.commits != commits
            }
            // The comment has the position reached, so that what the filter left out is not read again.
            if !isNews { try await write(Array(": \nid: \(store.epoch)-\(position)\n\n".utf8)) }
        }
    }

    private func text(of events: [ChangeEvent]) -> [UInt8] {
        var bytes: [UInt8] = []
        for event in events {
            bytes += Array("id: \(store.epoch)-\(event.seq)\nevent: \(event.kind)\ndata: ".utf8)
            // Our JSON has no line breaks.
            bytes += event.document.bytes
            bytes += [0x0A, 0x0A]
        }
        return bytes
    }
}

/// The id of an event: the epoch of its cache, and its position in the change log.
private struct EventID {
    let epoch: String
    let position: Int64

    /// Nil without `Last-Event-ID`.
    init?(_ request: Request) throws(Problem) {
        let given = request.headers[all: "Last-Event-ID"].filter { !$0.isEmpty }
        guard let last = given.first else { return nil }
        guard given.count == 1, let dash = last.lastIndex(of: "-"),
            let number = Int64(last[last.index(after: dash)...]), number >= 0
        else {
            throw .header("Last-Event-ID", "Last-Event-ID is not one of this API; omit it, or send one unchanged")
        }
        epoch = String(last[..<dash])
        position = number
    }
}
