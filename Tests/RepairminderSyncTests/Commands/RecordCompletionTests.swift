import JSONText
import Testing

@testable import repairminder_sync

@Suite("Completion of records")
struct RecordCompletionTests {
    @Test("fields are offered with =, and the values of an enum after it")
    func offers() throws {
        let shape = EntityShape(
            try JSONText(
                parsing: #"{"fields":[{"name":"id"},{"name":"status","values":[{"value":"open"},{"value":"ready"}]}]}"#)
        )
        #expect(RecordCompletion.offers(shape, "") { _ in true } == ["id=", "status="])
        #expect(RecordCompletion.offers(shape, "") { $0 != "id" } == ["status="])
        #expect(RecordCompletion.offers(shape, "status=re") { _ in true } == ["status=open", "status=ready"])
    }

    @Test("the entity is the word after the command, whatever flags come before it")
    func entity() {
        #expect(RecordCompletion.entity(in: ["repairminder-sync", "get", "orders", "1"]) == "orders")
        let words = ["repairminder-sync", "list", "--config", "c.yaml", "--wide", "--sort", "id", "orders", "sta"]
        #expect(RecordCompletion.entity(in: words) == "orders")
        #expect(RecordCompletion.connectionWords(words) == ["--config", "c.yaml"])
        #expect(RecordCompletion.entity(in: ["repairminder-sync", "list"]) == nil)
    }
}
