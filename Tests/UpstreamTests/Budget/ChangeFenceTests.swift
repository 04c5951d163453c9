import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import Upstream

@Suite("The fence before a change is sent")
struct ChangeFenceTests {
    private static let yaml = """
        schema: shop
        upstream:
          base_url: https://shop.example
          limits: { requests: 1, per: 1m }
          batch: { call: POST /batch, element: { url: "{$path}", body: $body }, results: results }
        entities:
          orders:
            fields: { id: { type: string }, text: { type: string } }
            pull: { path: /orders }
            push: { create: { call: POST /orders }, update: { call: "PATCH /orders/{id}" } }
        """

    private let clock = ManualClock()
    private let schema: EntitySchema
    private let budget: RequestBudget
    private let transport = ScriptedTransport { _ in .json(200, #"{"id":"1"}"#) }

    init() throws {
        schema = try EntitySchema(yaml: Self.yaml, file: "shop.yaml")
        budget = RequestBudget(
            limits: try #require(schema.upstream.limits), monotonic: { [clock] in clock.now.offset },
            sleep: { [clock] in try await clock.sleep(for: $0) })
    }

    /// When the fence was asked.
    private final class Calls: Sendable {
        private let state = Mutex<[Duration]>([])

        var times: [Duration] { state.withLock { $0 } }

        func add(_ time: Duration) { state.withLock { $0.append(time) } }
    }

    private let change = PushRequest(entity: "orders", method: "POST", path: "/orders", body: JSONText.object([:]))

    /// `fence` is called before each sending.
    private func upstream(_ fence: @escaping @Sendable () async throws(UpstreamError) -> Void) -> any Upstream {
        var turn = RequestTurn()
        turn.fence = fence
        return HTTPUpstream(plan: schema.upstream, transport: transport, budget: budget).taking(turn)
    }

    private var refusing: any Upstream {
        upstream { () async throws(UpstreamError) in throw .held("another daemon may push") }
    }

    @Test("it is asked after the wait for the budget, with nothing sent yet")
    func order() async throws {
        let calls = Calls()
        let upstream = upstream { [clock, transport] () async throws(UpstreamError) in
            calls.add(clock.now.offset)
            #expect(transport.requests.count == calls.times.count - 1)
        }
        _ = try? await upstream.push(change, idempotencyKey: "1")
        let second = Task { [change] in try? await upstream.push(change, idempotencyKey: "2") }
        await clock.waitForSleepers(1)
        #expect(calls.times == [.zero])
        clock.advance(by: .seconds(60))
        _ = await second.value
        #expect(calls.times == [.zero, .seconds(60)])
        #expect(transport.requests.count == 2)
    }

    @Test("a change that it holds back is not sent, whatever its form")
    func forms() async throws {
        let held = UpstreamError.held("another daemon may push")
        let upstream = refusing
        await #expect(throws: held) { try await upstream.push(change, idempotencyKey: "k") }
        clock.advance(by: .seconds(60))
        let source = BodySource(size: 1) { _, _ in [1] }
        await #expect(throws: held) { try await upstream.upload(change, from: source, idempotencyKey: "k") }
        clock.advance(by: .seconds(60))
        let deletion = PushRequest(entity: "orders", method: "DELETE", path: "/orders/1", body: nil)
        await #expect(throws: held) { try await upstream.push(deletion, idempotencyKey: "k") }
        clock.advance(by: .seconds(60))
        let batch = BatchRequest(plan: try #require(schema.upstream.batch), elements: [])
        await #expect(throws: held) { try await upstream.push(batch) }
        #expect(transport.requests.isEmpty)
    }

    @Test("a change that it holds back gives its place in the budget to the next request")
    func place() async throws {
        _ = try? await refusing.push(change, idempotencyKey: "k")
        #expect(budget.balance.waiting == 0)
        clock.advance(by: .seconds(60))
        #expect(budget.balance.remaining == 1)
    }

    @Test("reading does not pass it")
    func reading() async throws {
        try await refusing.probe()
        #expect(transport.requests.count == 1)
    }
}
