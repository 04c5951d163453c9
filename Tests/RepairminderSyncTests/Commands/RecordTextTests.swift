import JSONText
import Testing

@testable import repairminder_sync

@Suite("A record as YAML to edit")
struct RecordTextTests {
    private let text: RecordText
    private let record: JSONText

    init() throws {
        let shape = try JSONText(
            parsing: #"""
                {"key":"id","update":["status","notes","total","tags","pin"],"fields":[
                {"name":"id","type":"string"},{"name":"status","type":"enum","values":[{"value":"open"},{"value":"ready"}]},
                {"name":"notes","type":"string"},{"name":"total","type":"money"},{"name":"tags","type":"list"},
                {"name":"pin","type":"string","secret":true},{"name":"made","type":"time"}]}
                """#)
        text = RecordText(shape: EntityShape(shape))
        record = try JSONText(
            parsing: #"{"id":"a1","status":"open","notes":"one\ntwo: 2","total":129.90,"tags":["x","1"],"made":"2026"}"#
        )
    }

    @Test("only fields that can be changed are shown, with the values of an enum")
    func shown() {
        #expect(
            text.text(of: record) == """
                # Change values, save and close. Only what differs is sent; an empty file sends nothing.
                # id: a1
                # one of open, ready
                status: open
                notes: |-
                  one
                  two: 2
                total: 129.90
                tags: ["x","1"]
                # pin: secret; write a line for it to change it

                """)
    }

    @Test(
        "no value is shown so that an editor takes it for settings",
        arguments: [
            "see vim:set fdm=expr", "one\nvim: set fde=system():\ntwo", "/* vi:noai */", "x ex:foo",
            "a vim>702: set x :",
            "# Local Variables:\n# eval: (x)\n# End:", "vim:\u{301}set x", "Vim: x",
        ])
    func modelines(value: String) throws {
        let other = record.setting("notes", to: .string(value)).setting("id", to: .string(value))
            .setting("tags", to: .array([.string(value)]))
        let shown = text.text(of: other)
        for sign in ["vi:", "vim:", "vim>702:", "ex:", "variables:"] {
            #expect(!shown.lowercased().utf8.contains(sign.utf8), "\(shown)")
        }
        #expect(try text.changes(in: shown, from: other).isEmpty)
        let read = try text.changes(in: shown, from: .object(["id": "a1"])).first { $0.key == "notes" }?.value
        #expect(read?.string == value)
    }

    @Test(
        "the name of a field, which a compromised daemon chooses, is one key on one line",
        arguments: ["a\nb", "vim", "# vim:set x", "a: b", "\u{1B}]0;x", "yes"])
    func names(name: String) throws {
        let field = JSONText.object(["name": .string(name), "type": "string"])
        let hidden = JSONText.object(["name": .string(name + "2"), "type": "string", "secret": true])
        let shape = JSONText.object([
            "key": .string(name), "update": .array([.string(name), .string(name + "2")]),
            "fields": .array([field, hidden]),
        ])
        let text = RecordText(shape: EntityShape(shape))
        let record = JSONText.object(members: [(key: name, value: "set x")])
        let shown = text.text(of: record)
        #expect(shown.split(separator: "\n").count == 4, "\(shown)")
        #expect(!shown.utf8.contains("vim:".utf8) && !shown.utf8.contains(0x1B), "\(shown)")
        #expect(try text.changes(in: shown, from: .object([:])).map(\.key) == [name])
    }

    @Test("what was not changed is read back as no change, whatever the values are")
    func unchanged() throws {
        #expect(try text.changes(in: text.text(of: record), from: record).isEmpty)
        for value in [
            "", " a", "a ", "null", "yes", "1.50", "a: b", "a #b", "- a", "'q'", "\"", "tab\there", "#x", "{}",
            "a\n\nb",
        ] {
            let other = record.setting("notes", to: .string(value))
            #expect(try text.changes(in: text.text(of: other), from: other).isEmpty, "\(value)")
        }
        let empty = JSONText.object(["id": "a1"])
        #expect(try text.changes(in: text.text(of: empty), from: empty).isEmpty)
        #expect(try text.changes(in: "", from: record).isEmpty)
        #expect(try text.changes(in: "# nothing\n", from: record).isEmpty)
    }

    @Test(
        "a value that JSON can write and YAML 1.1 reads otherwise is shown as it is, and not sent unless it is changed",
        arguments: [
            #""\ud83d\udcf1 phone""#, "\"1a\u{85}b\"", "\"1a\u{2028}b\"", "\"1a\u{7f}b\"", "\"1\u{feff}x\"",
            "\"1\u{9b}x\"",
            #""1\/2""#, "\"a\u{85}b\"", "\"1\u{ffff}\"", "\"1\u{10ffff}\"", #""1\u0000b""#, #""a\n\u0085\nb""#,
            #""a\n  b\n---\nc""#,
            #""a\r\nb""#, "\"a\u{202e}b\"", #""a\n\n#! b\n""#, "\"a\u{feff}\\nb\"", "\"a\u{ffff}\\nb\"",
        ])
    func odd(json: String) throws {
        let value = try JSONText(parsing: json)
        for (field, value) in [
            ("notes", value), ("tags", .array([value])), ("tags", .object([value.string ?? "": value])),
        ] {
            let other = record.setting(field, to: value).setting("id", to: value)
            let shown = text.text(of: other)
            #expect(try text.changes(in: shown, from: other).isEmpty, "\(shown)")
            #expect(!shown.unicodeScalars.contains { $0 != "\n" && TerminalText.isUnsafe($0) })
            let changed = shown.replacing("status: open", with: "status: ready")
            #expect(try text.changes(in: changed, from: other).map(\.key) == ["status"])
            let read = try text.changes(in: shown, from: .object(["id": "a1"])).first { $0.key == field }?.value
            #expect(read?.isEquivalent(to: value) == true, "\(shown)")
        }
    }

    @Test("a value that cannot be text is not sent because another field is changed")
    func loneSurrogate() throws {
        let other = record.setting("notes", to: try JSONText(parsing: #""1\ud83d""#))
        let changed = text.text(of: other).replacing("status: open", with: "status: ready")
        #expect(try text.changes(in: changed, from: other).map(\.key) == ["status"])
    }

    @Test("changes have the types of their fields, numbers exactly as they were written")
    func changed() throws {
        let yaml = "status: ready\nnotes: 12\ntotal: 7.10\ntags: [a, 2, true]\npin: 0042\n"
        let changes = JSONText.object(members: try text.changes(in: yaml, from: record))
        #expect(changes.text == #"{"status":"ready","notes":"12","total":7.10,"tags":["a",2,true],"pin":"0042"}"#)
        #expect(try text.changes(in: "notes:\n", from: record).map(\.value) == [.null])
    }

    @Test("a field that does not exist or cannot be changed is a mistake, and so is what is not YAML")
    func mistakes() {
        let error = #expect(throws: RecordTextError.self) {
            _ = try text.changes(in: "colour: red\nmade: 2027\n", from: record)
        }
        #expect(
            error?.messages.first?.hasPrefix("there is no field colour; the fields that can be changed are status")
                == true)
        #expect(error?.messages.last == "made cannot be changed")
        #expect(throws: RecordTextError.self) { _ = try text.changes(in: "a: [", from: record) }
        #expect(throws: RecordTextError.self) { _ = try text.changes(in: "just text", from: record) }
    }

    @Test("messages of an earlier attempt are left out of the file again")
    func messages() {
        #expect(EditCommand.withoutMessages("#! no\n# a comment\nstatus: open\n") == "# a comment\nstatus: open\n")
    }
}
