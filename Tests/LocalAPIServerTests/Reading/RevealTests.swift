import CacheStore
import JSONText
import Logging
import SocketServer
import TestSupport
import Testing

@Suite("Revealing secrets")
struct RevealTests {
    private let log = LogLines(from: .trace)

    private func api() async throws -> TestAPI {
        let api = try TestAPI(field: "pin: { type: string, secret: true }", log: log.logger)
        let records = #"[{"id":"a","status":"ready","total":129.90,"pin":"1234"},{"id":"b","status":"open"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: records), at: TestAPI.now)
        return api
    }

    @Test(
        "a record is shown with the requested secret, neither to be kept nor to be compressed, and the caller is logged"
    )
    func reveal() async throws {
        let api = try await api()
        let answer = await api.call(
            "GET", "/v1/orders/a?reveal=pin", headers: ["X-Request-Id": "r1"],
            caller: Caller(user: 1000, access: .member))
        #expect(answer.status == 200)
        #expect(answer.json["pin"] == "1234")
        #expect(answer.json["total"]?.text == "129.90")
        #expect(answer.json.members.last?.key == "_sync")
        #expect(answer.header("Cache-Control") == "no-store, no-transform")
        #expect(
            log.all.map(\.text) == [
                "notice secrets were shown caller=user 1000 entity=orders fields=pin id=a request_id=r1"
            ])
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
        #expect(log.all.isEmpty)
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
        #expect(log.all.isEmpty)
    }

    @Test("an unknown record gets 404, a list reveals nothing, an unknown caller sees nothing")
    func elsewhere() async throws {
        let api = try await api()
        #expect(await api.call("GET", "/v1/orders/c?reveal=pin").status == 404)
        #expect(await api.call("GET", "/v1/orders?reveal=pin").status == 400)
        let stranger = await api.call("GET", "/v1/orders/a?reveal=pin", headers: ["Authorization": nil])
        #expect(stranger.status == 401)
        #expect(log.all.allSatisfy { $0.message != "secrets were shown" })
    }

    @Test("a refused write does not repeat the secret")
    func refusal() async throws {
        let answer = try await api().call("PATCH", "/v1/orders/a", body: #"{"pin":4711}"#)
        #expect(answer.status == 422)
        #expect(!answer.text.contains("4711"))
    }
}
