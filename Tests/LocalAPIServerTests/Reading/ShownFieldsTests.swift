import CacheStore
import JSONText
import TestSupport
import Testing

@Suite("Fields that a read names")
struct ShownFieldsTests {
    @Test("a record shows the named fields and its key, each once, and what is shown beside them")
    func one() async throws {
        let api = try await TestAPI.filled()
        let answer = await api.call("GET", "/v1/orders/a?fields=total,total,created_at&labels=true&include=messages")
        #expect(answer.json.members.map(\.key) == ["id", "total", "created_at", "_sync", "_labels", "_include"])
        #expect(answer.json["total"]?.text == "129.90" && answer.json["_labels"] == .object([:]))
        let list = await api.call("GET", "/v1/orders?fields=total,total,created_at&id=a").json
        #expect(list["data"]?.elements.first?.members.map(\.key) == ["id", "total", "created_at", "_sync"])
        let missing = await api.call("GET", "/v1/orders/b?fields=total").json
        #expect(missing["total"] == .null)
    }

    @Test("its tag is that of the whole record, so that a write can name it")
    func tag() async throws {
        let api = try await TestAPI.filled()
        let tag = try #require(await api.call("GET", "/v1/orders/a?fields=total").header("ETag"))
        #expect(await api.call("GET", "/v1/orders/a").header("ETag") == tag)
        let change = await api.call("PATCH", "/v1/orders/a", body: #"{"status":"open"}"#, headers: ["If-Match": tag])
        #expect(change.status == 200)
    }

    @Test("a field that cannot be shown is refused, with all other mistakes of the query")
    func refused() async throws {
        let answer = try await TestAPI.filled().call("GET", "/v1/orders/a?fields=colour,total,size&labels=1&foo=2")
        #expect(answer.status == 400)
        let fields = answer.json["errors"]?.elements.map { $0["field"]?.string }
        #expect(fields == ["foo", "labels", "fields", "fields"])
        #expect(answer.json["detail"]?.string?.contains("cannot show a field colour") == true)
    }

    @Test("a list shows any number of fields, in their order and as the upstream wrote them")
    func many() async throws {
        let names = (1...200).map { "field_\($0)" }
        let api = try TestAPI(field: names.map { "\($0): { type: string }" }.joined(separator: "\n      "))
        let values = names.enumerated().map { index, name in
            (key: name, value: index % 3 == 0 ? JSONText.null : .string("«\(index)» \"\\\u{1}"))
        }
        var members: [(key: String, value: JSONText)] = [("id", "a"), ("total", try JSONText(parsing: "1.50"))]
        members += values.filter { $0.value != .null }
        let text = JSONText.object(members: members).text
        _ = try await api.store.apply(PulledPage(entity: "orders", records: "[\(text)]"), at: TestAPI.now)
        for count in [62, 63, 64, 126, 127, 200] {
            let fields = ["total"] + names.prefix(count)
            let list = await api.call("GET", "/v1/orders?fields=\(fields.joined(separator: ","))")
            let shown = list.json["data"]?.elements.first
            #expect(shown?.members.map(\.key) == ["id"] + fields + ["_sync"], "\(count): \(list.text.prefix(200))")
            #expect(shown?["total"]?.text == "1.50")
            #expect(values.prefix(count).allSatisfy { shown?[$0.key] == $0.value }, "\(count)")
        }
        let csv = await api.call(
            "GET", "/v1/orders?fields=\(names.joined(separator: ","))", headers: ["Accept": "text/csv"])
        #expect(csv.status == 200)
        let one = await api.call("GET", "/v1/orders/a?fields=\(names.joined(separator: ","))").json
        #expect(one.members.count == 202)
    }
}
