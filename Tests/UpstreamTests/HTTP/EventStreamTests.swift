import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import Upstream

/// A stream over a transport that plays the upstream's side.
@Suite("Following event streams")
struct EventStreamTests {
    private static let schema = """
        schema: s
        upstream:
          base_url: https://shop.example
          signals:
            - sse:
                path: /realtime
                events: [changed]
                subscribe: { on: HELLO, call: POST /realtime, body: { clientId: "{$event.id}", topics: ["a/*", 7] } }
                entity: orders
                key: id
        entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
        """

    private let news = News()
    private static let head = HTTPResponse(
        status: 200, headers: [HTTPHeader("Content-Type", "text/event-stream; charset=utf-8")])

    private static func sent(_ text: String, to request: HTTPRequest) -> Bool {
        Array(text.utf8).withUnsafeBytes { request.sink?.take($0) ?? false }
    }

    private func follow(
        token: (any Credentials)? = nil, schema: String = schema, budget: RequestBudget? = nil,
        _ transport: any HTTPTransport, clock: ManualClock = ManualClock(), deadline: Duration = .seconds(60)
    ) async throws -> Result<StreamEnd, UpstreamError> {
        let schema = try EntitySchema(yaml: schema, file: "s.yaml")
        let access = UpstreamAccess(plan: schema.upstream, transport: transport, budget: budget, now: { .sample })
        let upstream = HTTPUpstream(access, token: token, deadline: deadline)
        guard case .stream(let stream)? = schema.upstream.signals.first?.kind else { throw CancellationError() }
        do throws(UpstreamError) {
            return .success(
                try await upstream.follow(stream, after: "41", clock: clock) { one in
                    news.add(one)
                })
        } catch {
            return .failure(error)
        }
    }

    @Test("an Accept that the schema wants in every request does not join that of the stream")
    func accept() async throws {
        let asked = Mutex<HTTPRequest?>(nil)
        let transport = ScriptedTransport { (request) throws(TransportError) in
            asked.withLock { $0 = request }
            return Self.head
        }
        let address = "base_url: https://shop.example"
        let headers = "headers: { Accept: application/vnd.shop+json, X-Api: '2' }"
        _ = try await follow(schema: Self.schema.replacing(address, with: "\(address)\n  \(headers)"), transport)
        let found = asked.withLock { $0 }
        let request = try #require(found)
        #expect(request.headers.filter { $0.name == "Accept" }.map(\.value) == ["text/event-stream"])
        #expect(request.header("X-Api") == "2")
    }

