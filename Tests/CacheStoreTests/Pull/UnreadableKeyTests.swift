import EntitySchema
import JSONText
import Testing

@testable import CacheStore

@Suite("Keys of records that are set aside")
struct UnreadableKeyTests {
    @Test("a key is found beside too many combining marks or what is no JSON, and is none if it has that itself")
    func marks() throws {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: http://localhost }
                entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
                """, file: "s.yaml")
        let marks = "e" + String(repeating: "\u{315}", count: 129)
        let texts = [
            #"{"id":"k7","note":"\#(marks)","n":NaN}"#, "{\"id\":\"k8\",\"note\":\"a\u{1}\u{FFFD}\\x\"}",
            #"{"id":"\#(marks)"}"#, "{\"id\":\"a\u{1}\"}", "{\"id\":\"caf\u{FFFD}\"}", #"{"id":NaN}"#,
        ]
        let page = IncomingPage(JSONText.array(texts.map { .string($0) }), of: try #require(schema["notes"]))
        #expect(page.records.allSatisfy { $0.key == nil })
        #expect(page.records.map(\.unreadableKey) == ["k7", "k8", nil, nil, nil, nil])
    }
}
