import CacheStore
import JSONText
import Logging
import SocketServer
import Synchronization
import TestSupport
import Testing

@Suite("Revealing secrets")
struct RevealTests {
    private let log = Notices()

    private func api() async throws -> TestAPI {
        let log = log
        let api = try TestAPI(
            field: "pin: { type: string, secret: true }",
            log: Logger(label: "test") { _ in NoticeHandler(notices: log) })
        let records = #"[{"id":"a","status":"ready","total":129.90,"pin":"1234"},{"id":"b","status":"open"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        return api
    }

    @Test("a record is shown with the requested secret, marked no-store, and the caller is logged")
    func reveal() async throws {
        let api = try await api()
        let answer = await api.call(
            "GET", "/v1/orders/a?reveal=pin", headers: ["X-Request-Id": "r1"],
            caller: Caller(user: 1000, access: .member))
        #expect(answer.status == 200)
        #expect(answer.json["pin"] == "1234")
        #expect(answer.json["total"]?.text == "129.90")
        #expect(answer.json.members.last?.key == "_sync")
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(log.lines == ["notice secrets were shown caller=user 1000 entity=orders fields=pin id=a request_id=r1"])
    }

    @Test("a secret is not shown without reveal, in a record, a list, a change or a conflict")
    func hidden() async throws {
        let api = try await api()
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"pin":"9876"}"#)
        for path in ["/v1/orders/a", "/v1/orders", "/v1/pending", "/v1/pending/1", "/v1/conflicts", "/v1/drift"] {
            let answer = await api.call("GET", path)
            #expect(answer.status == 200)
            for text in ["1234", "9876", "sealed:"] { #expect(!answer.text.contains(text), "\(path)") }
        }
        #expect(log.lines.isEmpty)
    }

    @Test("a missing secret is shown as null")
    func null() async throws {
        let api = try await api()
        let answer = await api.call("GET", "/v1/orders/b?reveal=pin")
        #expect(answer.json["pin"] == .null)
    }

    @Test(
        "revealing a field that is unknown, not secret or named twice is refused",
        arguments: ["total", "pim", "", "pin,total", "pin,pin", "pin&reveal=pin"])
    func refused(_ fields: String) async throws {
        let answer = try await api().call("GET", "/v1/orders/a?reveal=\(fields)")
        #expect(answer.status == 400)
        #expect(answer.json["errors"]?.elements.first?["field"] == "reveal")
        #expect(log.lines.isEmpty)
    }

    @Test("an unknown record gets 404, a list reveals nothing, an unknown caller sees nothing")
    func elsewhere() async throws {
        let api = try await api()
        #expect(await api.call("GET", "/v1/orders/c?reveal=pin").status == 404)
        #expect(await api.call("GET", "/v1/orders?reveal=pin").status == 400)
        let stranger = await api.call("GET", "/v1/orders/a?reveal=pin", headers: ["Authorization": nil])
        #expect(stranger.status == 401)
        #expect(log.lines.allSatisfy { !$0.contains("secrets were shown") })
    }

    @Test("a refused write does not repeat the secret")
    func refusal() async throws {
        let answer = try await api().call("PATCH", "/v1/orders/a", body: #"{"pin":4711}"#)
        #expect(answer.status == 422)
        #expect(!answer.text.contains("4711"))
    }
}

private final class Notices: Sendable {
    private let all = Mutex<[String]>([])

    var lines: [String] { all.withLock { $0 } }

    func add(_ line: String) { all.withLock { $0.append(line) } }
}

private struct NoticeHandler: LogHandler {
    let notices: Notices
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    init(notices: Notices) {
        self.notices = notices
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        notices.add("\(event.level) \(event.message) \(values.joined(separator: " "))")
    }
}