    @Test("the stream is asked for events once it says that it is open, and passes on those that are signals")
    func subscribes() async throws {
        let asked = Mutex<HTTPRequest?>(nil)
        let (subscriptions, continuation) = AsyncStream.makeStream(of: Void.self)
        let transport = ScriptedTransport { (request) throws(TransportError) in
            if request.method == "POST" {
                asked.withLock { $0 = request }
                continuation.yield()
                return HTTPResponse(status: 204)
            }
            guard request.sink?.begin(200, "text/event-stream") == nil else { throw .unacceptable("refused") }
            _ = Self.sent("event: HELLO\ndata: {\"id\": \"c1\"}\n\n", to: request)
            for await _ in subscriptions { break }
            _ = Self.sent("retry: 300\nid: 42\nevent: changed\ndata: {\"id\":5}\n\n", to: request)
            _ = Self.sent("event: other\ndata: {}\n\nevent: changed\ndata: plain\n\n", to: request)
            // The end of the stream would cancel the subscription before the caller has noted it.
            while !self.news.all.contains(.opened) { await Task.yield() }
            return Self.head
        }
        #expect(try await follow(transport) == .success(.closed))
        let request = try #require(asked.withLock { $0 })
        #expect(String(decoding: request.body ?? [], as: UTF8.self) == #"{"clientId":"c1","topics":["a/*",7]}"#)
        let stream = try #require(transport.requests.first)
        #expect(stream.headers.contains(HTTPHeader("Accept", "text/event-stream")))
        #expect(stream.headers.contains(HTTPHeader("Last-Event-ID", "41")))
        let news = news.all
        #expect(news.contains(.opened))
        #expect(
            news.filter { $0 != .opened } == [
                .event(StreamEvent(name: "changed", data: .object(["id": 5]), id: "42")), .retry(.milliseconds(300)),
                .event(StreamEvent(name: "changed", data: "plain", id: "42")),
            ])
    }

    @Test("an answer that is no event stream is refused before its body is read")
    func otherType() async throws {
        let transport = ScriptedTransport { (request) throws(TransportError) in
            throw .unacceptable(request.sink?.begin(200, "text/html") ?? "taken")
        }
        let result = try await follow(transport)
        #expect(result.failure?.wordless == .malformed(""))
        #expect(result.failure?.message.contains("it is not an event stream but has text/html") == true)
        #expect(news.all.isEmpty)
    }

    @Test(
        "a stream is asked for uncompressed, and refused when it is compressed all the same", arguments: ["gzip", "br"])
    func compressed(_ coding: String) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: \(coding)\r\n\r\n"
        let server = try ScriptedServer(
            [.receive, .send(Array(head.utf8) + Gzip.stored("event: changed\ndata: 1\n\n")), .awaitClientLeaving])
        let schema = Self.schema.replacing("https://shop.example", with: server.url)
        let result = try await follow(schema: schema, CurlTransport(userAgent: "test"))
        #expect(result.failure?.wordless == .malformed(""))
        #expect(result.failure?.message.contains("event streams uncompressed") == true)
        #expect(news.all.isEmpty)
        #expect(await server.nextRequest()?.contains("Accept-Encoding: identity\r\n") == true)
    }

    @Test(
        "a stream that sends too much within a second is closed",
        arguments: [
            ("event: changed\ndata: 1\n\n", EventIntake.mostEvents),
            (": \(String(repeating: "x", count: 1021))\n", EventIntake.mostBytes / 1024),
        ])
    func flood(_ piece: String, _ most: Int) async throws {
        let clock = ManualClock()
        let taken = Mutex<[Bool]>([])
        let transport = ScriptedTransport { (request) throws(TransportError) in
            // In the first second, twice in the next, and after it.
            for (pieces, pause) in [(most, 1), (most, 0), (1, 1), (1, 0)] {
                let isTaken = Self.sent(String(repeating: piece, count: pieces), to: request)
                taken.withLock { $0.append(isTaken) }
                clock.advance(by: .seconds(pause))
            }
            throw .unacceptable("refused")
        }
        let result = try await follow(transport, clock: clock)
        #expect(taken.withLock { $0 } == [true, true, false, false])
        #expect(result.failure?.wordless == .malformed(""))
        #expect(result.failure?.message.contains("1000 events or 4 MiB") == true)
    }

    @Test("a stream that was given up takes nothing more")
    func stopped() {
        let intake = EventIntake(ManualClock())
        let events = Mutex(0)
        func take() -> Bool {
            Array("data: 1\n\n".utf8).withUnsafeBytes { bytes in
                intake.take(bytes, retry: { _ in }) { _ in events.withLock { $0 += 1 } }
            }
        }
        #expect(take())
        intake.stop()
        #expect(!take())
        #expect(events.withLock { $0 } == 1)
    }

    @Test("a refused token is renewed once, and the stream opened with the new one")
    func renews() async throws {
        let token = ChangingToken(["old", "new"])
        let transport = ScriptedTransport { request in
            guard request.headers.contains(HTTPHeader("Authorization", "Bearer new")) else {
                return HTTPResponse(status: 401)
            }
            return Self.head
        }
        #expect(try await follow(token: token, transport) == .success(.closed))
        #expect(transport.requests.count == 2)
    }

    @Test("a stream ends when there is another token than the one it was opened with")
    func tokenChanges() async throws {
        let (token, clock) = (ChangingToken(["old", "new"]), ManualClock())
        let transport = ScriptedTransport { (_) throws(TransportError) in
            try? await ContinuousClock().sleep(for: .seconds(60))
            throw .cancelled
        }
        async let result = follow(token: token, transport, clock: clock)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        await clock.waitForSleepers(1)
        token.change()
        clock.advance(by: .seconds(5))
        #expect(try await result == .success(.tokenChanged))
    }

    /// A schema by which the upstream takes one request at a time, with the budget for it.
    private static func oneAtATime() throws -> (schema: String, RequestBudget) {
        let schema = Self.schema.replacing("  signals:", with: "  limits: { parallel: 1 }\n  signals:")
        let limits = try #require(try EntitySchema(yaml: schema, file: "s.yaml").upstream.limits)
        let budget = RequestBudget(
            limits: limits, monotonic: { .zero }, sleep: { _ in try await Task.sleep(for: .seconds(60)) })
        return (schema, budget)
    }

    @Test("an open stream takes no place from other requests")
    func budget() async throws {
        let (schema, budget) = try Self.oneAtATime()
        let transport = ScriptedTransport { (request) throws(TransportError) in
            guard request.method == "GET" else { return HTTPResponse(status: 204) }
            guard request.sink?.begin(200, "text/event-stream") == nil else { throw .unacceptable("refused") }
            _ = Self.sent("event: HELLO\ndata: {\"id\": \"c1\"}\n\n", to: request)
            // Until the subscription was sent, which needs the only place.
            while !self.news.all.contains(.opened) { await Task.yield() }
            return Self.head
        }
        #expect(try await follow(schema: schema, budget: budget, transport) == .success(.closed))
    }

    @Test("a stream whose headers a proxy holds back gives its place to others after the deadline of a request")
    func heldBack() async throws {
        let (schema, budget) = try Self.oneAtATime()
        let transport = ScriptedTransport { (_) throws(TransportError) in
            // Nothing comes until another request has had the only place.
            guard let pass = try? await budget.enter(.urgent, waits: { _ in }) else { throw .cancelled }
            budget.leave(pass)
            return Self.head
        }
        let result = try await follow(schema: schema, budget: budget, transport, deadline: .milliseconds(1))
        #expect(result == .success(.closed))
    }
}

/// What a stream said.
private final class News: Sendable {
    private let list = Mutex<[StreamNews]>([])

    var all: [StreamNews] { list.withLock { $0 } }
    func add(_ one: StreamNews) { list.withLock { $0.append(one) } }
}

/// Credentials that a test replaces.
private final class ChangingToken: Credentials, Sendable {
    private let tokens: Mutex<[String]>

    init(_ tokens: [String]) {
        self.tokens = Mutex(tokens)
    }

    func current() -> String? { tokens.withLock { $0.first } }
    func change() { tokens.withLock { _ = $0.removeFirst() } }

    func renew(refused: String?) -> Bool {
        tokens.withLock { tokens in
            if tokens.count > 1 { tokens.removeFirst() }
            return tokens.first != refused
        }
    }
}
