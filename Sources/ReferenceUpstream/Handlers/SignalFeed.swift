internal import EntitySchema
internal import JSONText
internal import SocketServer
internal import Synchronization

/// What has changed, and the streams and lists that say so.
final class SignalFeed: Sendable {
    struct Change: Sendable {
        var entity: String
        /// With the type that it has in records.
        var key: JSONText
    }

    private struct State {
        /// The last ones; the first has the number `forgotten` + 1.
        var changes: [Change] = []
        var forgotten = 0
        var clients = 0
        /// The streams whose callers have asked for events.
        var subscribed: Set<String> = []
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var streams = 0
    }

    private static let most = 10_000
    private static let pageSize = 100

    private let sources: [SignalSource]
    private let state = Mutex(State())

    init(schema: EntitySchema) { sources = schema.upstream.signals }

    func add(_ changes: [Change]) {
        guard !changes.isEmpty else { return }
        let waiting = state.withLock { state in
            state.changes += changes
            let surplus = max(0, state.changes.count - Self.most)
            state.changes.removeFirst(surplus)
            state.forgotten += surplus
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.yield() }
    }

    /// The changes after a number, and the number of the last one.
    private func changes(after number: Int) -> (changes: [(number: Int, change: Change)], last: Int) {
        state.withLock { state in
            let first = min(max(0, number - state.forgotten), state.changes.count)
            let changes = state.changes[first...].enumerated().map { (state.forgotten + first + $0 + 1, $1) }
            return (changes, state.forgotten + state.changes.count)
        }
    }

    // MARK: Streams

    /// Sends each change of now on; with `Last-Event-ID`, also those after it.
    func stream(_ index: Int, _ request: Request) -> Response {
        let source = sources[index]
        guard case .stream(let stream) = source.kind else { return Response(status: 404) }
        let given = request.headers[single: "Last-Event-ID"].flatMap { Int($0) }
        let start = given ?? changes(after: .max).last
        let client = state.withLock { state in
            state.clients += 1
            return "client-\(state.clients)"
        }
        return Response(status: 200, headers: [("Content-Type", "text/event-stream")]) { write in
            await self.send(source, stream, client, after: start, write)
        }
    }

    private func send(
        _ source: SignalSource, _ stream: SignalStream, _ client: String, after start: Int,
        _ write: Response.Write
    ) async {
        let (id, wakes) = wait()
        defer { state.withLock { $0.waiting[id] = nil } }
        var sent = start
        do {
            try await write(Array(": connected\n\n".utf8))
            if let subscription = stream.subscription {
                let greeting = subscription.body.greeting(client).text
                try await write(Array("event: \(subscription.event)\ndata: \(greeting)\n\n".utf8))
            }
            for await _ in wakes {
                guard stream.subscription == nil || state.withLock({ $0.subscribed.contains(client) }) else { continue }
                let (changes, last) = changes(after: sent)
                for (number, change) in changes where source.reading.entities.contains(change.entity) {
                    let message = SignalMessage(source: source, change: change)
                    let lines = "id: \(number)\nevent: \(message.event)\ndata: \(message.body.text)\n\n"
                    try await write(Array(lines.utf8))
                }
                sent = last
            }
        } catch {
            // The caller has gone.
        }
    }

    private func wait() -> (Int, AsyncStream<Void>) {
        let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.streams += 1
            state.waiting[state.streams] = continuation
            return state.streams
        }
        continuation.yield()
        return (id, wakes)
    }

    /// A caller asks for the events of its stream, which it names somewhere in the body.
    func subscribe(_ request: Request) -> Answer {
        let text = String(decoding: request.body, as: UTF8.self)
        let (isKnown, waiting) = state.withLock { state in
            let names = (1...max(1, state.clients)).map { "client-\($0)" }.filter { text.contains("\"\($0)\"") }
            state.subscribed.formUnion(names)
            return (!names.isEmpty, Array(state.waiting.values))
        }
        for continuation in waiting { continuation.yield() }
        return Answer(status: isKnown ? 204 : 404)
    }

    // MARK: Lists

    /// The changes after the caller's position. Without a position, some upstreams answer with an error that has one.
    func events(_ index: Int, _ request: Request) -> Answer {
        let source = sources[index]
        guard case .events(let events) = source.kind else { return Answer(status: 404) }
        let parameters = PercentCoding.parameters(request.query) ?? []
        let given = parameters.first { $0.name == events.parameter }.flatMap { Int($0.value) }
        if given == nil, let status = events.expired.first, let place = events.cursor {
            return .json(status, JSONText.object([:]).putting(.integer(changes(after: .max).last), at: place))
        }
        let position = given ?? 0
        let changes = changes(after: position).changes.prefix(Self.pageSize)
        let elements = changes.map { number, change in
            let element = SignalMessage(source: source, change: change).element
            return events.mark.map { element.putting(.integer(number), at: $0) } ?? element
        }
        var body = JSONText.array(elements)
        if events.list.records != .itself || events.cursor != nil {
            body = JSONText.object([:]).putting(body, at: events.list.records)
        }
        if let place = events.cursor { body = body.putting(.integer(changes.last?.number ?? position), at: place) }
        return .json(200, body)
    }
}

extension SignalEvents {
    /// The parameter with the position.
    fileprivate var parameter: String {
        switch list.style {
        case .cursor(let parameter, _), .lastRecord(let parameter, _): parameter
        default: since?.parameter ?? ""
        }
    }

    /// Where an answer has the position.
    fileprivate var cursor: Place? { if case .cursor(_, let place) = list.style { place } else { nil } }

    /// Where an event has its number.
    fileprivate var mark: Place? {
        if case .lastRecord(_, let place) = list.style { place } else { since?.greatest }
    }
}

extension SignalBody {
    /// The first event of a stream: the caller's name in every place that the subscription fills in.
    fileprivate func greeting(_ client: String) -> JSONText {
        var greeting = JSONText.object([:])
        for path in paths { greeting = greeting.putting(.string(client), at: Place(paths: [path])) }
        return greeting
    }

    private var paths: [String] {
        switch self {
        case .constant: []
        case .text(let template):
            template.placeholders.compactMap { placeholder in
                guard case .value(let name) = placeholder.name else { return nil }
                return String(name.dropFirst("event.".count))
            }
        case .list(let elements): elements.flatMap(\.paths)
        case .object(let members): members.flatMap(\.value.paths)
        }
    }
}
