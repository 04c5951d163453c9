import ArgumentParser
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

    @Test(
        "a name that a shell could expand, or read as several words or a flag, is not offered",
        arguments: ["$(id)", "`id`", "$HOME", "a;id", "a b", "a\nb", "a'b", "a\"b", "a\\b", "a*", "~", "#a", "-rf", ""])
    func unsafe(name: String) throws {
        let shape = EntityShape(
            try JSONText(
                parsing: #"{"key":"id","fields":[{"name":"id"},{"name":"name","natural":true}]}"#))
        let records = [name, "Ada", "ö-1.2@3+4:5_6"].map { JSONText.object(["id": .string($0), "name": .string($0)]) }
        #expect(RecordCompletion.names(of: records, shape).filter { $0 == name } == [])
        #expect(RecordCompletion.names(of: records, shape).contains("ö-1.2@3+4:5_6"))
    }

    @Test("a value of an enum that a shell could expand is not offered")
    func unsafeValues() throws {
        let field = #"{"name":"status","values":[{"value":"$(id)"},{"value":"in progress"},{"value":"open"}]}"#
        let shape = EntityShape(try JSONText(parsing: #"{"fields":[\#(field)]}"#))
        #expect(RecordCompletion.offers(shape, "status=") { _ in true } == ["status=open"])
    }

    @Test("zsh gets the colons of a word so that it reads no description after them")
    func colons() {
        #expect(RecordCompletion.offered(["a:b:1", "c"], to: .zsh) == [#"a\:b\:1"#, "c"])
        #expect(RecordCompletion.offered(["a:b"], to: .bash) == ["a:b"])
        #expect(RecordCompletion.offered(["a:b"], to: .fish) == ["a:b"])
        #expect(RecordCompletion.offered(["a:b"]) == ["a:b"])
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
