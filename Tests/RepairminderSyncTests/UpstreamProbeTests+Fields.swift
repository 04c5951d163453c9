import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import repairminder_sync

/// What the probe says about fields.
extension UpstreamProbeTests {
    @Test("a change time that no record has yet is no mistake of its name")
    func changeTimeIsNull() async throws {
        let note = #"{"id":"a","text":"x","price":1.50,"updated_at":null}"#
        let found = try await Self.findings(
            "{ path: /notes, since: { param: seit, field: updated_at } }", ["/notes": Self.json("[\(note)]")])
        #expect(Self.says(.warning, "updated_at, the change time, is null", in: found), "\(found.map(\.text))")
        #expect(!found.contains { $0.advice?.contains("set it to updated_at") == true })
    }

    @Test("fields that are elsewhere, of another type or not known are named")
    func fields() async throws {
        let note = #"{"id":"a","text":7,"sums":{"price":"1.50"},"updated_at":"2026-01-01T00:00:00Z","colour":"red"}"#
        let site = ["/notes": Self.json("[\(note)]"), "/notes/a": Self.json(note)]
        let found = try await Self.findings("{ path: /notes }", site)
        #expect(Self.says(.warning, "price: no record", advising: "set from: sums.price", in: found))
        #expect(Self.says(.warning, "text: 1 of 1 records have integer", in: found))
        #expect(Self.says(.ok, "colour", in: found))
    }

    @Test("a field whose object is null is there")
    func objectIsNull() async throws {
        let found = try await Self.findings(
            "{ path: /notes, record: none }", price: "{ type: string, from: brand.id }",
            ["/notes": Self.json(#"[{"id":"a","brand":null,"maker":{"id":"m"}}]"#)])
        #expect(!found.isEmpty && !found.contains { $0.message.hasPrefix("price") }, "\(found.map(\.text))")
    }

    @Test("no place is advised for a field if another field has its value from there")
    func placesOfOthers() async throws {
        let found = try await Self.findings(
            "{ path: /notes, record: none }", price: "{ type: string, from: brand.id }",
            ["/notes": Self.json(#"[{"id":"a","text":"x"}]"#)])
        #expect(
            Self.says(.warning, "price: no record", advising: "nothing if it may be absent", in: found),
            "\(found.map(\.text))")
    }

    @Test("no other place is advised for a field inside a list that is null")
    func listIsNull() async throws {
        let found = try await Self.findings(
            "{ path: /notes, record: none }", price: "{ type: string, from: brands.0.id }",
            ["/notes": Self.json(#"[{"id":"a","brands":null,"maker":{"id":"m"}}]"#)])
        #expect(!found.contains { $0.advice?.contains("maker") == true }, "\(found.map(\.text))")
        #expect(Self.says(.warning, "price: no record", in: found), "\(found.map(\.text))")
    }

    @Test("a field inside a list is absent only if no record has it there", arguments: ["tags", "words"])
    func fieldsInLists(_ place: String) async throws {
        let note = #"{"id":"a","text":"x","tags":["red"],"updated_at":"2026-01-01T00:00:00Z"}"#
        let site = ["/notes": Self.json("[\(note)]"), "/notes/a": Self.json(note)]
        let found = try await Self.findings("{ path: /notes }", price: "{ type: string, from: \(place).0 }", site)
        #expect(Self.says(.warning, "price: no record", in: found) == (place == "words"))
    }

    @Test("a field that is empty in some records needs no other type, also if its values are in quotes")
    func blanks() async throws {
        let notes = #"[{"id":"a","price":""},{"id":"b","price":"1.50"}]"#
        let found = try await Self.findings(
            "{ path: /notes, record: none }", price: "{ type: money, wire: string }", ["/notes": Self.json(notes)])
        let words = "price: 1 of 2 records have \"\""
        #expect(Self.says(.warning, words, advising: "it is served as it came", in: found), "\(found.map(\.text))")
        let bare = try await Self.findings(
            "{ path: /notes, record: none }", ["/notes": Self.json(notes.replacing("\"\"", with: "\"2.50\""))])
        #expect(Self.says(.warning, "2 of 2 records have string", advising: "set wire: string", in: bare))
    }

    @Test("a field that is false in some records needs no other type, as Odoo writes null")
    func falseForNothing() async throws {
        let notes = #"[{"id":"a","price":false},{"id":"b","price":1.50}]"#
        let found = try await Self.findings("{ path: /notes, record: none }", ["/notes": Self.json(notes)])
        let words = "price: 1 of 2 records have false"
        #expect(Self.says(.warning, words, advising: "it is served as it came", in: found), "\(found.map(\.text))")
        let mixed = notes.replacing("1.50", with: "true")
        let wrong = try await Self.findings("{ path: /notes, record: none }", ["/notes": Self.json(mixed)])
        #expect(Self.says(.warning, "2 of 2 records have boolean", advising: "correct type", in: wrong))
    }

    @Test("a field that the upstream never shows is not missed")
    func writeOnly() async throws {
        let notes = #"[{"id":"a","text":"x","updated_at":"2026-01-01T00:00:00Z"}]"#
        let found = try await Self.findings(
            "{ path: /notes, record: none }", price: "{ type: money, write_only: true }", ["/notes": Self.json(notes)])
        #expect(!Self.says(.warning, "price", in: found), "\(found.map(\.text))")
    }

    @Test("a field that only single records show is not missed where each is read", arguments: [true, false])
    func onlyInSingle(isRead: Bool) async throws {
        let listed = #"{"id":"a","text":"x","updated_at":"2026-01-01T00:00:00Z"}"#
        let single = Self.note.replacing("}", with: #","lines":[]}"#)
        let site = ["/notes": Self.json("[\(listed)]"), "/notes/a": Self.json(single)]
        let detail = isRead ? ", detail: { read: single, when_changed: any, into: { lines: lines } }" : ""
        let pull = "{ path: /notes, record: { path: \"/notes/{id}\" }\(detail) }"
        let found = try await Self.findings(pull, lines: isRead, site)
        #expect(Self.says(.warning, "price: no record", in: found) == !isRead, "\(found.map(\.text))")
    }

    @Test("a field is elsewhere in the single record only where that has the list's value", arguments: ["1.50", "7"])
    func moved(price: String) async throws {
        let single = #"{"id":"a","text":"x","sums":{"price":\#(price)},"updated_at":"2026-01-01T00:00:00Z"}"#
        let site = ["/notes": Self.json("[\(Self.note)]"), "/notes/a": Self.json(single)]
        let found = try await Self.findings("{ path: /notes, record: { path: \"/notes/{id}\" } }", site)
        let isMoved = Self.says(.warning, "price: the single record has it at sums.price", in: found)
        #expect(isMoved == (price == "1.50"), "\(found.map(\.text))")
    }

    @Test("what a stranger wrote moves no cursor and sets no title of a terminal")
    func controls() async throws {
        let note = #"{"id":"a","text":"x","price":1,"updated_at":"2026-01-01T00:00:00Z","\u001b]0;owned\u0007":1}"#
        let found = try await Self.findings(
            "{ path: /notes }", ["/notes": Self.json("[\(note)]"), "/notes/a": Self.json(note)])
        let text = found.map(\.text).joined()
        #expect(text.contains("owned"))
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F || $0 == "\n" })
    }
}
