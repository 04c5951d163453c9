import CacheStore
import JSONText
import TestSupport
import Testing

@Suite("Labels of enum values")
struct LabelTests {
    /// Order `a` is ready, with a grade that the schema does not know; `b` has a grade alone; `c` has no values.
    private func filled() async throws -> TestAPI {
        let fields = """
            grade: { type: enum, values: { one: First class, two: Second class }, from: rating.grade }
                  mood: { type: enum, values: { calm: Calm }, secret: true }
            """
        let api = try TestAPI(field: fields)
        let orders = """
            [{"id":"a","status":"ready","grade":"three","mood":"calm","created_at":"2026-01-02"},
             {"id":"b","rating":{"grade":"two"},"created_at":"2026-01-01"},{"id":"c","status":null,"grade":1}]
            """
        let messages = #"[{"id":"m","order_id":"a","text":"one"}]"#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: orders), at: TestAPI.now)
        _ = try await api.store.apply(PulledPage(entity: "messages", records: messages), at: TestAPI.now)
        return api
    }

    private func labels(_ list: JSONText) -> [String?] { list["data"]?.elements.map { $0["_labels"]?.text } ?? [] }

    @Test("each record of a list has the labels of the values that the schema knows, and no others")
    func list() async throws {
        let answer = await (try filled()).call("GET", "/v1/orders?labels=true")
        #expect(answer.status == 200)
        #expect(labels(answer.json) == [#"{"status":"Ready"}"#, #"{"grade":"Second class"}"#, "{}"])
        #expect(answer.json["data"]?.elements.first?.members.suffix(2).map(\.key) == ["_sync", "_labels"])
        #expect(!answer.text.contains("Calm"))
    }

    @Test("a single record has them too, of its values as readers see them")
    func one() async throws {
        let api = try await filled()
        #expect(await api.call("GET", "/v1/orders/a?labels=true").json["_labels"]?.text == #"{"status":"Ready"}"#)
        _ = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open","grade":"one"}"#)
        let changed = await api.call("GET", "/v1/orders/a?labels=true").json
        #expect(changed["_labels"]?.text == #"{"status":"Open","grade":"First class"}"#)
    }

    @Test("included records and the record of a relation have them")
    func related() async throws {
        let api = try await filled()
        let message = await api.call("GET", "/v1/messages/m?labels=true&include=order.messages").json
        #expect(message["_labels"]?.text == "{}")
        #expect(message.at(path: "_include.order._labels.status") == "Ready")
        let nested = message.at(path: "_include.order._include.messages")?.elements.first
        #expect(nested?["_labels"]?.text == "{}")
        let orders = await api.call("GET", "/v1/orders?labels=true&include=messages").json
        #expect(labels(orders) == [#"{"status":"Ready"}"#, #"{"grade":"Second class"}"#, "{}"])
        let order = await api.call("GET", "/v1/messages/m/order?labels=true").json
        #expect(order["_labels"]?.text == #"{"status":"Ready"}"#)
    }

    @Test("only fields that are shown have labels")
    func fields() async throws {
        let api = try await filled()
        let grades = await api.call("GET", "/v1/orders?labels=true&fields=grade").json
        #expect(labels(grades) == ["{}", #"{"grade":"Second class"}"#, "{}"])
    }

    @Test("labels are not shown by default", arguments: ["", "?labels=false", "?include=messages"])
    func without(_ query: String) async throws {
        let api = try await filled()
        for path in ["/v1/orders", "/v1/orders/a"] {
            let answer = await api.call("GET", path + query)
            #expect(answer.status == 200 && !answer.text.contains("_labels"), "\(path)")
        }
    }

    @Test("anything but true and false gets 400", arguments: ["yes", "status", "2"])
    func refused(_ value: String) async throws {
        let api = try await filled()
        for path in ["/v1/orders", "/v1/orders/a"] {
            let answer = await api.call("GET", "\(path)?labels=\(value)")
            #expect(answer.status == 400 && answer.json["errors"]?.elements.first?["field"] == "labels", "\(path)")
        }
    }

    @Test("a record with labels has a tag of its own, which a write accepts")
    func tags() async throws {
        let api = try await filled()
        let plain = try #require(await api.call("GET", "/v1/orders/a").header("ETag"))
        let tag = try #require(await api.call("GET", "/v1/orders/a?labels=true").header("ETag"))
        #expect(tag != plain)
        let headers = ["If-None-Match": tag]
        #expect(await api.call("GET", "/v1/orders/a?labels=true", headers: headers).status == 304)
        #expect(await api.call("GET", "/v1/orders/a", headers: headers).status == 200)
        let change = await api.call(
            "PATCH", "/v1/orders/a", body: #"{"status":"open"}"#, headers: ["If-Match": tag])
        #expect(change.status == 200)
    }
}
