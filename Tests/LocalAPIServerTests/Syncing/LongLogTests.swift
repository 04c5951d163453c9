import EntitySchema
import SQLiteStore
import TestSupport
import Testing

@testable import CacheStore
@testable import LocalAPIServer

@Suite("Watching a long change log beside other callers")
struct LongLogTests {
    @Test(
        "a long part of the log, all of which a filter may leave out, is read on the threads for long reads",
        arguments: [
            ("since=0&kind=conflict", 503), ("since=0&entity=messages", 503), ("since=0", 200),
            ("since=700&kind=conflict", 200),
        ])
    func away(_ query: String, _ statusOfGone: Int) async throws {
        let api = try TestAPI()
        let records = "[" + (0..<1200).map { "{\"id\":\"k\($0)\"}" }.joined(separator: ",") + "]"
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        #expect(await api.call("GET", "/v1/changes?\(query)").status == 200)
        // Those threads read nothing for a caller that has gone.
        let gone = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await api.call("GET", "/v1/changes?\(query)").status
        }
        #expect(await gone.value == statusOfGone)
    }

    @Test(
        "a stream of events that begins far back goes on to the changes that its filter lets through",
        .timeLimit(.minutes(10)))
    func stream() async throws {
        let api = try TestAPI()
        let records = "[" + (0..<1200).map { "{\"id\":\"k\($0)\"}" }.joined(separator: ",") + "]"
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        try await APISocket.run(api) { server in
            let stream = try server.get("/v1/events?since=0&entity=messages")
            while api.store.signal.waiterCount < 1 { await Task.yield() }
            let message = PulledPage(entity: "messages", records: #"[{"id":"m","order_id":"k0","text":"t"}]"#)
            _ = try await api.store.apply(message, at: TestAPI.now)
            let text = try stream.receive(through: "\"id\":\"m\"")
            #expect(text.contains("\"seq\":1201,") && !text.contains("\"id\":\"k"))
        }
    }

    @Test("a caller that waits lets commits pass while reading the log takes long", .timeLimit(.minutes(10)))
    func pauses() async throws {
        let clock = SkippingClock()
        clock.stop()
        let asked = Counter()
        let schema = try EntitySchema(yaml: TestAPI.shop, file: "shop.yaml")
        let api = try TestAPI(
            store: CacheStore.temporary(schema), clock: clock, uptime: { .milliseconds(20) * asked.next() })
        let call = Task { await api.call("GET", "/v1/changes?since=0&wait=60") }
        // One of the sleeps is the timeout.
        while clock.sleeps.count < 2 { await Task.yield() }
        #expect(Set(clock.sleeps) == [.seconds(60), .milliseconds(40)])
        #expect(api.store.signal.waiterCount == 0)
        call.cancel()
        _ = await call.value
    }
}
