import EntitySchema
import JSONText
import Testing

@testable import CacheStore

@Suite("Keys of records that are set aside")
struct UnreadableKeyTests {
    @Test("a key is found beside too many combining marks, and is none if it has them itself")
    func marks() throws {
        let schema = try EntitySchema(
            yaml: """
                schema: s
                upstream: { base_url: http://localhost }
                entities: { notes: { fields: { id: { type: string } }, pull: { path: /notes } } }
                """, file: "s.yaml")
        let marks = "e" + String(repeating: "\u{315}", count: 129)
        let texts = [#"{"id":"k7","note":"\#(marks)","n":NaN}"#, #"{"id":"\#(marks)"}"#]
        let page = IncomingPage(JSONText.array(texts.map { .string($0) }), of: try #require(schema["notes"]))
        #expect(page.records.allSatisfy { $0.key == nil })
        #expect(page.records.map(\.unreadableKey) == ["k7", nil])
    }
}
