import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import Upstream

@Suite("Requests that are counted")
struct SentOnceTests {
    private static let yaml = """
        schema: shop
        upstream: { base_url: "https://shop.example", limits: { requests: 10, per: 1m } }
        entities: { orders: { fields: { id: { type: string } }, pull: { path: /orders } } }
        """

    private let clock = ManualClock()

    private func budget(_ limits: RequestLimits?) throws -> RequestBudget {
        let start = clock.now
        return RequestBudget(
            limits: try #require(limits), monotonic: { [clock] in start.duration(to: clock.now) },
            sleep: { [clock] in try await clock.sleep(for: $0) })
    }

    /// The first requests fail because their connection was dead.
    private func transport(dropping count: Int) -> ScriptedTransport {
        let left = Counter(count)
        return ScriptedTransport { (_) throws(TransportError) in
            guard left.next() else { return .json(200, "[]") }
            throw .dropped("the connection ended")
        }
    }

    private final class Counter: Sendable {
        private let left: Mutex<Int>

        init(_ count: Int) { left = Mutex(count) }

        /// False once it was called so often.
        func next() -> Bool {
            left.withLock { left in
                left -= 1
                return left >= 0
            }
        }
    }

    @Test("one whose kept connection was dead is sent again, and counts twice")
    func sentAgain() async throws {
        let schema = try EntitySchema(yaml: Self.yaml, file: "s.yaml")
        let budget = try budget(schema.upstream.limits)
        let transport = transport(dropping: 1)
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, budget: budget)
        let plan = try #require(schema["orders"]?.pull)
        #expect(try await upstream.page(plan.request(of: "orders")).count == 0)
        #expect(transport.requests.map(\.isSentOnce) == [true, true])
        #expect(budget.balance.remaining == 8)
    }

    @Test("a second dead connection is a failure")
    func sentTwice() async throws {
        let schema = try EntitySchema(yaml: Self.yaml, file: "s.yaml")
        let budget = try budget(schema.upstream.limits)
        let transport = transport(dropping: 2)
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport, budget: budget)
        let request = try #require(schema["orders"]?.pull).request(of: "orders")
        await #expect(throws: UpstreamError.unclear(status: nil, "the connection ended")) {
            try await upstream.page(request)
        }
        #expect(transport.requests.count == 2)
    }

    @Test("without limits the transport may send it again by itself")
    func unlimited() async throws {
        let yaml = Self.yaml.replacing(", limits: { requests: 10, per: 1m }", with: "")
        let schema = try EntitySchema(yaml: yaml, file: "s.yaml")
        let transport = transport(dropping: 0)
        let upstream = HTTPUpstream(plan: schema.upstream, transport: transport)
        _ = try await upstream.page(try #require(schema["orders"]?.pull).request(of: "orders"))
        #expect(transport.requests.map(\.isSentOnce) == [false])
    }
}
