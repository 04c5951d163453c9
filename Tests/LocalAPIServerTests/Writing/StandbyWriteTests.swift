import CacheStore
import EntitySchema
import JSONText
import Synchronization
import TestSupport
import Testing

@testable import LocalAPIServer

@Suite("Writes to a daemon with a standby")
struct StandbyWriteTests {
    private func api(
        _ standing: StandbyPart.Standing, isSync: Bool = false, isFull: Bool = false,
        store: @escaping @Sendable () async -> String? = { nil }
    ) async throws -> TestAPI {
        let money = "total: { type: money }"
        let texts = ["a", "b", "c"].map { "\n      \($0): { type: string }" }.joined()
        let yaml = TestAPI.shop.replacing(money, with: money + texts)
        let schema = try EntitySchema(yaml: yaml, file: "shop.yaml")
        let api = try TestAPI(
            store: CacheStore.temporary(schema),
            standby: StandbyPart(isSync: isSync, standing: { standing }, isFull: { isFull }, store: store))
        _ = try await api.store.apply(
            PulledPage(entity: "orders", records: #"[{"id":"a","status":"open"}]"#), at: TestAPI.now)
        return api
    }

    private func write(_ api: TestAPI) async -> TestAPI.Answer {
        await api.call("PATCH", "/v1/orders/a", body: #"{"status":"ready"}"#, headers: ["Idempotency-Key": "k"])
    }

    @Test("the holder of the lease takes writes", arguments: [true, false])
    func holder(isSync: Bool) async throws {
        let api = try await api(.init(holdsLease: true, holder: "a"), isSync: isSync)
        #expect(await write(api).status == 200)
    }

    @Test("a standby refuses writes, names the holder, and goes on reading", arguments: [true, false])
    func standby(isSync: Bool) async throws {
        let api = try await api(.init(holdsLease: false, holder: "till-1"), isSync: isSync)
        let answer = await write(api)
        #expect(answer.status == 503 && answer.json["code"] == "not_leader")
        #expect(answer.json["detail"]?.string?.contains("till-1") == true)
        #expect(try api.store.pendingCount().pending == 0)
        #expect(await api.call("GET", "/v1/orders/a").json["status"] == "open")
        for (method, path, body) in [
            ("POST", "/v1/orders", "{}"), ("DELETE", "/v1/pending/1", ""), ("POST", "/v1/pending/retry", ""),
        ] {
            #expect(await api.call(method, path, body: body).json["code"] == "not_leader", "\(method) \(path)")
        }
    }

    @Test("while no daemon is known to hold the lease, a write is queued, unless it has to be stored in etcd")
    func unheld() async throws {
        let standing = StandbyPart.Standing(holdsLease: false, error: "no majority")
        let alone = try await api(standing)
        #expect(await write(alone).status == 200)
        #expect(try alone.store.pendingCount().pending == 1)
        let sync = try await api(standing, isSync: true)
        let answer = await write(sync)
        #expect(answer.json["code"] == "not_leader")
        #expect(answer.json["detail"]?.string?.contains("no majority") == true)
        #expect(try sync.store.pendingCount().pending == 0)
    }

    @Test("a full queue takes no more, but can be made shorter")
    func full() async throws {
        let api = try await api(.init(holdsLease: true, holder: "a"), isSync: true, isFull: true)
        let answer = await write(api)
        #expect(answer.status == 503 && answer.json["code"] == "unavailable")
        #expect(try api.store.pendingCount().pending == 0)
        #expect(await api.call("POST", "/v1/pending/retry").status == 200)
    }

    @Test("a write that etcd does not store is not acknowledged, and its repeat makes no second change")
    func notStored() async throws {
        let answers = Mutex<[String?]>(["no majority", nil])
        let api = try await api(.init(holdsLease: true, holder: "a"), isSync: true) {
            answers.withLock { $0.removeFirst() }
        }
        let first = await write(api)
        #expect(first.status == 503 && first.json["code"] == "unavailable")
        #expect(first.json["detail"]?.string?.contains("repeat it with the same Idempotency-Key") == true)
        let second = await write(api)
        #expect(second.status == 200 && second.header("Idempotent-Replayed") == "true")
        #expect(try api.store.pendingCount().pending == 1)
        #expect(answers.withLock { $0.isEmpty })
    }

    @Test("a change that grows too large for etcd by several writes is refused, and stays as it was")
    func tooLarge() async throws {
        let api = try await api(.init(holdsLease: true, holder: "a"), isSync: true)
        var statuses: [Int] = []
        for field in ["a", "b", "c"] {
            let body = #"{"\#(field)":"\#(String(repeating: "x", count: 500_000))"}"#
            let answer = await api.call("PATCH", "/v1/orders/a", body: body)
            statuses.append(answer.status)
            if answer.status != 200 { #expect(answer.json["code"] == "content_too_large") }
        }
        #expect(statuses == [200, 200, 413])
        #expect(try api.store.pendingCount().pending == 1)
    }

    @Test("without standby.sync nothing is stored in etcd")
    func withoutSync() async throws {
        let api = try await api(.init(holdsLease: true, holder: "a")) { "called" }
        #expect(await write(api).status == 200)
    }

    @Test("status and metrics show who holds the lease, and nothing on a daemon that stands alone")
    func shown() async throws {
        let standing = StandbyPart.Standing(holdsLease: true, holder: "a", left: .milliseconds(9900))
        let api = try await api(standing, isSync: true)
        #expect(
            await api.call("GET", "/v1/status").json["standby"]?.text
                == #"{"holds_lease":true,"holder":"a","lease_s":9,"sync":true,"error":null}"#)
        #expect(await api.call("GET", "/metrics").text.contains("repairminder_sync_standby_holds_lease 1"))
        let alone = try await TestAPI.filled()
        #expect(await alone.call("GET", "/v1/status").json["standby"] == nil)
        #expect(await !alone.call("GET", "/metrics").text.contains("standby"))
    }
}
